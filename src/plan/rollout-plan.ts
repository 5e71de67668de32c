import type { Hold } from '../core/decision.ts';
import type { RolloutPolicy } from '../core/policy.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { type Beginning, isReplacement, type PlanEntry, SimulatedCluster } from './simulated-cluster.ts';

export type Plan = ReturnType<typeof plan>;

/** More entries for each member than any rollout needs. A longer plan is truncated. */
const entriesPerMember = 12;

/**
 * Simulates the rollout of one cluster to its end, as if there were no other clusters. A pure function that always
 * ends.
 */
export function plan(beginning: Beginning) {
  const cluster = new SimulatedCluster(beginning);
  const entries: readonly PlanEntry[] = cluster.entries;
  const most = entriesPerMember * (beginning.snapshot.cluster.replicas + 2);
  let now: number | null = 0;
  do now = cluster.pass(now);
  while (now !== null && entries.length < most);
  // Members are counted no matter which program replaces them.
  const members = entries.reduce((sum, entry) => {
    if (entry.kind === 'wait') return sum + Number(isReplacement(entry.hold));
    return entry.kind === 'step' ? sum + entry.taken.length : sum;
  }, 0);
  const switchovers = entries.filter(({ kind }) => kind === 'switchover').length;
  // The plan stops at a hold that only a person can end. If every due member is updated, there is no such hold.
  return { entries, switchovers, members, stopsAt: cluster.stop ?? cluster.hold, after: cluster.snapshot };
}

/**
 * The revision at which a member comes back, or the hold that prevents that. Both are `null` if the member's previous
 * revision is unknown.
 */
export type Restoring =
  | { readonly revision: string; readonly stopsAt: null }
  | { readonly revision: null; readonly stopsAt: Hold | null };

/** More steps and waits than a restore needs. */
const mostEntries = 24;

/**
 * Simulates until the member in `policy.restore` is restored. Rules that hold the rollout do not stop the simulation.
 */
export function restoring(snapshot: ClusterSnapshot, policy: RolloutPolicy, ordinal: number): Restoring {
  const cluster = new SimulatedCluster({ snapshot, policy, memberSeconds: 0, stepsWhileHeld: true });
  const isRestored = (entry: PlanEntry): boolean =>
    entry.kind === 'step' &&
    entry.step.kind === 'restore' &&
    entry.step.targets.some((target) => target.ordinal === ordinal);
  for (let now: number | null = 0; now !== null && cluster.entries.length < mostEntries; ) {
    now = cluster.pass(now);
    if (cluster.entries.some(isRestored)) {
      return { revision: cluster.snapshot.statefulSet?.currentRevision ?? '', stopsAt: null };
    }
  }
  const { stop } = cluster;
  // The revision counts as failing, and no step follows, only because a person has requested the restore.
  const isAsked = stop?.rule === 'UpdateRevisionFailing' && stop.evidence.kind === 'restored';
  return { revision: null, stopsAt: isAsked ? null : stop };
}
