import type { MySQLRollout } from '../../api/rollout.ts';
import type { HistoryEntry, RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../moco/json.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { overridesInForce } from '../terminal/overrides.ts';
import { entriesOf, type Figures, figuresOf, type HeldFor } from './figures.ts';

/** One rollout. `heldFor` includes the hold that goes on; `switchoverSeconds` is 0 without a switchover. */
export interface FleetRollout extends Figures {
  /** How long its members were unavailable, together. */
  readonly unavailableSeconds: number;
}

/** One cluster with its rollouts of the period, the newest first. */
export type FleetCluster = ReturnType<typeof fleetCluster>;

export type HoldCost = ReturnType<typeof holdCosts>[number];

type Listed = {
  readonly cluster: Pick<ClusterRecord, 'namespace' | 'name' | 'replicas'>;
  readonly rollout: MySQLRollout | null;
};

/** Those first that need a person, then those in progress, then by their newest rollout. */
export function fleetClusters(
  listed: readonly Listed[],
  sinceMilliseconds: number,
  nowMilliseconds: number,
): readonly FleetCluster[] {
  return listed
    .map(({ cluster, rollout }) => fleetCluster(cluster, rollout, sinceMilliseconds, nowMilliseconds))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || newestOf(other) - newestOf(one));
}

const rankOf = ({ stalled, rolling, rollouts }: FleetCluster): number =>
  stalled ? 0 : rolling ? 1 : rollouts.length > 0 ? 2 : 3;
const newestOf = ({ rollouts }: FleetCluster): number => rollouts[0]?.startedAt ?? 0;

function fleetCluster(
  { namespace, name, replicas }: Listed['cluster'],
  record: MySQLRollout | null,
  since: number,
  now: number,
) {
  const status = record?.status;
  const stalled = status?.conditions?.some((one) => one.type === 'Stalled' && one.status === 'True') === true;
  const { rollout, hold } = status ?? {};
  const entries = entriesOf(status ?? {});
  const rollouts = entries.map((entry) => fleetRollout(entry, hold, now));
  return {
    namespace,
    name,
    // `Stalled` where it needs a person, otherwise the phase; `Unknown` without a MySQLRollout.
    state: stalled ? 'Stalled' : (status?.phase ?? 'Unknown'),
    stalled,
    rolling: rollout !== undefined,
    // The rule that holds it now.
    hold: hold?.rule ?? null,
    // The rules that are overridden now.
    overridden: overridesInForce(record, now).map(({ rule }) => rule),
    images: imagesIn(entries),
    // A cluster of one member takes no writes while this restarts.
    single: replicas === 1,
    rollouts: rollouts.filter(({ finishedAt }) => finishedAt === null || finishedAt >= since).toReversed(),
  };
}

function fleetRollout(entry: HistoryEntry, hold: RolloutStatus['hold'], now: number): FleetRollout {
  const figures = figuresOf(entry, now);
  const { startedAt, finishedAt, switchovers, switchoverSeconds, heldFor } = figures;
  const heldSince = finishedAt === null ? milliseconds(hold?.since ?? null) : null;
  const heldNow =
    hold === undefined || heldSince === null
      ? []
      : [{ rule: hold.rule, seconds: Math.max(0, (now - Math.max(heldSince, startedAt)) / 1000) }];
  return {
    ...figures,
    switchoverSeconds: switchovers === 0 ? 0 : switchoverSeconds,
    heldFor: together([...heldFor, ...heldNow]),
    unavailableSeconds: sum((entry.memberDurations ?? []).map(({ seconds }) => seconds)),
  };
}

/** The image of a container as the last complete rollout left it, and the one that a rollout under way brings. */
export interface ClusterImage {
  readonly container: string;
  readonly now: string | null;
  readonly next: string | null;
}

/** As far as rollouts have recorded images. */
function imagesIn(entries: readonly HistoryEntry[]): readonly ClusterImage[] {
  const images = new Map<string, ClusterImage>();
  for (const { changes = [], outcome, finishedAt } of entries) {
    for (const { path, from = null, to = null } of changes) {
      const container = /^spec\.containers\[([^\]]+)\]\.image$/.exec(path)?.[1];
      if (container === undefined) continue;
      const now = images.get(container)?.now ?? from;
      if (finishedAt === '') images.set(container, { container, now, next: to });
      else images.set(container, { container, now: outcome === 'Complete' ? to : now, next: null });
    }
  }
  return [...images.values()];
}

/** How many clusters have each image, and to how many it is being rolled out, by container and image. */
export function imageCounts(clusters: readonly FleetCluster[]) {
  const all = clusters.flatMap(({ images }) => images);
  const names = all.flatMap(({ container, now, next }) =>
    [now, next].flatMap((image) => (image === null ? [] : [`${container} ${image}`])),
  );
  return [...new Set(names)].toSorted().map((name) => {
    const [container = '', image = ''] = name.split(' ');
    const own = all.filter((one) => one.container === container);
    return {
      container,
      image,
      clusters: own.filter(({ now }) => now === image).length,
      next: own.filter(({ next }) => next === image).length,
    };
  });
}

/** By rule, the longest first. */
export function together(all: readonly HeldFor[]): readonly HeldFor[] {
  return [...Map.groupBy(all, ({ rule }) => rule)]
    .map(([rule, times]) => ({ rule, seconds: sum(times.map(({ seconds }) => seconds)) }))
    .toSorted((one, other) => other.seconds - one.seconds || (one.rule < other.rule ? -1 : 1));
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** What each hold cost the fleet, the most first. */
export function holdCosts(clusters: readonly FleetCluster[]) {
  const times = clusters.flatMap((cluster) =>
    cluster.rollouts.flatMap(({ heldFor }) => heldFor.map((one) => ({ ...one, cluster }))),
  );
  const byRule = Map.groupBy(times, ({ rule }) => rule);
  return together(times).map(({ rule, seconds }) => {
    const own = byRule.get(rule) ?? [];
    return {
      rule,
      seconds,
      clusters: new Set(own.map(({ cluster }) => cluster)).size,
      longest: Math.max(...own.map((one) => one.seconds)),
      // How many rollouts it holds now.
      now: clusters.filter((one) => one.rolling && one.hold === rule).length,
    };
  });
}
