import type { Step } from './decision.ts';
import type { ReplicationDelay } from './replication-delay.ts';
import type { ReplicaBehind } from './rules/participating.ts';
import { type Member, type Outcome, type Situation, wait } from './situation.ts';

/** A reading that is older does not count. It bounds how often replicas are asked while a switchover waits for them. */
const freshSeconds = 5;

/**
 * Holds a step after which MOCO switches over, if replicas are behind. Asked last, so that replicas are asked only when
 * nothing else holds that step.
 *
 * In a switchover MOCO stops writes, waits up to 50 s until the replica with the lowest ordinal has applied every
 * transaction, and tries again if that fails (MOCO 0.36, clustering/status.go, DecideState, and clustering/operations.go,
 * switchover). Before it lets writes in again, it runs STOP REPLICA on all the others, which waits without a limit for the
 * transaction that they are applying (configure). So every replica has to have caught up.
 */
export function replicasBehind(situation: Situation, outcome: Outcome | null): Outcome | null {
  const { members, policy, primary, overridden } = situation;
  if (primary === null || !movesPrimary(situation, outcome?.step ?? null)) return outcome;
  if (overridden.has('ReplicasBehind')) return outcome;
  const replicas = members.filter((member) => !member.primary && member.participates);
  const behind = replicas.flatMap((replica): readonly ReplicaBehind[] => {
    const read = readingOf(situation, replica);
    if (read === null) return [{ ordinal: replica.ordinal, reading: null }];
    return isBehind(situation, read) ? [{ ordinal: replica.ordinal, reading: read.reading }] : [];
  });
  if (behind.length === 0) return outcome;
  const { maxReplicaDelaySeconds: limitSeconds, replicaDelayGraceSeconds: graceSeconds } = policy;
  return wait({ rule: 'ReplicasBehind', member: primary.ordinal, limitSeconds, graceSeconds, replicas: behind });
}

/** MOCO also switches over when the pod of a primary that works is deleted. Otherwise it fails over. */
function movesPrimary({ primary }: Situation, step: Step | null): boolean {
  if (step?.kind === 'demote') return true;
  const isTaken = step?.kind === 'setPartition' && step.targets.some(({ ordinal }) => ordinal === primary?.ordinal);
  return isTaken && primary?.participates === true;
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
