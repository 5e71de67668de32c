import type { DelayReading, MemberReading, ReplicationDelay } from './on-demand-facts.ts';
import type { RolloutPolicy } from './policy.ts';
import type { Question } from './questions.ts';
import type { Asked } from './rules/rule.ts';
import { unavailableLimit, unavailableMembers } from './rules/unavailable.ts';
import type { Member, Situation } from './situation.ts';

// Whether replicas are too far behind for a step, from their agents and from MySQL itself.

/** Older readings do not count. So this also limits how often members are asked while a step waits for them. */
export const freshSeconds = 5;

export interface ReplicaBehind {
  readonly ordinal: number;
  /** `null` if the replica has not been asked recently. */
  readonly reading: DelayReading | AgainstReplica | null;
}

/** A replica's answer that counts against it. `silent` is why it has not answered since, or `null`. */
type AgainstReplica = Against & { readonly silent: string | null };
type Against =
  | { readonly kind: 'notReceived' | 'notApplied'; readonly transactions: number }
  /** Its receiver does not run, or has an error: MySQL's error number, or 0. */
  | { readonly kind: 'notReceiving'; readonly error: number }
  | { readonly kind: 'notAcknowledging' };

/** What a step that replaces `member` waits for. */
export interface ReplicasBehind {
  readonly member: number;
  /** From this delay on replicas are too far behind for a switchover. `null` if another replica is replaced. */
  readonly limitSeconds: number | null;
  readonly graceSeconds: number;
  readonly replicas: readonly ReplicaBehind[];
  /** How many replicas acknowledge commits without the member, if that is too few. Otherwise `null`. */
  readonly acknowledging: { readonly others: number; readonly needed: number } | null;
}

/**
 * In a switchover MOCO stops writes, waits up to 50 s until the replica with the lowest ordinal has applied every
 * transaction, and tries again if that fails (MOCO 0.36, clustering/status.go, DecideState, and
 * clustering/operations.go, switchover). A failover waits for the applier without a limit. Before MOCO allows writes
 * again, it runs STOP REPLICA on all the others, and that waits without a limit for the transaction that each of them
 * is applying (configure). So every replica has to have caught up.
 *
 * A Ready replica may not have received anything yet, and it acknowledges no commit before it has; its delay only
 * covers what it has received. A commit that waits for an acknowledgment does not appear among the transactions that
 * the primary has executed, so a replica that has received all of those may still acknowledge nothing. Where MySQL
 * itself reports this, the replica counts as unavailable when another one is replaced.
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

/** Asks if an answer is too old. An agent's answer does not make MySQL's answer unnecessary. */
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

/** Asks again those members whose answers block a step. Such answers stay valid longer than others. */
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
 * It has to have received what the primary had committed when the primary was asked, and to acknowledge commits; for a
 * switchover it has to have applied that as well. An answer against it stands until another answer. A missing answer is
 * waited for as long as an unreadable delay.
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
 * No member can be asked, and this has lasted for a while: a Secret that is recreated is away only for a moment. Also
 * sets the deadline for it.
 *
 * @param withinSeconds the maximum age of the reading that says so
 */
export function isPastAsking({ snapshot: { mysql }, policy, deadlines }: Situation, withinSeconds: number): boolean {
  if (!mysql?.problem || mysql.ageSeconds === null || deadlines.reached(mysql.ageSeconds, withinSeconds)) return false;
  return deadlines.reached(mysql.problem.forSeconds, policy.replicaDelayGraceSeconds);
}

/**
 * How long to wait for an answer of mysqld: a member that does not answer may be gone, and its pod shows that only
 * later.
 */
export const silenceSeconds = ({ replicaDelayGraceSeconds, silentMemberGraceSeconds }: RolloutPolicy): number =>
  Math.max(replicaDelayGraceSeconds, silentMemberGraceSeconds);

interface Silence {
  readonly message: string;
  readonly forSeconds: number;
}

/** Why it is unknown what the replica lacks: it does not answer, or the primary does not. */
function silenceOf(situation: Situation, { said, unknownForSeconds }: MemberReading): Silence | null {
  if (said.kind === 'unknown') return { message: said.message, forSeconds: unknownForSeconds };
  if (said.kind === 'primary' || said.missing !== null) return null;
  const source = readingOf(situation, situation.primary);
  const message = source?.said.kind === 'unknown' ? source.said.message : 'it was not asked';
  return { message: `the primary does not say: ${message}`, forSeconds: source?.unknownForSeconds ?? 0 };
}

type Last = MemberReading['last'] | undefined;

/**
 * What the newest answer of a replica shows against it, if `source` is that of the primary. A backlog counts only for a
 * switchover.
 */
export function againstItself(last: Last, source: Last, applied: boolean): Against | null {
  if (last?.kind !== 'replica') return null;
  const { receiver, missing, unapplied, semiSync } = last;
  if (!receiver.runs || receiver.error !== 0) return { kind: 'notReceiving', error: receiver.error };
  if (missing !== null && missing > 0) return { kind: 'notReceived', transactions: missing };
  if (!semiSync && source?.kind === 'primary' && source.needed > 0) return { kind: 'notAcknowledging' };
  return applied && unapplied > 0 ? { kind: 'notApplied', transactions: unapplied } : null;
}

/** This replica acknowledges commits, and without it too few replicas would. */
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

/** According to its last answer it does not acknowledge the primary's commits, and will not until another answer. */
export function isKnownToLack(situation: Situation, member: Member): boolean {
  const { mysql } = situation.snapshot;
  if (mysql === null || isPastAsking(situation, lastingSeconds)) return false;
  if (againstItself(readingOf(situation, member)?.last, sourceOf(situation), false) === null) return false;
  // It is asked again then.
  if (mysql.ageSeconds !== null) situation.deadlines.reached(mysql.ageSeconds, lastingSeconds);
  return true;
}

/** How often members are asked whose answers block a step. Such answers stay valid longer than others. */
export const lastingSeconds = 30;
