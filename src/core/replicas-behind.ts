import type { DelayReading, MemberReading, ReplicationDelay } from './on-demand-facts.ts';
import type { RolloutPolicy } from './policy.ts';
import type { Question } from './questions.ts';
import type { Asked } from './rules/rule.ts';
import { unavailableLimit, unavailableMembers } from './rules/unavailable.ts';
import type { Member, Situation } from './situation.ts';

// Whether replicas are too far behind for a step, from their agents and from MySQL itself.

/** Readings older than this do not count. So a step that waits for replicas has them asked again after this time. */
export const freshSeconds = 5;

export interface ReplicaBehind {
  readonly ordinal: number;
  /** `null` if the replica has not been asked recently. */
  readonly reading: DelayReading | AgainstReplica | null;
}

/**
 * An answer that counts against its replica. `silent` says why the replica has not answered since; `null` if it has.
 */
type AgainstReplica = Against & { readonly silent: string | null };
type Against =
  | { readonly kind: 'notReceived' | 'notApplied'; readonly transactions: number }
  /** The replica's receiver does not run, or has an error. `error` is MySQL's error number, or 0. */
  | { readonly kind: 'notReceiving'; readonly error: number }
  | { readonly kind: 'notAcknowledging' };

/** The replicas for which a step has to wait before it replaces `member`. */
export interface ReplicasBehind {
  readonly member: number;
  /**
   * Before a switchover: a replica with this delay or more is too far behind. `null` if the step replaces a replica.
   */
  readonly limitSeconds: number | null;
  readonly graceSeconds: number;
  readonly replicas: readonly ReplicaBehind[];
  /** How many other replicas acknowledge commits, if they would be too few without the member. Otherwise `null`. */
  readonly acknowledging: { readonly others: number; readonly needed: number } | null;
}

/**
 * In a switchover MOCO stops writes and waits up to 50 s until the replica with the lowest ordinal has applied every
 * transaction. If that fails, MOCO tries again (MOCO 0.36, clustering/status.go, DecideState, and
 * clustering/operations.go, switchover). A failover waits for the applier without a limit. Before MOCO allows writes
 * again, it runs STOP REPLICA on every other replica. That statement waits, also without a limit, for the transaction
 * that the replica is applying (configure). So every replica must have caught up.
 *
 * A Ready replica may not have received anything yet. Its delay only covers transactions that it has received, and
 * before it receives any, it acknowledges no commit. A commit that waits for an acknowledgement is not yet among the
 * transactions that the primary has executed. So a replica that has received all executed transactions may still
 * acknowledge nothing. If MySQL itself reports this, the replica counts as unavailable when another replica is
 * replaced.
 */
export function replicasBehind(asked: Asked): ReplicasBehind | null {
  const { situation, effects, members: taken } = asked;
  const { policy } = situation;
  const graceSeconds = situation.snapshot.mysql === null ? policy.replicaDelayGraceSeconds : silenceSeconds(policy);
  const replicas = situation.members.filter((one) => !one.primary && one.participates && !taken.includes(one));
  const primary = effects.find(({ kind }) => kind === 'movesPrimary')?.member;
  if (primary) {
    const behind = replicas.flatMap(
      (one) => behindByAgent(situation, one) ?? behindByMysql(situation, one, true) ?? [],
    );
    const { maxReplicaDelaySeconds: limitSeconds } = policy;
    if (behind.length === 0) return null;
    return { member: primary.ordinal, limitSeconds, graceSeconds, replicas: behind, acknowledging: null };
  }
  const [member] = taken.filter((one) => one.participates && !one.primary);
  if (member === undefined || situation.snapshot.mysql === null) return null;
  const acknowledging = tooFewAcknowledge(situation, member);
  const behind = replicas.flatMap((one) => behindByMysql(situation, one, false) ?? []);
  const away = new Set([...unavailableMembers(asked), ...behind.map(({ ordinal }) => ordinal)]);
  const isEnough = behind.length === 0 || away.size < unavailableLimit(asked);
  if (isEnough && acknowledging === null) return null;
  return { member: member.ordinal, limitSeconds: null, graceSeconds, replicas: behind, acknowledging };
}

/** The questions to ask if an answer is too old. MySQL itself has to answer even if the agent has answered. */
export function asksOfReplicas(
  { limitSeconds, replicas }: ReplicasBehind,
  { snapshot }: Situation,
): readonly Question[] {
  if (replicas.every(({ reading }) => reading !== null)) return [];
  return [
    ...(limitSeconds === null ? [] : [{ kind: 'delays' } as const]),
    ...(snapshot.mysql === null
      ? []
      : [{ kind: 'mysql', for: limitSeconds === null ? 'stop' : 'switchover' } as const]),
  ];
}

/**
 * Asks the members again after their answers have blocked a step for a while. Such answers stay valid longer than
 * others.
 */
export function asksForLasting({ snapshot: { mysql } }: Situation): readonly Question[] {
  if (mysql === null || (mysql.ageSeconds !== null && mysql.ageSeconds < lastingSeconds)) return [];
  return [{ kind: 'mysql', for: 'stop' }];
}

function behindByAgent(situation: Situation, { facts, ordinal }: Member): ReplicaBehind | null {
  const { snapshot, deadlines } = situation;
  const read = snapshot.replicationDelays.find(({ uid }) => uid === facts.uid);
  if (read === undefined || deadlines.reached(read.ageSeconds, freshSeconds)) return { ordinal, reading: null };
  return isBehind(situation, read) ? { ordinal, reading: read.reading } : null;
}

function isBehind({ policy, deadlines }: Situation, { reading, unknownForSeconds }: ReplicationDelay): boolean {
  switch (reading.kind) {
    case 'delay':
      return !(reading.seconds < policy.maxReplicaDelaySeconds);
    case 'notReplicating':
      return true;
    case 'unknown':
      return !deadlines.reached(unknownForSeconds, policy.replicaDelayGraceSeconds);
  }
}

/**
 * The facts against the replica in its last answer. The replica must have received every transaction that the primary
 * had committed when the primary was asked, and it must acknowledge commits. Before a switchover it must also have
 * applied those transactions. A fact against the replica counts until its next answer. If there is no answer, the step
 * waits for as long as it would for a delay that cannot be read, or for a silent member.
 */
function behindByMysql(situation: Situation, { facts, ordinal }: Member, applied: boolean): ReplicaBehind | null {
  const { snapshot, policy, deadlines } = situation;
  const { mysql } = snapshot;
  if (mysql === null || isPastAsking(situation, freshSeconds)) return null;
  const isFresh = mysql.ageSeconds !== null && !deadlines.reached(mysql.ageSeconds, freshSeconds);
  const answer = isFresh ? mysql.members.find(({ uid }) => uid === facts.uid) : undefined;
  if (answer === undefined || answer.said.kind === 'primary') return { ordinal, reading: null };
  const silence = silenceOf(situation, answer);
  const against = againstItself(answer.last, sourceOf(situation), applied);
  if (against !== null) return { ordinal, reading: { ...against, silent: silence?.message ?? null } };
  if (silence === null || deadlines.reached(silence.forSeconds, silenceSeconds(policy))) return null;
  return { ordinal, reading: { kind: 'unknown', message: silence.message } };
}

/**
 * Whether it has been impossible for a while to ask any member. A Secret that is being recreated is only away for a
 * moment. Also sets the deadline at which this becomes true.
 *
 * @param withinSeconds the maximum age of the reading that reports the problem
 */
export function isPastAsking({ snapshot: { mysql }, policy, deadlines }: Situation, withinSeconds: number): boolean {
  if (!mysql?.problem || mysql.ageSeconds === null || deadlines.reached(mysql.ageSeconds, withinSeconds)) return false;
  return deadlines.reached(mysql.problem.forSeconds, policy.replicaDelayGraceSeconds);
}

/**
 * How long to wait for an answer from mysqld. A member that does not answer may be gone, and its pod shows that only
 * later.
 */
export const silenceSeconds = ({ replicaDelayGraceSeconds, silentMemberGraceSeconds }: RolloutPolicy): number =>
  Math.max(replicaDelayGraceSeconds, silentMemberGraceSeconds);

interface Silence {
  readonly message: string;
  readonly forSeconds: number;
}

/** Why it is unknown which transactions the replica lacks: either the replica or the primary does not answer. */
function silenceOf(situation: Situation, { said, unknownForSeconds }: MemberReading): Silence | null {
  if (said.kind === 'unknown') return { message: said.message, forSeconds: unknownForSeconds };
  if (said.kind === 'primary' || said.missing !== null) return null;
  const source = readingOf(situation, situation.primary);
  const message = source?.said.kind === 'unknown' ? source.said.message : 'it was not asked';
  return { message: `the primary does not say: ${message}`, forSeconds: source?.unknownForSeconds ?? 0 };
}

type Last = MemberReading['last'] | undefined;

/**
 * The fact that counts against a replica in its newest answer; `null` if there is none. `source` is the primary's
 * answer. A backlog counts only before a switchover.
 */
export function againstItself(last: Last, source: Last, applied: boolean): Against | null {
  if (last?.kind !== 'replica') return null;
  const { receiver, missing, unapplied, semiSync } = last;
  if (!receiver.runs || receiver.error !== 0) return { kind: 'notReceiving', error: receiver.error };
  if (missing !== null && missing > 0) return { kind: 'notReceived', transactions: missing };
  if (!semiSync && source?.kind === 'primary' && source.needed > 0) return { kind: 'notAcknowledging' };
  return applied && unapplied > 0 ? { kind: 'notApplied', transactions: unapplied } : null;
}

/** How many replicas would acknowledge commits without this one, if they are too few. `null` if they are enough. */
function tooFewAcknowledge(situation: Situation, member: Member): ReplicasBehind['acknowledging'] {
  if (isPastAsking(situation, freshSeconds)) return null;
  const source = sourceOf(situation);
  const last = readingOf(situation, member)?.last;
  if (source?.kind !== 'primary' || (last?.kind === 'replica' && !last.semiSync)) return null;
  const others = Math.max(0, source.acknowledging - 1);
  return others < source.needed ? { others, needed: source.needed } : null;
}

const sourceOf = (situation: Situation): Last => readingOf(situation, situation.primary)?.last;

const readingOf = ({ snapshot }: Situation, member: Member | null): MemberReading | undefined =>
  snapshot.mysql?.members.find(({ uid }) => uid === member?.facts.uid);

/**
 * Whether the replica, according to its last answer, does not acknowledge the primary's commits. That counts until its
 * next answer.
 */
export function isKnownToLack(situation: Situation, member: Member): boolean {
  const { mysql } = situation.snapshot;
  if (mysql === null || isPastAsking(situation, lastingSeconds)) return false;
  if (againstItself(readingOf(situation, member)?.last, sourceOf(situation), false) === null) return false;
  // The member is asked again once this deadline has passed.
  if (mysql.ageSeconds !== null) situation.deadlines.reached(mysql.ageSeconds, lastingSeconds);
  return true;
}

/**
 * How long an answer that blocks a step stays valid before the member is asked again. Other answers stay valid for a
 * shorter time.
 */
export const lastingSeconds = 30;
