import type { SequenceRecord } from '../api/rollout-sequence.ts';
import { median } from '../controller/facts/maintenance-facts.ts';
import type { FleetLimits } from '../controller/fleet/fleet-limits.ts';
import type { HoldRule } from '../core/decision.ts';
import { timeText } from '../core/sentences.ts';
import { nameOf } from '../kube/store.ts';
import { switchoverSeconds } from './simulated-cluster.ts';

// What is expected to happen to the clusters of a fleet. Times are Unix seconds.

/** What a cluster does or waits for, for some time. */
export interface Span {
  readonly what: HoldRule | 'Updating';
  readonly from: number;
  readonly until: number;
}

export interface PlannedCluster {
  readonly namespace: string;
  readonly name: string;
  /** `null` if no sequence selects it. */
  readonly sequence: string | null;
  readonly stage: string | null;
  /** The program that replaces its pods. */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  /** When its first member is replaced, possibly in the past; `null` if that never happens. */
  readonly beginsAt: number | null;
  /** When every member is updated; `null` if that never happens. */
  readonly endsAt: number | null;
  /** In order, from the beginning of the plan. */
  readonly spans: readonly Span[];
  /** Why it never begins, or never ends. */
  readonly stop: { readonly rule: HoldRule; readonly sentence: string } | null;
  /** How long one member is expected to take, and whether that was measured. */
  readonly memberSeconds: number;
  readonly measured: boolean;
}

export interface FleetPlan {
  readonly from: number;
  /** The clusters with something to do. */
  readonly clusters: readonly PlannedCluster[];
  /** Clusters that are not healthy now, which the plan counts as healthy soon, as `namespace/name`. */
  readonly recovering: readonly string[];
}

/** When the last cluster ends; `null` if none does. */
function endOf(clusters: readonly PlannedCluster[]): number | null {
  const times = clusters.map(({ endsAt }) => endsAt).filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
}

/** What makes a plan take long, and for how long. */
export interface Cause {
  readonly what: Span['what'];
  readonly seconds: number;
  /** How many clusters it affects, one after another. */
  readonly clusters: number;
  /** The cluster that it delays the longest, as `namespace/name`. */
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
 * Follows the plan back from the cluster that ends last: what it did, what it waited for, and if it waited for another
 * cluster, what that one did. The causes that took longest come first.
 */
export function criticalPath({ from, clusters }: FleetPlan): readonly Cause[] {
  const taken = new Map<Span['what'], Map<string, number>>();
  const ended = clusters
    .flatMap(({ endsAt, ...one }) => (endsAt === null ? [] : [{ ...one, endsAt }]))
    .toSorted((one, other) => other.endsAt - one.endsAt);
  // The cluster that the wait was for: the last one that ended in that time.
  const endedBetween = (since: number, end: number) =>
    ended.find((one) => one !== current && one.endsAt <= end && one.endsAt > since);
  let [current] = ended;
  let until = current?.endsAt ?? from;
  while (current !== undefined && until > from) {
    const span = current.spans.findLast((one) => one.from < until);
    if (span === undefined) break;
    const begin = Math.max(span.from, from);
    const before = forOthers.has(span.what) ? endedBetween(begin, until) : undefined;
    const since = before?.endsAt ?? begin;
    if (since < until) {
      const own = taken.get(span.what) ?? new Map<string, number>();
      const key = nameOf(current);
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

/** The inputs of the plan apart from the objects. */
interface Assumptions {
  /** Settings in place of those of the clusters. */
  readonly assumed: object;
  readonly assumeStale: boolean;
  /** Assumptions from manifests. */
  readonly applied: readonly string[];
  readonly limits: FleetLimits;
  /** Why the limits are the built-in ones, if the user has given no others; `null` if they are the controller's. */
  readonly unknownFlags: string | null;
  /** Kinds that the user may not read. */
  readonly unread: readonly string[];
}

/** A plan as it is printed, and the data for its drawing. Times are RFC 3339 in UTC. */
export type ShownFleetPlan = ReturnType<typeof shownFleetPlan>;

const timeOrNull = (seconds: number | null): string | null => (seconds === null ? null : timeText(seconds));
const between = (from: number | null, until: number | null): number | null =>
  from === null || until === null ? null : until - from;

/** The part of the plan that is about the selected clusters. */
export function shownFleetPlan(
  plan: FleetPlan,
  selected: ReadonlySet<string>,
  sequences: readonly SequenceRecord[],
  assumptions: Assumptions,
) {
  const clusters = plan.clusters.filter((cluster) => selected.has(nameOf(cluster)));
  const staged = sequences.flatMap(({ name, sequence }) => sequence.stages.map((stage) => [name, stage.name] as const));
  const stages = [...staged, [null, null] as const].flatMap(([sequence, stage]) => {
    const members = clusters.filter((one) => one.sequence === sequence && one.stage === stage);
    return members.length === 0 ? [] : [plannedStage(sequence, stage, members, plan.from)];
  });
  const until = endOf(clusters);
  // Clusters that are not selected keep others waiting, but the plan ends with the selected ones.
  const played = plan.clusters.filter(({ endsAt }) => endsAt === null || (until !== null && endsAt <= until));
  return {
    from: timeText(plan.from),
    // When the last cluster ends; `null` if none does.
    until: timeOrNull(until),
    seconds: between(plan.from, until),
    assumed: assumptions.assumed,
    assumeStale: assumptions.assumeStale,
    // In the order of the sequences, then the clusters without one.
    stages: stages.map(({ shown }) => shown),
    causes: criticalPath({ ...plan, clusters: played }),
    clusters: clusters.map(shownCluster),
    assumptions: [...assumptions.applied, ...sentencesOf(clusters, plan.recovering, assumptions)],
    drawing: { from: plan.from, until: until ?? plan.from, stages: stages.map(({ drawn }) => drawn) },
  };
}

function plannedStage(sequence: string | null, stage: string | null, members: readonly PlannedCluster[], from: number) {
  const began = members.flatMap(({ beginsAt, spans }) => (beginsAt === null ? [] : [{ beginsAt, spans }]));
  const [first] = began.toSorted((one, other) => one.beginsAt - other.beginsAt);
  const beginsAt = first?.beginsAt ?? null;
  // Clusters that never begin or never end.
  const stopped = members.filter(({ stop }) => stop !== null).length;
  const endsAt = stopped > 0 ? null : endOf(members);
  const isWait = (span: Span): boolean =>
    span.what !== 'Updating' && span.until > span.from && span.until <= (beginsAt ?? 0);
  // Before the first cluster of the stage begins.
  const waits = first?.spans
    .filter(isWait)
    .map(({ what, ...span }) => ({ rule: what, seconds: span.until - span.from }));
  const shown = {
    sequence,
    stage,
    clusters: members.length,
    begins: timeOrNull(beginsAt),
    ends: timeOrNull(endsAt),
    seconds: between(beginsAt === null ? null : Math.max(from, beginsAt), endsAt),
    stopped,
    waits: waits ?? [],
  };
  return { shown, drawn: { clusters: members, beginsAt, endsAt } };
}

const shownCluster = ({ beginsAt, endsAt, stop, spans: _, ...cluster }: PlannedCluster) => ({
  ...cluster,
  begins: timeOrNull(beginsAt),
  ends: timeOrNull(endsAt),
  seconds: between(beginsAt, endsAt),
  stopsAt: stop,
});

function sentencesOf(
  clusters: readonly PlannedCluster[],
  recovering: readonly string[],
  { limits, unknownFlags, unread }: Assumptions,
): readonly string[] {
  const [unhealthy] = recovering;
  const { maxConcurrentRollouts, disruptionIntervalSeconds, maxFailingRollouts, verifyFirstCluster } = limits;
  const times = (sentence: string, isMeasured: boolean): readonly string[] => {
    const seconds = clusters.flatMap(({ measured, memberSeconds }) => (measured === isMeasured ? [memberSeconds] : []));
    const many = seconds.length === 1 ? '1 cluster' : `${seconds.length} clusters`;
    return seconds.length === 0 ? [] : [`${sentence} in ${many}: ${median(seconds)} s in the median`];
  };
  return [
    'nothing fails, checks pass, every pod starts, and other waits that end by themselves are over at once',
    ...times('a member takes as long as was measured', true),
    ...times('a member takes expectedMemberSeconds, since nothing was measured,', false),
    `a switchover takes ${switchoverSeconds} s`,
    `the controller runs with --max-concurrent-rollouts=${maxConcurrentRollouts}, --verify-first-cluster=${verifyFirstCluster}, --max-failing-rollouts=${maxFailingRollouts} and --disruption-interval=${disruptionIntervalSeconds}s`,
    unknownFlags === null ? '' : `these are the built-in limits: ${unknownFlags}`,
    unhealthy === undefined
      ? ''
      : `clusters that are not healthy now, ${unhealthy} among ${recovering.length}, are so after the time of a member`,
    unread.length === 0 ? '' : `left out, since you may not read them: ${unread.join(', ')}`,
  ].filter(Boolean);
}
