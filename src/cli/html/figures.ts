import type { MySQLRollout } from '../../api/rollout.ts';
import { type HistoryEntry, isTrue, type RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../moco/json.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { overridesInForce } from '../terminal/view.ts';

/** How long a rule held a rollout. */
interface HeldFor {
  readonly rule: string;
  readonly seconds: number;
}

/** What would have happened without updates in place. */
interface Avoided {
  readonly restarts: number;
  readonly switchovers: number;
  /** Of these members, those whose containers got other resources. */
  readonly resized: number;
}

/** One rollout of a cluster. Times are milliseconds since 1970, durations seconds. */
export interface Figures {
  readonly startedAt: number;
  /** `null` while it is in progress. */
  readonly finishedAt: number | null;
  readonly outcome: string;
  readonly disruptions: number;
  readonly switchovers: number;
  /** Of these switchovers together, from the request until another member was the primary; `null` if not recorded. */
  readonly switchoverSeconds: number | null;
  /** The holds that have ended, the longest first. */
  readonly heldFor: readonly HeldFor[];
  /** By updates in place. */
  readonly avoided: Avoided;
}

/** The rollouts in a status, the oldest first. The one under way has no end. */
export const entriesOf = ({ rollout, history = [], phase = 'Progressing' }: RolloutStatus): readonly HistoryEntry[] => [
  ...history,
  ...(rollout ? [{ ...rollout, finishedAt: '', outcome: phase }] : []),
];

export function figuresOf(entry: HistoryEntry, nowMilliseconds: number): Figures {
  const { disruptions, switchovers, switchoverSeconds = null, heldFor = [] } = entry;
  const startedAt = milliseconds(entry.startedAt) ?? nowMilliseconds;
  const finishedAt = milliseconds(entry.finishedAt);
  const avoided = avoidedBy(entry);
  const outcome = entry.outcome === 'Superseded' && !hasBegun(entry) ? notBegun : entry.outcome;
  return { startedAt, finishedAt, outcome, disruptions, switchovers, switchoverSeconds, heldFor, avoided };
}

/** The outcome of a rollout that another one superseded before it had changed a member. */
export const notBegun = 'NotBegun';

const hasBegun = ({ disruptions, memberDurations = [], updatedInPlace = [], updatedOutOfBand = [] }: HistoryEntry) =>
  disruptions + memberDurations.length + updatedInPlace.length + updatedOutOfBand.length > 0;

/**
 * What the rollout has avoided by updates in place. A member whose mysqld restarted all the same has avoided nothing.
 */
function avoidedBy({
  updatedInPlace = [],
  resizedInPlace = [],
  primaryInPlace = [],
  mysqldRestarted = [],
}: HistoryEntry): Avoided {
  const went = updatedInPlace.filter((ordinal) => !mysqldRestarted.includes(ordinal));
  const among = (ordinals: readonly number[]): number => ordinals.filter((ordinal) => went.includes(ordinal)).length;
  return { restarts: went.length, switchovers: among(primaryInPlace), resized: among(resizedInPlace) };
}

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
  const stalled = isTrue(status?.conditions, 'Stalled');
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
interface ClusterImage {
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
