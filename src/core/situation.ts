import { Deadlines } from './deadlines.ts';
import {
  canAcknowledge,
  classify,
  crashLoop,
  type Evidence,
  impairedLimitSeconds,
  isPassedOver,
  isSettled,
  type MemberState,
  provenForSeconds,
} from './member.ts';
import { budgetOf, type RolloutPolicy } from './policy.ts';
import type { Wait } from './sentences.ts';
import type { ClusterSnapshot, MemberFacts } from './snapshot.ts';
import type { Target } from './step.ts';

// Everything that follows from a snapshot before any rule is evaluated: members, their order, and which of them are
// due.

export interface Member {
  readonly facts: MemberFacts;
  readonly ordinal: number;
  readonly state: MemberState;
  readonly evidence: Evidence | null;
  readonly primary: boolean;
  readonly settled: boolean;
  /** Whether the member participates. An impaired member may participate too. */
  readonly participates: boolean;
  readonly canAcknowledge: boolean;
  readonly crashLoop: Evidence | null;
  readonly updated: boolean;
  readonly pinned: boolean;
  /** Stale, not terminating, and neither below the partition nor pinned. */
  readonly due: boolean;
  /**
   * What an updated member still needs before the next member may be replaced. `null` if nothing is missing, and for
   * stale members.
   */
  readonly unsettled: Wait | null;
}

/**
 * Far more members than any MySQL cluster has. A tenant may set any number of replicas. This limit bounds the loops
 * over members and the reads of a confirmation, which share a rate limit with other clusters.
 */
export const mostReplicas = 25;

export const isPossibleSize = (replicas: number): boolean =>
  Number.isInteger(replicas) && replicas >= 1 && replicas <= mostReplicas;

/** Other pods with MOCO's labels are left alone, whatever their names. */
const isMember = ({ ofStatefulSet, ordinal }: MemberFacts, replicas: number): boolean =>
  ofStatefulSet && ordinal < replicas;

export interface Situation {
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly deadlines: Deadlines;
  /** The members in ascending order of their ordinals. */
  readonly members: readonly Member[];
  readonly missing: readonly number[];
  readonly primary: Member | null;
  readonly replicas: number;
  /** How many members have to participate for a quorum: ⌊replicas/2⌋ + 1. */
  readonly majority: number;
  readonly participating: number;
  readonly budget: number;
  /** Empty if there is no StatefulSet, or if the StatefulSet's status has no current revision yet. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** Rules that the user has overridden for now, by name. Only rules that can be overridden count (`gates.ts`). */
  readonly overridden: ReadonlySet<string>;
}

export function survey(snapshot: ClusterSnapshot, policy: RolloutPolicy): Situation {
  const deadlines = new Deadlines();
  const { cluster, statefulSet } = snapshot;
  const members = snapshot.members
    .filter((facts) => isMember(facts, cluster.replicas))
    .map((facts) => view(facts, snapshot, policy, deadlines));
  const present = new Set(members.map((member) => member.ordinal));
  const size = isPossibleSize(cluster.replicas) ? cluster.replicas : 0;
  awaitEndOfPause(policy, deadlines);
  return {
    snapshot,
    policy,
    deadlines,
    members,
    missing: Array.from({ length: size }, (_, ordinal) => ordinal).filter((ordinal) => !present.has(ordinal)),
    primary: members.find((member) => member.primary) ?? null,
    replicas: cluster.replicas,
    majority: Math.floor(cluster.replicas / 2) + 1,
    participating: members.filter((member) => member.participates).length,
    budget: budgetOf(policy.maxUnavailable, cluster.replicas, policy.partition),
    currentRevision: statefulSet?.currentRevision ?? '',
    updateRevision: statefulSet?.updateRevision ?? '',
    overridden: overriddenNow(policy, deadlines),
  };
}

/** The end of a pause changes the settings, so the decision is made again at that time. */
function awaitEndOfPause({ pause }: RolloutPolicy, deadlines: Deadlines): void {
  if (pause?.remainingSeconds !== undefined) deadlines.reached(0, pause.remainingSeconds);
}

export function overriddenNow(
  { overrides }: Pick<RolloutPolicy, 'overrides'>,
  deadlines: Deadlines,
): ReadonlySet<string> {
  const now = overrides.filter(
    ({ remainingSeconds, startsInSeconds = 0 }) =>
      deadlines.reached(0, startsInSeconds) && !deadlines.reached(0, remainingSeconds),
  );
  return new Set(now.map(({ rule }) => rule));
}

function view(
  facts: MemberFacts,
  { cluster, statefulSet }: ClusterSnapshot,
  policy: RolloutPolicy,
  deadlines: Deadlines,
): Member {
  const { ordinal } = facts;
  const errant = cluster.errantOrdinals.includes(ordinal);
  const { state, evidence } = classify(facts, errant, deadlines, cluster);
  const updated = facts.revision === statefulSet?.updateRevision;
  const crashLooping = crashLoop(facts);
  const pinned = policy.pinnedOrdinals.includes(ordinal);
  const seen: JudgedMember = {
    facts,
    ordinal,
    state,
    evidence,
    primary: ordinal === cluster.primaryIndex,
    settled:
      isSettled(facts, cluster.primaryIndex) || isPassedOver(facts, cluster, policy.failoverGraceSeconds, deadlines),
    participates: state === 'participating' || state === 'impaired',
    canAcknowledge: canAcknowledge(facts, state, updated, errant, crashLooping !== null),
    crashLoop: crashLooping,
    updated,
    pinned,
    due: !updated && state !== 'terminating' && ordinal >= policy.partition && !pinned,
  };
  return { ...seen, unsettled: updated ? unsettledWait(seen, policy.minReadySeconds, deadlines) : null };
}

type JudgedMember = Omit<Member, 'unsettled'>;

function unsettledWait(seen: JudgedMember, minReadySeconds: number, deadlines: Deadlines): Wait | null {
  const { facts, state, evidence, crashLoop: looping, settled } = seen;
  if (state !== 'participating') return { for: 'state', state, evidence: evidence ?? looping };
  const { awaited = [] } = facts.restartInPlace ?? {};
  if (awaited.length > 0) return { for: 'containers', containers: awaited };
  if (!settled) return { for: 'role' };
  const unready = facts.containers.filter(({ part, ready }) => part !== 'mysqld' && !ready).map(({ name }) => name);
  // If a sidecar is not ready for longer than this, its member is impaired. Shorter failures are ignored.
  if (unready.length > 0 && !deadlines.reached(facts.participatingForSeconds ?? 0, impairedLimitSeconds)) {
    return { for: 'sidecars', containers: unready };
  }
  const seconds = provenForSeconds(facts);
  // `seconds` is never `null` while the member participates. If a snapshot contains `null` anyway, the rollout waits.
  return seconds !== null && deadlines.reached(seconds, minReadySeconds)
    ? null
    : { for: 'minReadySeconds', minReadySeconds };
}

export function target({ facts }: Member): Target {
  return { ordinal: facts.ordinal, name: facts.name, uid: facts.uid, resourceVersion: facts.resourceVersion };
}

export const dueMembers = (situation: Situation): readonly Member[] => situation.members.filter((member) => member.due);

/** Pinned members that would be older than the primary once the primary has the update revision. */
export const pinnedBehind = ({ members, policy }: Situation): readonly Member[] =>
  members.filter(({ pinned, updated, ordinal }) => pinned && !updated && ordinal >= policy.partition);

export const descending = (members: readonly Member[]): readonly Member[] =>
  members.toSorted((a, b) => b.ordinal - a.ordinal);

export function everyOtherParticipates(situation: Situation, member: Member): boolean {
  return situation.participating - (member.participates ? 1 : 0) >= situation.replicas - 1;
}

/**
 * The members that have to keep serving while `taken` is replaced. Empty if no member of `taken` may serve: each is
 * down, or is a primary that does not participate, so writes have already stopped.
 */
export const reliedOn = ({ members }: Pick<Situation, 'members'>, taken: readonly Member[]): readonly Member[] =>
  taken.some(mayServe) ? members.filter((member) => member.participates && !taken.includes(member)) : [];

/**
 * A replica that does not participate may still acknowledge commits, and a failover may need it, as long as its mysqld
 * may run.
 */
const mayServe = ({ participates, primary, state }: Member): boolean =>
  participates || (!primary && (state === 'running' || state === 'unreachable'));

/** A person has approved updating the primary to exactly this revision. */
export const isApproved = ({ policy, updateRevision }: Situation): boolean =>
  namesRevision(policy.approvedRevision, updateRevision);

/** Whether the text is the full name of the revision, or only its hash, as the command line shows it. */
function namesRevision(approved: string | null, revision: string): boolean {
  return revision !== '' && (approved === revision || approved === revision.slice(revision.lastIndexOf('-') + 1));
}

/** The members that a person wants back at their previous revision, for this update revision only. */
export const toRestore = ({ policy: { restore }, updateRevision }: Situation): readonly number[] =>
  restore !== null && namesRevision(restore.revision, updateRevision) ? restore.ordinals : [];

/** The approved revision, if it is not a revision of this cluster. Usually it is a typo. */
export function unknownApproval({ policy, currentRevision, members }: Situation): string | null {
  const { approvedRevision: approved } = policy;
  const known = [currentRevision, ...members.map(({ facts }) => facts.revision)];
  return known.some((revision) => namesRevision(approved, revision)) ? null : approved;
}
