import type { DelayReading, ReplicationDelay } from './on-demand-facts.ts';
import type { Member, Situation } from './situation.ts';

/** A reading that is older does not count. It bounds how often replicas are asked while a switchover waits for them. */
const freshSeconds = 5;

/** Why a switchover waits for a replica. */
export interface ReplicaBehind {
  readonly ordinal: number;
  /** `null` while it has not been asked recently. */
  readonly reading: DelayReading | null;
}

/** A switchover away from `member` waits for these. */
export interface ReplicasBehind {
  readonly member: number;
  readonly limitSeconds: number;
  readonly graceSeconds: number;
  readonly replicas: readonly ReplicaBehind[];
}

/**
 * In a switchover MOCO stops writes, waits up to 50 s until the replica with the lowest ordinal has applied every
 * transaction, and tries again if that fails (MOCO 0.36, clustering/status.go, DecideState, and
 * clustering/operations.go, switchover). A failover waits for the applier without a limit. Before MOCO lets writes in
 * again, it runs STOP REPLICA on all the others, which waits without a limit for the transaction that they are applying
 * (configure). So every replica has to have caught up.
 */
export function replicasBehind(situation: Situation, taken: readonly Member[]): ReplicasBehind | null {
  const { members, policy } = situation;
  const primary = taken.find((member) => member.primary);
  if (primary === undefined) return null;
  const replicas = members.filter((member) => !member.primary && member.participates);
  const behind = replicas.flatMap((replica): readonly ReplicaBehind[] => {
    const read = readingOf(situation, replica);
    if (read === null) return [{ ordinal: replica.ordinal, reading: null }];
    return isBehind(situation, read) ? [{ ordinal: replica.ordinal, reading: read.reading }] : [];
  });
  if (behind.length === 0) return null;
  const { maxReplicaDelaySeconds: limitSeconds, replicaDelayGraceSeconds: graceSeconds } = policy;
  return { member: primary.ordinal, limitSeconds, graceSeconds, replicas: behind };
}

function readingOf({ snapshot, deadlines }: Situation, { facts }: Member): ReplicationDelay | null {
  const read = snapshot.replicationDelays.find(({ uid }) => uid === facts.uid);
  return read === undefined || deadlines.reached(read.ageSeconds, freshSeconds) ? null : read;
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
