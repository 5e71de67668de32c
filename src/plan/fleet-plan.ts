import type { HoldRule } from '../core/decision.ts';

// What is expected to happen to the clusters of a fleet. Times are Unix seconds.

/** What a cluster does or waits for, for some time. */
export interface Span {
  readonly what: HoldRule | 'Updating';
  readonly from: number;
  readonly until: number;
}

/** Why a cluster never begins, or never ends. */
export interface Stop {
  readonly rule: HoldRule;
  readonly sentence: string;
}

export interface PlannedCluster {
  readonly namespace: string;
  readonly name: string;
  /** `null` if no sequence selects it. */
  readonly sequence: string | null;
  readonly stage: string | null;
  /** The program that replaces its pods. */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  /** When its first member is taken, also in the past; `null` if that never happens. */
  readonly beginsAt: number | null;
  /** When every member is updated; `null` if that never happens. */
  readonly endsAt: number | null;
  /** In order, from the begin of the plan. */
  readonly spans: readonly Span[];
  readonly stop: Stop | null;
  /** How long one member is expected to take, and whether that was measured. */
  readonly memberSeconds: number;
  readonly measured: boolean;
}

export interface FleetPlan {
  readonly from: number;
  /** Those with something to do. */
  readonly clusters: readonly PlannedCluster[];
  /** Clusters that are not healthy now, which the plan counts as healthy soon, as `namespace/name`. */
  readonly recovering: readonly string[];
}

/** A stage of the plan. */
export type PlannedStage = ReturnType<typeof plannedStages>[number];

/** When the last cluster that ends does so; `null` if none does. */
export const endOf = (clusters: readonly PlannedCluster[]): number | null => orNull(Math.max, clusters, 'endsAt');

/** The stages in the given order, then the clusters without a sequence. */
export function plannedStages(
  { clusters }: FleetPlan,
  order: readonly { readonly sequence: string; readonly stage: string }[],
) {
  const known = [...order, { sequence: null, stage: null }];
  return known.flatMap(({ sequence, stage }) => {
    const members = clusters.filter((one) => one.sequence === sequence && one.stage === stage);
    if (members.length === 0) return [];
    const stopped = members.filter(({ stop }) => stop !== null).length;
    return [
      {
        sequence,
        stage,
        clusters: members,
        beginsAt: orNull(Math.min, members, 'beginsAt'),
        // `null` if not every cluster ends.
        endsAt: stopped > 0 ? null : endOf(members),
        // Clusters that never begin or never end.
        stopped,
      },
    ];
  });
}

/** The least or the greatest of the times that there are; `null` if there are none. */
function orNull(
  which: (...times: readonly number[]) => number,
  clusters: readonly PlannedCluster[],
  field: 'beginsAt' | 'endsAt',
): number | null {
  const times = clusters.map((one) => one[field]).filter((time) => time !== null);
  return times.length === 0 ? null : which(...times);
}

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
  const taken = new Map<Span['what'], Map<string, number>>();
  const ended = clusters.filter(isEnded).toSorted((one, other) => other.endsAt - one.endsAt);
  let [current] = ended;
  let until = current?.endsAt ?? from;
  while (current !== undefined && until > from) {
    const span = current.spans.findLast((one) => one.from < until);
    if (span === undefined) break;
    const begin = Math.max(span.from, from);
    const before = forOthers.has(span.what) ? endedBetween(ended, current, begin, until) : undefined;
    const since = before?.endsAt ?? begin;
    if (since < until) {
      const own = taken.get(span.what) ?? new Map<string, number>();
      const key = `${current.namespace}/${current.name}`;
      taken.set(span.what, own.set(key, (own.get(key) ?? 0) + until - since));
    }
    until = since;
    current = before ?? current;
  }
  return [...taken]
    .map(([what, own]) => {
      const [[longest] = ['']] = [...own].toSorted(([, one], [, other]) => other - one);
      const seconds = [...own.values()].reduce((sum, one) => sum + one, 0);
      return { what, seconds, clusters: own.size, longest };
    })
    .toSorted((one, other) => other.seconds - one.seconds);
}

type Ended = PlannedCluster & { readonly endsAt: number };

const isEnded = (one: PlannedCluster): one is Ended => one.endsAt !== null;

/** The cluster whose end the wait was for: the last one that ended in that time. */
const endedBetween = (ended: readonly Ended[], waiting: Ended, from: number, until: number): Ended | undefined =>
  ended.find((one) => one !== waiting && one.endsAt <= until && one.endsAt > from);
