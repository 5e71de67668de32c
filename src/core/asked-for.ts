import type { HoldRule } from './decision.ts';

/** Waits that somebody has asked for: neither a lack of progress nor a failure. */
const askedFor: ReadonlySet<HoldRule> = new Set([
  'HandedBack',
  'ReconciliationStopped',
  'ClusteringStopped',
  'Offline',
  'ForcedRollingUpdate',
  'Paused',
  'AwaitingFleetSlot',
  'AwaitingFleetInterval',
  'AwaitingApproval',
  'PrimaryWaitsForHeld',
  'PartitionReached',
  'ClusterDeleting',
]);

export const isAskedFor = (rule: HoldRule): boolean => askedFor.has(rule);
