import type { HoldRule } from '../core/decision.ts';
import type { FleetPlan, PlannedCluster, Span } from './fleet-plan.ts';

/** What makes a plan as long as it is, and for how long. */
export interface Cause {
  readonly what: Span['what'];
  readonly seconds: number;
  /** How many clusters are concerned, one after another. */
  readonly clusters: number;
  /** The one of them that it takes the longest, as `namespace/name`. */
  readonly longest: string;
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
  const concerned = new Map<Span['what'], Map<string, number>>();
  const count = (what: Span['what'], duration: number, cluster: PlannedCluster): void => {
    seconds.set(what, (seconds.get(what) ?? 0) + duration);
    const own = concerned.get(what) ?? new Map<string, number>();
    const key = `${cluster.namespace}/${cluster.name}`;
    concerned.set(what, own.set(key, (own.get(key) ?? 0) + duration));
  };
  const ended = clusters.filter(isEnded).toSorted((one, other) => other.endsAt - one.endsAt);
  let [current] = ended;
  let until = current?.endsAt ?? from;
  while (current !== undefined && until > from) {
    const span = current.spans.findLast((one) => one.from < until);
    if (span === undefined) break;
    const begin = Math.max(span.from, from);
    const before = forOthers.has(span.what) ? endedBetween(ended, current, begin, until) : undefined;
    const since = before?.endsAt ?? begin;
    if (since < until) count(span.what, until - since, current);
    until = since;
    current = before ?? current;
  }
  return [...seconds]
    .map(([what, duration]) => {
      const [[longest] = [''], ...others] = [...(concerned.get(what) ?? [])].toSorted(
        ([, one], [, other]) => other - one,
      );
      return { what, seconds: duration, clusters: others.length + 1, longest };
    })
    .toSorted((one, other) => other.seconds - one.seconds);
}

type Ended = PlannedCluster & { readonly endsAt: number };

const isEnded = (one: PlannedCluster): one is Ended => one.endsAt !== null;

/** The cluster whose end the wait was for: the last one that ended in that time. */
const endedBetween = (ended: readonly Ended[], waiting: Ended, from: number, until: number): Ended | undefined =>
  ended.find((one) => one !== waiting && one.endsAt <= until && one.endsAt > from);
