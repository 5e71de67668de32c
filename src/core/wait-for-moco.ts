import type { Hold } from './decision.ts';
import { memberLeaving } from './leaving.ts';
import { downOutOfTurn, notYetReplaced, partitionOf } from './lower-partition.ts';
import { type Outcome, type Situation, wait } from './situation.ts';

/**
 * MOCO's own partition controller drives, and this program says what that waits for, by MOCO's conditions and not by
 * ours: it asks for the pods' readiness and for `Healthy`, and knows neither budgets nor backups nor the user's wishes
 * (MOCO 0.36, its partition controller).
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
  // It asks for pods that have been ready for a while, and not for their roles.
  const owing = others.find((member) => member.owes !== null && member.owes.for !== 'role');
  const away = others.filter((member) => !member.participates).map(({ ordinal }) => ordinal);
  const hold =
    memberLeaving(situation) ??
    notYetReplaced(situation) ??
    (owing?.owes
      ? ({ rule: 'UpdatedMemberNotParticipating', member: owing.ordinal, wait: owing.owes } as const)
      : null) ??
    downOutOfTurn(situation, next) ??
    (away.length > 0 ? ({ rule: 'BudgetUsed', away, maxUnavailable: 1 } as const) : null) ??
    (next.facts.ready ? unhealthy(situation, replicas) : null);
  return wait(hold ?? lowers);
}

function unhealthy({ snapshot }: Situation, replicas: number): Hold | null {
  const { healthy, syncedReplicas: synced } = snapshot.cluster;
  return healthy ? null : { rule: 'ClusterNotHealthy', healthy, synced, replicas };
}
