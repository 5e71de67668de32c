import type { HoldRule } from '../../core/decision.ts';

/**
 * MOCO expands the volume claims of a cluster only while its StatefulSet is not being updated (`isUpdatingStatefulSet`
 * in MOCO's `controllers/pvc.go`). It re-creates the StatefulSet with the new volume template in any case. After that
 * there is no difference left that would make it expand the claims.
 */
export const volumeWarning =
  'WARNING: do not resize volumes until every member is updated: MOCO would not expand the claims';

/** Rules under which a rollout waits for as long as the user wants. */
const resting: ReadonlySet<string> = new Set<HoldRule>([
  'Paused',
  'AwaitingApproval',
  'PrimaryWaitsForPinned',
  'PartitionReached',
]);

/** Whether the rollout waits on request of a user with members that are not updated. */
export const restsStale = (rule: string | undefined, updated: number, replicas: number): boolean =>
  rule !== undefined && resting.has(rule) && updated < replicas;
