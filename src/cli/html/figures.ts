import type { MySQLRollout } from '../../api/rollout.ts';
import type { HistoryEntry } from '../../api/rollout-progress.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { viewOf } from '../terminal/view.ts';

// The figures of a report, from the history in the statuses of MySQLRollouts.

interface HeldFor {
  readonly rule: string;
  readonly seconds: number;
}

/** The rollouts in a status, oldest first. A rollout in progress has no end. */
export const entriesOf = ({ rollout, history = [], phase = 'Progressing' }: RolloutStatus): readonly HistoryEntry[] => [
  ...history,
  ...(rollout ? [{ ...rollout, finishedAt: '', outcome: phase }] : []),
];

/** The outcome of a rollout that was superseded before it changed any member. */
export const notBegun = 'NotBegun';

/** The figures of one rollout. Times are in milliseconds since 1970, durations in seconds. */
export function figuresOf(entry: HistoryEntry, nowMilliseconds: number) {
  const { memberDurations = [], updatedInPlace = [], updatedOutOfBand = [], mysqldRestarted = [] } = entry;
  const changed = entry.disruptions + memberDurations.length + updatedInPlace.length + updatedOutOfBand.length;
  // If a member's mysqld restarted anyway, the update in place did not avoid a restart.
  const went = updatedInPlace.filter((ordinal) => !mysqldRestarted.includes(ordinal));
  const among = (ordinals: readonly number[] = []) => ordinals.filter((ordinal) => went.includes(ordinal)).length;
  return {
    startedAt: milliseconds(entry.startedAt) ?? nowMilliseconds,
    // `null` while the rollout is in progress.
    finishedAt: milliseconds(entry.finishedAt),
    outcome: entry.outcome === 'Superseded' && changed === 0 ? notBegun : entry.outcome,
    disruptions: entry.disruptions,
    switchovers: entry.switchovers,
    // The total duration of all switchovers, each from the request until a different member was the primary. `null` if
    // that was not recorded.
    switchoverSeconds: entry.switchoverSeconds ?? null,
    // The holds that have ended, longest first.
    heldFor: entry.heldFor ?? [],
    // The restarts and switchovers that updates in place have avoided, and how many of the updated members were
    // resized.
    avoided: { restarts: went.length, switchovers: among(entry.primaryInPlace), resized: among(entry.resizedInPlace) },
  };
}

interface ListedCluster {
  readonly cluster: Parameters<typeof viewOf>[0];
  readonly rollout: MySQLRollout | null;
}

/** One cluster with its rollouts in the period, newest first. */
export type FleetCluster = ReturnType<typeof fleetCluster>;
export type FleetRollout = FleetCluster['rollouts'][number];

/** Clusters that need a person come first, then clusters in progress, then the others by their newest rollout. */
export function fleetClusters(
  listed: readonly ListedCluster[],
  sinceMilliseconds: number,
  nowMilliseconds: number,
): readonly FleetCluster[] {
  const rankOf = ({ stalled, rollout, rollouts }: FleetCluster): number =>
    stalled ? 0 : rollout !== null ? 1 : rollouts.length > 0 ? 2 : 3;
  const newestOf = ({ rollouts }: FleetCluster): number => rollouts[0]?.startedAt ?? 0;
  return listed
    .map((one) => fleetCluster(one, sinceMilliseconds, nowMilliseconds))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || newestOf(other) - newestOf(one));
}

function fleetCluster({ cluster, rollout }: ListedCluster, since: number, now: number) {
  const { status = {} } = rollout ?? {};
  const entries = entriesOf(status);
  return {
    ...viewOf(cluster, rollout, now),
    images: imagesIn(entries),
    rollouts: entries
      .map((entry) => fleetRollout(entry, status.hold, now))
      .filter(({ finishedAt }) => finishedAt === null || finishedAt >= since)
      .toReversed(),
  };
}

/** In the result, `heldFor` includes the current hold, and `switchoverSeconds` is 0 without a switchover. */
function fleetRollout(entry: HistoryEntry, hold: RolloutStatus['hold'], now: number) {
  const figures = figuresOf(entry, now);
  const heldSince = figures.finishedAt === null ? milliseconds(hold?.since ?? null) : null;
  const heldNow =
    hold === undefined || heldSince === null
      ? []
      : [{ rule: hold.rule, seconds: Math.max(0, (now - Math.max(heldSince, figures.startedAt)) / 1000) }];
  return {
    ...figures,
    switchoverSeconds: figures.switchovers === 0 ? 0 : figures.switchoverSeconds,
    heldFor: together([...figures.heldFor, ...heldNow]),
    // The total time for which members of the cluster were unavailable.
    unavailableSeconds: sum((entry.memberDurations ?? []).map(({ seconds }) => seconds)),
  };
}

/**
 * For each container, its image after the last complete rollout, and its image in a rollout in progress. Images that no
 * rollout has recorded are missing.
 */
function imagesIn(entries: readonly HistoryEntry[]) {
  const images = new Map<string, { container: string; now: string | null; next: string | null }>();
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

/** For each container and image: how many clusters run the image, and how many are being updated to it. */
export function imageCounts(clusters: readonly FleetCluster[]) {
  const all = clusters.flatMap(({ images }) => images);
  const names = all.flatMap(({ container, now, next }) =>
    [now, next].flatMap((image) => (image === null ? [] : [`${container} ${image}`])),
  );
  return [...new Set(names)].toSorted().map((name) => {
    const [container = '', image = ''] = name.split(' ');
    const own = all.filter((one) => one.container === container);
    const withIt = (field: 'now' | 'next'): number => own.filter((one) => one[field] === image).length;
    return { container, image, clusters: withIt('now'), next: withIt('next') };
  });
}

/** The total time for which each rule held rollouts, longest first. */
export function together(all: readonly HeldFor[]): readonly HeldFor[] {
  return [...Map.groupBy(all, ({ rule }) => rule)]
    .map(([rule, times]) => ({ rule, seconds: sum(times.map(({ seconds }) => seconds)) }))
    .toSorted((one, other) => other.seconds - one.seconds || (one.rule < other.rule ? -1 : 1));
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** How long each rule has held clusters of the fleet, longest first. */
export function holdCosts(clusters: readonly FleetCluster[]) {
  const times = clusters.flatMap((cluster) =>
    cluster.rollouts.flatMap(({ heldFor }) => heldFor.map((one) => ({ ...one, cluster }))),
  );
  return together(times).map(({ rule, seconds }) => {
    const own = times.filter((one) => one.rule === rule);
    return {
      rule,
      seconds,
      clusters: new Set(own.map(({ cluster }) => cluster)).size,
      longest: Math.max(...own.map((one) => one.seconds)),
      now: clusters.filter((one) => one.rollout !== null && one.hold?.rule === rule).length,
    };
  });
}
