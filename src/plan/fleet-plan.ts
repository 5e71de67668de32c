import type { SequenceRecord } from '../api/rollout-sequence.ts';
import { median } from '../controller/facts/maintenance-facts.ts';
import type { FleetLimits } from '../controller/fleet/fleet-limits.ts';
import type { HoldRule } from '../core/decision.ts';
import { counted, timeText } from '../core/sentences.ts';
import { nameOf } from '../kube/store.ts';
import { switchoverSeconds } from './simulated-cluster.ts';

// What is expected to happen to the clusters of a fleet. Times are Unix seconds.

/** What a cluster does or waits for during one interval of the plan. */
export interface Span {
  readonly what: HoldRule | 'Updating';
  readonly from: number;
  readonly until: number;
}

export interface PlannedCluster {
  readonly namespace: string;
  readonly name: string;
  /** `null` if no sequence selects the cluster. */
  readonly sequence: string | null;
  readonly stage: string | null;
  /** The program that replaces the pods of the cluster. */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  /** When the first member of the cluster is replaced, possibly in the past; `null` if that never happens. */
  readonly beginsAt: number | null;
  /** When the last member of the cluster is updated; `null` if that never happens. */
  readonly endsAt: number | null;
  /** In chronological order, from the beginning of the plan. */
  readonly spans: readonly Span[];
  /** Why the rollout never begins, or never ends. */
  readonly stop: { readonly rule: HoldRule; readonly sentence: string } | null;
  /** How long the update of one member is expected to take, and whether that time was measured. */
  readonly memberSeconds: number;
  readonly measured: boolean;
}

export interface FleetPlan {
  readonly from: number;
  /** The clusters that have something to do. */
  readonly clusters: readonly PlannedCluster[];
  /** Clusters that are unhealthy now and that the plan assumes to be healthy soon, as `namespace/name`. */
  readonly recovering: readonly string[];
}

/** When the last of the clusters ends its rollout; `null` if none does. */
function endOf(clusters: readonly PlannedCluster[]): number | null {
  const times = clusters.map(({ endsAt }) => endsAt).filter((time) => time !== null);
  return times.length === 0 ? null : Math.max(...times);
}

/** A cause that makes the plan longer, and the time that it adds. */
export interface Cause {
  readonly what: Span['what'];
  readonly seconds: number;
  /** How many clusters the cause affects, one after another. */
  readonly clusters: number;
  /** The cluster that the cause delays the longest, as `namespace/name`. */
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
 * Follows the plan back from the rollout that ends last, and collects what its cluster did and waited for. If that
 * cluster waited for another one, the search continues with the other cluster. The causes that took longest come first.
 */
export function criticalPath({ from, clusters }: FleetPlan): readonly Cause[] {
  const taken = new Map<Span['what'], Map<string, number>>();
  const ended = clusters
    .flatMap(({ endsAt, ...one }) => (endsAt === null ? [] : [{ ...one, endsAt }]))
    .toSorted((one, other) => other.endsAt - one.endsAt);
  // The cluster that ended the wait: the one whose rollout ended last during the wait.
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

/** The inputs of the plan, apart from the objects. */
interface Assumptions {
  /** Settings that replace the settings of the clusters. */
  readonly assumed: object;
  readonly assumeStale: boolean;
  /** Assumptions that come from manifests. */
  readonly applied: readonly string[];
  readonly limits: FleetLimits;
  /**
   * Why the plan uses the built-in limits wherever the user gave none; `null` if the plan uses the controller's limits.
   */
  readonly unknownFlags: string | null;
  /** Kinds of objects that the user has no permission to read. */
  readonly unread: readonly string[];
}

/** A plan in the form in which it is printed, and the data for its chart. Times are RFC 3339 in UTC. */
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
  // The plan contains the clusters that are not selected, because others may wait for them, but it ends with the last
  // rollout of a selected cluster.
  const played = plan.clusters.filter(({ endsAt }) => endsAt === null || (until !== null && endsAt <= until));
  return {
    from: timeText(plan.from),
    // When the last selected cluster ends its rollout; `null` if none does.
    until: timeOrNull(until),
    seconds: between(plan.from, until),
    assumed: assumptions.assumed,
    assumeStale: assumptions.assumeStale,
    // Stages in the order of the sequences, followed by the clusters without a sequence.
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
  // How many clusters never begin or never end their rollouts.
  const stopped = members.filter(({ stop }) => stop !== null).length;
  const endsAt = stopped > 0 ? null : endOf(members);
  const isWait = (span: Span): boolean =>
    span.what !== 'Updating' && span.until > span.from && span.until <= (beginsAt ?? 0);
  // The waits before the first cluster of the stage begins.
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
    return seconds.length === 0
      ? []
      : [`${sentence} in ${counted(seconds.length, 'cluster')}: ${median(seconds)} s in the median`];
  };
  return [
    'nothing fails, checks pass, every pod starts, and every other wait that ends by itself ends at once',
    ...times('a member takes as long as was measured', true),
    ...times('a member takes expectedMemberSeconds, since nothing was measured,', false),
    `a switchover takes ${switchoverSeconds} s`,
    `the controller runs with --max-concurrent-rollouts=${maxConcurrentRollouts}, --verify-first-cluster=${verifyFirstCluster}, --max-failing-rollouts=${maxFailingRollouts} and --disruption-interval=${disruptionIntervalSeconds}s`,
    unknownFlags === null ? '' : `these are the built-in limits: ${unknownFlags}`,
    unhealthy === undefined
      ? ''
      : `clusters that are not healthy now (${recovering.length}, such as ${unhealthy}) become healthy within the time that a member takes`,
    unread.length === 0 ? '' : `left out, since you may not read them: ${unread.join(', ')}`,
  ].filter(Boolean);
}
