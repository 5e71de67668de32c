import type { Hold } from './decision.ts';
import { downOutOfOrder, notYetReplaced, partitionOf } from './lower-partition.ts';
import { type Outcome, type Situation, wait } from './situation.ts';
import { memberTerminating } from './terminating.ts';

/**
 * MOCO's own partition controller drives, and this program reports what it waits for. MOCO's conditions apply, not
 * ours: the partition controller checks that pods are ready and that the cluster is `Healthy`. It knows neither budgets
 * nor backups nor the user's settings (MOCO 0.36).
 */
export function waitForMoco(situation: Situation): Outcome | null {
  const { members, replicas } = situation;
  if (members.every((member) => member.updated)) return null;
  const partition = partitionOf(situation);
  const next = members.find(({ ordinal }) => ordinal === partition - 1);
  if (!next) return null;
  const lowers: Hold = { rule: 'AwaitingMoco', partition: partition - 1, member: next.ordinal };
  if (next.updated) return wait(lowers);
  const others = members.filter((member) => member !== next);
  // It checks that pods have been ready for a while, and not their roles.
  const owing = others.find((member) => member.unsettled !== null && member.unsettled.for !== 'role');
  const unavailable = others.filter((member) => !member.participates).map(({ ordinal }) => ordinal);
  const hold =
    memberTerminating(situation) ??
    notYetReplaced(situation) ??
    (owing?.unsettled
      ? ({ rule: 'UpdatedMemberNotParticipating', member: owing.ordinal, wait: owing.unsettled } as const)
      : null) ??
    downOutOfOrder(situation, next) ??
    (unavailable.length > 0 ? ({ rule: 'MaxUnavailableReached', unavailable, maxUnavailable: 1 } as const) : null) ??
    (next.facts.ready ? unhealthy(situation, replicas) : null);
  return wait(hold ?? lowers);
}

function unhealthy({ snapshot }: Situation, replicas: number): Hold | null {
  const { healthy, syncedReplicas: synced } = snapshot.cluster;
  return healthy ? null : { rule: 'ClusterNotHealthy', healthy, synced, replicas };
}
