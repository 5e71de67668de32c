import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { Decision, Hold } from '../../src/core/decision.ts';
import {
  type ContainerResources,
  type InPlaceChange,
  type InPlaceSettings,
  neverInPlace,
} from '../../src/core/in-place-changes.ts';
import type { Evidence, MemberState } from '../../src/core/member.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { markOfLeavingNode, type StepRule } from '../../src/core/step.ts';
import type { ClusterBuilder } from './cluster-builder.ts';
import { revisionAfter } from './member-builder.ts';

/** What a decision comes to, without what is there for people. */
export type Verdict = { readonly step: object } | { readonly hold: Hold } | 'idle';

export interface Case {
  readonly given: ClusterBuilder | ClusterSnapshot;
  readonly settings?: Partial<RolloutPolicy>;
  readonly decides: Verdict;
  /** Asserted where given. */
  readonly requeueAfterSeconds?: number | null;
}

/** From a sentence to facts and what has to be decided. */
export type Table = Readonly<Record<string, Case>>;

/** A line of a table; the last is when it is to be asked again. */
export const when = (
  given: Case['given'],
  decides: Verdict,
  settings: Partial<RolloutPolicy> = {},
  requeueAfterSeconds?: number | null,
): Case => ({ given, decides, settings, ...(requeueAfterSeconds !== undefined && { requeueAfterSeconds }) });

/** Settings by which running pods are changed. */
export const updatesInPlace = (mode: InPlaceSettings['mode'], more: Partial<InPlaceSettings> = {}) => ({
  inPlaceUpdates: { ...neverInPlace, mode, ...more },
});

export const deletes = (rule: StepRule, ...ordinals: readonly number[]): Verdict => ({
  step: { kind: 'delete', rule, ordinals },
});
export const evicts = (rule: StepRule, ordinal: number): Verdict => ({
  step: { kind: 'evict', rule, ordinals: [ordinal] },
});
export const updates = (rule: StepRule, ordinal: number, change: InPlaceChange): Verdict => ({
  step: { kind: 'updateInPlace', rule, ordinals: [ordinal], revision: revisionAfter, change },
});
export const resizes = (rule: StepRule, ordinal: number, ...resources: readonly ContainerResources[]): Verdict => ({
  step: { kind: 'resizeInPlace', rule, ordinals: [ordinal], revision: revisionAfter, resources },
});
export const demotes = (ordinal: number): Verdict => ({
  step: { kind: 'demote', rule: 'PrimaryLast', ordinals: [ordinal], mark: revisionAfter },
});
/** The primary leaves its node. */
export const movesOff = (ordinal: number): Verdict => ({
  step: { kind: 'demote', rule: 'NodeLeaving', ordinals: [ordinal], mark: markOfLeavingNode },
});
export const takesBack = (ordinal: number, reason: string): Verdict => ({
  step: { kind: 'undemote', ordinals: [ordinal], reason, demoted: reason !== 'MarkWithoutDemote' },
});
export const handsBack: Verdict = { step: { kind: 'release' } };
export const setsStrategy: Verdict = { step: { kind: 'setStrategy', newPods: 'UpdateRevision' } };
/** Partition mode: a lower partition, and the members that the StatefulSet takes then. */
export const lowers = (rule: StepRule, partition: number, ...ordinals: readonly number[]): Verdict => ({
  step: { kind: 'setPartition', rule, partition, ordinals },
});
export const promotes = (
  replicas: number,
  reason: 'start' | 'end' | 'release' | 'correction' = 'end',
  ...before: readonly number[]
): Verdict => ({ step: { kind: 'promoteRevision', revision: revisionAfter, replicas, for: reason, before } });
export const holds = (hold: Hold): Verdict => ({ hold });
/** For an updated member that does not participate yet. */
export const notYet = (ordinal: number, state: MemberState, evidence: Evidence | null = null): Verdict =>
  holds({ rule: 'UpdatedMemberNotParticipating', member: ordinal, wait: { for: 'state', state, evidence } });
/** For one that has not participated for so long yet. */
export const tooYoung = (ordinal: number, minReadySeconds: number): Verdict =>
  holds({ rule: 'UpdatedMemberNotParticipating', member: ordinal, wait: { for: 'minReadySeconds', minReadySeconds } });

export function decideCase({ given, settings }: Pick<Case, 'given' | 'settings'>): Decision {
  return decide('facts' in given ? given.facts() : given, { ...defaultPolicy, ...settings });
}

export function verdictOf({ step, hold }: Decision): Verdict {
  if (hold !== null) {
    expect(step, 'a hold comes without a step').to.deep.equal({ kind: 'none' });
    return { hold };
  }
  if (step.kind === 'none') return 'idle';
  if (step.kind === 'promoteRevision') {
    return { step: { ...step, before: step.before.map(({ ordinal }) => ordinal) } };
  }
  if (!('targets' in step)) return { step };
  const { targets, ...rest } = step;
  return { step: { ...rest, ordinals: targets.map(({ ordinal }) => ordinal) } };
}

export function check(one: Case): void {
  const decision = decideCase(one);
  expect(verdictOf(decision)).to.deep.equal(one.decides);
  if (one.requeueAfterSeconds !== undefined) {
    expect(decision.requeueAfterSeconds, 'requeueAfterSeconds').to.equal(one.requeueAfterSeconds);
  }
}

/** One test for each line. */
export function play(table: Table): void {
  for (const [sentence, one] of Object.entries(table)) it(sentence, () => check(one));
}
