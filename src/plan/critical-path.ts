import type { HoldRule } from '../core/decision.ts';
import type { FleetPlan, PlannedCluster, Span } from './fleet-plan.ts';

/** What makes a plan as long as it is, and for how long. */
export interface Cause {
  readonly what: Span['what'];
  readonly seconds: number;
  /** How many clusters are concerned, one after another. */
  readonly clusters: number;
}

/** Waits that end when another cluster is done. */
const forOthers: ReadonlySet<Span['what']> = new Set<HoldRule>([
  'AwaitingEarlierStage',
  'AwaitingStageSlot',
  'AwaitingFleetSlot',
  'StageFailing',
  'FleetFailing',
]);

/**
 * Follows the plan back from the cluster that ends last: what it did, what it waited for, and where it waited for
 * another cluster, what that one did. The causes that cost most come first.
 */
export function criticalPath({ from, clusters }: FleetPlan): readonly Cause[] {
  const seconds = new Map<Span['what'], number>();
  const concerned = new Map<Span['what'], Set<PlannedCluster>>();
  const ended = clusters.filter(({ endsAt }) => endsAt !== null).toSorted((a, b) => (b.endsAt ?? 0) - (a.endsAt ?? 0));
  const count = (what: Span['what'], duration: number, cluster: PlannedCluster): void => {
    seconds.set(what, (seconds.get(what) ?? 0) + duration);
    concerned.set(what, (concerned.get(what) ?? new Set()).add(cluster));
  };
  let current = ended[0];
  let until = current?.endsAt ?? from;
  while (current !== undefined && until > from) {
    const span = current.spans.findLast((one) => one.from < until);
    if (span === undefined) break;
    const begin = Math.max(span.from, from);
    const before = forOthers.has(span.what) ? endedBefore(ended, current, begin, until) : undefined;
    if (before?.endsAt == null) {
      count(span.what, until - begin, current);
      until = begin;
    } else {
      if (before.endsAt < until) count(span.what, until - before.endsAt, current);
      until = before.endsAt;
      current = before;
    }
  }
  return [...seconds]
    .map(([what, duration]) => ({ what, seconds: duration, clusters: concerned.get(what)?.size ?? 0 }))
    .filter((cause) => cause.seconds > 0)
    .toSorted((one, other) => other.seconds - one.seconds);
}

/** The cluster whose end the wait was for: the last one that ended in that time. */
function endedBefore(
  ended: readonly PlannedCluster[],
  waiting: PlannedCluster,
  from: number,
  until: number,
): PlannedCluster | undefined {
  const before = ended.find((one) => one !== waiting && one.endsAt !== null && one.endsAt <= until);
  return before?.endsAt != null && before.endsAt > from ? before : undefined;
}
