import type { DelayReading, MemberSaid, ReplicationDelay } from './on-demand-facts.ts';
import type { Asked } from './rules/rule.ts';
import { unavailableLimit, unavailableMembers } from './rules/unavailable.ts';
import type { Member, Situation } from './situation.ts';

/** A reading that is older does not count. It bounds how often members are asked while a step waits for them. */
export const freshSeconds = 5;

export interface ReplicaBehind {
  readonly ordinal: number;
  /** `null` while it has not been asked recently. */
  readonly reading:
    | DelayReading
    | { readonly kind: 'notReceived' | 'notApplied'; readonly transactions: number }
    | null;
}

/** A step that takes `member` waits for these. */
export interface ReplicasBehind {
  readonly member: number;
  /** From so many seconds on they are behind for a switchover. `null` if another replica is taken. */
  readonly limitSeconds: number | null;
  readonly graceSeconds: number;
  readonly replicas: readonly ReplicaBehind[];
}

/**
 * In a switchover MOCO stops writes, waits up to 50 s until the replica with the lowest ordinal has applied every
 * transaction, and tries again if that fails (MOCO 0.36, clustering/status.go, DecideState, and
 * clustering/operations.go, switchover). A failover waits for the applier without a limit. Before MOCO lets writes in
 * again, it runs STOP REPLICA on all the others, which waits without a limit for the transaction that they are applying
 * (configure). So every replica has to have caught up.
 *
 * A replica that is Ready may have received nothing yet, and acknowledges no commit before it has: its delay is that of
 * what it has received. Where MySQL itself says so, it counts as unavailable when another replica is taken.
 */
export function replicasBehind(asked: Asked): ReplicasBehind | null {
  const { situation, effects, members: taken } = asked;
  const { policy } = situation;
  const { replicaDelayGraceSeconds: graceSeconds } = policy;
  const replicas = situation.members.filter((one) => !one.primary && one.participates && !taken.includes(one));
  const primary = effects.find(({ kind }) => kind === 'movesPrimary')?.member;
  if (primary) {
    const behind = replicas.flatMap(
      (one) => behindByAgent(situation, one) ?? behindByMysql(situation, one, true) ?? [],
    );
    const { maxReplicaDelaySeconds: limitSeconds } = policy;
    return behind.length === 0 ? null : { member: primary.ordinal, limitSeconds, graceSeconds, replicas: behind };
  }
  const [member] = taken.filter((one) => one.participates && !one.primary);
  if (member === undefined || situation.snapshot.mysql === null) return null;
  const behind = replicas.flatMap((one) => behindByMysql(situation, one, false) ?? []);
  const away = new Set([...unavailableMembers(asked), ...behind.map(({ ordinal }) => ordinal)]);
  if (behind.length === 0 || away.size < unavailableLimit(asked)) return null;
  return { member: member.ordinal, limitSeconds: null, graceSeconds, replicas: behind };
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
 * What the primary had committed when it was asked: this one has to have received it, and for a switchover applied it.
 */
function behindByMysql(situation: Situation, { facts, ordinal }: Member, applied: boolean): ReplicaBehind | null {
  const { snapshot, primary, policy, deadlines } = situation;
  const { mysql } = snapshot;
  if (mysql === null || mysql.problem !== null) return null;
  const isFresh = mysql.ageSeconds !== null && !deadlines.reached(mysql.ageSeconds, freshSeconds);
  const answer = isFresh ? mysql.members.find(({ uid }) => uid === facts.uid) : undefined;
  if (answer === undefined || answer.said.kind === 'primary') return { ordinal, reading: null };
  const unknown = (said: MemberSaid & { kind: 'unknown' }, unknownForSeconds: number): ReplicaBehind | null =>
    deadlines.reached(unknownForSeconds, policy.replicaDelayGraceSeconds) ? null : { ordinal, reading: said };
  if (answer.said.kind === 'unknown') return unknown(answer.said, answer.unknownForSeconds);
  const { missing, unapplied } = answer.said;
  if (missing === null) {
    const source = mysql.members.find(({ uid }) => uid === primary?.facts.uid);
    const message = source?.said.kind === 'unknown' ? source.said.message : 'it was not asked';
    return unknown(
      { kind: 'unknown', message: `the primary does not say: ${message}` },
      source?.unknownForSeconds ?? 0,
    );
  }
  if (missing > 0) return { ordinal, reading: { kind: 'notReceived', transactions: missing } };
  return applied && unapplied > 0 ? { ordinal, reading: { kind: 'notApplied', transactions: unapplied } } : null;
}

/** It had not received what the primary had committed, and acknowledges nothing before it has. */
export function isKnownToLack({ snapshot: { mysql }, deadlines }: Situation, { facts }: Member): boolean {
  if (mysql === null || mysql.ageSeconds === null || deadlines.reached(mysql.ageSeconds, lastingSeconds)) return false;
  const said = mysql.members.find(({ uid }) => uid === facts.uid)?.said;
  return said?.kind === 'replica' && said.missing !== null && said.missing > 0;
}

/** What speaks against a member counts for longer than what speaks for it. */
export const lastingSeconds = 30;
