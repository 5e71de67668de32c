import type { HoldRule } from '../core/decision.ts';

/**
 * MOCO grows the claims of a cluster only while its StatefulSet is not being updated (`isUpdatingStatefulSet` in MOCO's
 * `controllers/pvc.go`), and makes the StatefulSet again with the new template either way: then there is no difference left
 * that it would grow claims for.
 */
export const volumeWarning =
  'WARNING: do not change the size of volumes before every member is updated: MOCO would not grow the claims';

/** Rules under which a rollout rests for as long as somebody likes. */
const resting: ReadonlySet<string> = new Set<HoldRule>([
  'Paused',
  'AwaitingApproval',
  'PrimaryWaitsForHeld',
  'PartitionReached',
]);

/** Whether a rollout rests with members that are not updated. */
export const restsStale = (rule: string | undefined, updated: number, replicas: number): boolean =>
  rule !== undefined && resting.has(rule) && updated < replicas;
