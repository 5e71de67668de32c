import type { SequenceRecord } from '../../api/rollout-sequence.ts';
import { median } from '../../controller/facts/maintenance-facts.ts';
import type { FleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { timeText } from '../../core/sentences.ts';
import { nameOf } from '../../kube/store.ts';
import {
  criticalPath,
  endOf,
  type FleetPlan,
  type PlannedCluster,
  type PlannedStage,
  plannedStages,
  type Span,
} from '../../plan/fleet-plan.ts';
import { switchoverSeconds } from '../../plan/simulated-cluster.ts';

/** What the plan was made with, apart from the objects. */
export interface Assumptions {
  /** Settings in place of those of the clusters. */
  readonly assumed: object;
  readonly assumeStale: boolean;
  /** What is assumed of manifests. */
  readonly applied: readonly string[];
  readonly limits: FleetLimits;
  /** Why the limits are the built-in ones, where the user has given no others; `null` if they are the controller's. */
  readonly unknownFlags: string | null;
  /** Kinds that the user may not read. */
  readonly unread: readonly string[];
}

/** A plan as it is printed, and what a drawing of it needs. Times are RFC 3339 in UTC. */
export type ShownFleetPlan = ReturnType<typeof shownFleetPlan>;
export type ShownStage = ReturnType<typeof shownStage>;
export type ShownCluster = ReturnType<typeof shownCluster>;

const text = (seconds: number | null): string | null => (seconds === null ? null : timeText(seconds));
const between = (from: number | null, until: number | null): number | null =>
  from === null || until === null ? null : until - from;

/** The part of the plan that is about the selected clusters. */
export function shownFleetPlan(
  plan: FleetPlan,
  selected: ReadonlySet<string>,
  sequences: readonly SequenceRecord[],
  { assumed, assumeStale, applied, limits, unknownFlags, unread }: Assumptions,
) {
  const clusters = plan.clusters.filter((cluster) => selected.has(nameOf(cluster)));
  const order = sequences.flatMap(({ name, sequence }) =>
    sequence.stages.map((stage) => ({ sequence: name, stage: stage.name })),
  );
  const stages = plannedStages({ ...plan, clusters }, order);
  const until = endOf(clusters);
  return {
    from: timeText(plan.from),
    // When the last cluster ends; `null` if none does.
    until: text(until),
    seconds: between(plan.from, until),
    assumed,
    assumeStale,
    stages: stages.map((stage) => shownStage(stage, plan.from)),
    causes: criticalPath({ ...plan, clusters: endsBy(plan.clusters, until) }),
    clusters: clusters.map(shownCluster),
    assumptions: [...applied, ...assumptionsOf(clusters, plan.recovering, limits, unknownFlags, unread)],
    drawing: { from: plan.from, until: until ?? plan.from, stages },
  };
}

/** Clusters that are not selected keep others waiting, but the end of the plan is that of the selected ones. */
const endsBy = (clusters: readonly PlannedCluster[], until: number | null): readonly PlannedCluster[] =>
  clusters.filter(({ endsAt }) => endsAt === null || (until !== null && endsAt <= until));

function shownStage({ clusters, beginsAt, endsAt, ...stage }: PlannedStage, from: number) {
  const first = clusters.find((one) => one.beginsAt !== null && one.beginsAt === beginsAt);
  return {
    sequence: stage.sequence,
    stage: stage.stage,
    clusters: clusters.length,
    begins: text(beginsAt),
    ends: text(endsAt),
    seconds: between(beginsAt === null ? null : Math.max(from, beginsAt), endsAt),
    // Clusters that never begin or never end.
    stopped: stage.stopped,
    // Before the first cluster of the stage begins.
    waits: (first?.spans ?? [])
      .filter((span) => isWait(span) && span.until <= (beginsAt ?? 0))
      .map(({ what, from: since, until }) => ({ rule: what, seconds: until - since })),
  };
}

const isWait = ({ what, from, until }: Span): boolean => what !== 'Updating' && until > from;

const shownCluster = ({ beginsAt, endsAt, stop, spans: _, ...cluster }: PlannedCluster) => ({
  ...cluster,
  begins: text(beginsAt),
  ends: text(endsAt),
  seconds: between(beginsAt, endsAt),
  stopsAt: stop,
});

function assumptionsOf(
  clusters: readonly PlannedCluster[],
  recovering: readonly string[],
  { maxConcurrentRollouts, disruptionIntervalSeconds, maxFailingRollouts, verifyFirstCluster }: FleetLimits,
  unknownFlags: string | null,
  unread: readonly string[],
): readonly string[] {
  const [unhealthy] = recovering;
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
    ...(unknownFlags === null ? [] : [`these are the built-in limits: ${unknownFlags}`]),
    ...(unhealthy === undefined
      ? []
      : [
          `clusters that are not healthy now, ${unhealthy} among ${recovering.length}, are so after the time of a member`,
        ]),
    ...(unread.length === 0 ? [] : [`left out, since you may not read them: ${unread.join(', ')}`]),
  ];
}
