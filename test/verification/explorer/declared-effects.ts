import type { Decision, Step } from '../../../src/core/decision.ts';
import type { RolloutPolicy } from '../../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import type { Effect, EffectKind } from './observed-effects.ts';

/** What the decision says that its step does. The explorer looks whether the step does anything else. */
export type Declare = (snapshot: ClusterSnapshot, policy: RolloutPolicy, decision: Decision) => readonly Effect[];

const all: readonly EffectKind[] = ['stops', 'leavesService', 'losesRelayLog', 'movesPrimary', 'brings'];

/** The most that a step of that kind may do to each of its members. */
export const declaredByKind: Readonly<Record<Step['kind'], readonly EffectKind[]>> = {
  none: [],
  delete: all,
  evict: all,
  updateInPlace: ['leavesService', 'brings'],
  resizeInPlace: ['brings'],
  demote: ['leavesService', 'movesPrimary'],
  undemote: [],
  setStrategy: [],
  release: [],
  setPartition: all,
  promoteRevision: [],
};

export const declared: Declare = (_snapshot, _policy, { step }) => effectsOf(step, declaredByKind[step.kind]);

export function effectsOf(step: Step, kinds: readonly EffectKind[]): readonly Effect[] {
  const members = 'targets' in step ? step.targets.map(({ ordinal }) => ordinal) : [];
  return members.flatMap((member) => kinds.map((kind) => ({ kind, member })));
}
