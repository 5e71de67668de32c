import { budgetOf } from './budget.ts';
import { Deadlines } from './deadlines.ts';
import type { Hold, HoldRule, Step, Target, Wait } from './decision.ts';
import {
  canAcknowledge,
  classify,
  crashLoop,
  type Evidence,
  isPassedOver,
  isSettled,
  type MemberState,
} from './member.ts';
import { overriddenRules } from './overrides.ts';
import type { RolloutPolicy } from './policy.ts';
import type { ClusterSnapshot, MemberFacts, StatefulSetFacts } from './snapshot.ts';

/** What a rule says when it applies: a step to take, or the reason why none is taken. `null` hands on to the next. */
export type Outcome = { readonly step: Step; readonly hold: null } | { readonly step: null; readonly hold: Hold };

export const take = (step: Step): Outcome => ({ step, hold: null });
export const wait = (hold: Hold): Outcome => ({ step: null, hold });

/** One pod as the rules see it. */
export interface Member {
  readonly facts: MemberFacts;
  readonly ordinal: number;
  readonly state: MemberState;
  readonly evidence: Evidence | null;
  readonly primary: boolean;
  readonly settled: boolean;
  /** Participating, impaired or not. */
  readonly participates: boolean;
  readonly canAcknowledge: boolean;
  readonly crashLoop: Evidence | null;
  readonly updated: boolean;
  /** The user wants it to keep its revision. */
  readonly held: boolean;
  /** Stale, not leaving, and neither below the partition nor held. */
  readonly due: boolean;
  /** What an updated member still owes before the next one may go; `null` when nothing, and for stale ones. */
  readonly owes: Wait | null;
}

/** Far more members than MySQL replicates to; what counts them one by one stays bounded whatever the facts say. */
const mostReplicas = 1000;

export const isPossibleSize = (replicas: number): boolean =>
  Number.isInteger(replicas) && replicas >= 1 && replicas <= mostReplicas;

/** The snapshot, surveyed once: every rule reads this. */
export interface Situation {
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly deadlines: Deadlines;
  /** Ascending by ordinal. */
  readonly members: readonly Member[];
  readonly missing: readonly number[];
  readonly primary: Member | null;
  readonly replicas: number;
  /** How many have to participate for a quorum: ⌊replicas/2⌋ + 1. */
  readonly majority: number;
  readonly participating: number;
  /** How many members may be away at once. */
  readonly budget: number;
  /** Rules that the user has switched off for now. */
  readonly overridden: ReadonlySet<HoldRule>;
}

export function survey(snapshot: ClusterSnapshot, policy: RolloutPolicy): Situation {
  const deadlines = new Deadlines();
  const { cluster, statefulSet } = snapshot;
  const members = snapshot.members.map((facts) => view(facts, snapshot, statefulSet, policy, deadlines));
  const present = new Set(members.map((member) => member.ordinal));
  const missing: number[] = [];
  const size = isPossibleSize(cluster.replicas) ? cluster.replicas : 0;
  for (let ordinal = 0; ordinal < size; ordinal++) if (!present.has(ordinal)) missing.push(ordinal);
  return {
    snapshot,
    policy,
    deadlines,
    members,
    missing,
    primary: members.find((member) => member.primary) ?? null,
    replicas: cluster.replicas,
    majority: Math.floor(cluster.replicas / 2) + 1,
    participating: members.filter((member) => member.participates).length,
    budget: budgetOf(policy.maxUnavailable, cluster.replicas, policy.partition),
    overridden: overriddenRules(policy, deadlines),
  };
}

function view(
  facts: MemberFacts,
  { cluster }: ClusterSnapshot,
  statefulSet: StatefulSetFacts | null,
  policy: RolloutPolicy,
  deadlines: Deadlines,
): Member {
  const errant = cluster.errantOrdinals.includes(facts.ordinal);
  const { state, evidence } = classify(facts, errant, deadlines, cluster);
  const updated = facts.revision === statefulSet?.updateRevision;
  const settled =
    isSettled(facts, cluster.primaryIndex) || isPassedOver(facts, cluster, policy.failoverGraceSeconds, deadlines);
  const participates = state === 'participating' || state === 'impaired';
  const crashLooping = crashLoop(facts);
  const held = policy.heldOrdinals.includes(facts.ordinal);
  return {
    facts,
    ordinal: facts.ordinal,
    state,
    evidence,
    primary: facts.ordinal === cluster.primaryIndex,
    settled,
    participates,
    canAcknowledge: canAcknowledge(facts, state, updated, errant, crashLooping !== null),
    crashLoop: crashLooping,
    updated,
    held,
    due: !updated && state !== 'leaving' && facts.ordinal >= policy.partition && !held,
    owes: updated
      ? owed(facts, state, evidence ?? crashLooping, participates, settled, policy.minReadySeconds, deadlines)
      : null,
  };
}

function owed(
  facts: MemberFacts,
  state: MemberState,
  evidence: Evidence | null,
  participates: boolean,
  settled: boolean,
  minReadySeconds: number,
  deadlines: Deadlines,
): Wait | null {
  if (!participates) return { for: 'state', state, evidence };
  if (!settled) return { for: 'role' };
  // Never null while it participates; a gatherer that says otherwise makes us wait, not go on.
  if (facts.participatingForSeconds === null) return { for: 'minReadySeconds', minReadySeconds };
  return deadlines.reached(facts.participatingForSeconds, minReadySeconds)
    ? null
    : { for: 'minReadySeconds', minReadySeconds };
}

export function target({ facts }: Member): Target {
  return { ordinal: facts.ordinal, name: facts.name, uid: facts.uid, resourceVersion: facts.resourceVersion };
}

export const dueMembers = (situation: Situation): readonly Member[] => situation.members.filter((member) => member.due);

export const descending = (members: readonly Member[]): readonly Member[] =>
  members.toSorted((a, b) => b.ordinal - a.ordinal);

/** Every member but this one exists and participates. */
export function everyOtherParticipates(situation: Situation, member: Member): boolean {
  return situation.participating - (member.participates ? 1 : 0) >= situation.replicas - 1;
}
