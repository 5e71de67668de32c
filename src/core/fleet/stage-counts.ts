// Counts the clusters of each stage of a sequence by what they do.

export interface Stage {
  readonly name: string;
  /** Clusters that may roll at a time: a number, or a percentage of the stage's clusters such as `10%`. */
  readonly maxConcurrent: number | string;
  /** How long each cluster has to be complete and healthy before a later stage begins. */
  readonly soakSeconds: number;
  /** More failing clusters than this stop every cluster of the sequence that has not begun. */
  readonly maxFailures: number;
}

/** In which order clusters begin their rollouts. */
export interface Sequence {
  readonly name: string;
  /** Why its spec cannot be read, or `null`. Meanwhile no cluster that it may select begins. */
  readonly problem: string | null;
  /** How long a cluster has to be stale before it begins: a change may reach an earlier stage later. */
  readonly settleSeconds: number;
  /** At least one. The last one has the clusters that no other stage selects. */
  readonly stages: readonly Stage[];
}

export interface Place {
  readonly sequence: Sequence;
  readonly stage: number;
}

/** The name of the last stage if the spec does not say one. No stage of a spec can have it. */
export const othersStage = '(others)';

/**
 * How many clusters out of this many may roll at a time. A percentage is rounded down, and at least one may always
 * roll.
 */
export function concurrencyOf({ maxConcurrent }: Stage, clusters: number): number {
  if (typeof maxConcurrent === 'number') return Math.max(1, maxConcurrent);
  const percentage = Number.parseInt(maxConcurrent, 10);
  return Math.max(1, Math.floor((clusters * percentage) / 100));
}

/** A cluster, from its MySQLCluster and its MySQLRollout. */
export interface StagedCluster {
  /** `namespace/name`. */
  readonly key: string;
  readonly places: readonly Place[];
  /** Its rollout has begun or is about to, or nodes are checking whether it can, and no user holds it. */
  readonly rolling: boolean;
  /** When its first stale member was seen, in Unix seconds, if its rollout has not begun. Otherwise `null`. */
  readonly waitingSince: number | null;
  /** The same for a rollout that has not begun, or that has given up its turn. */
  readonly queuedSince: number | null;
  /** Its rollout waits for a turn and, as far as is known, only for other clusters. */
  readonly wantsTurn: boolean;
  /** Since when it has been complete and healthy, in Unix seconds. `null` if it is not, or if that is unknown. */
  readonly completeSince: number | null;
  readonly failing: boolean;
}

/**
 * A cluster that failed in its stage, or was the only one left there, when it was deleted, taken offline, or relabelled
 * in the middle of a change. What it would have shown about the change is lost.
 */
export interface GoneCluster {
  /** `namespace/name`. */
  readonly cluster: string;
  readonly failing: boolean;
  /** A cluster of the sequence has had a change to roll out since. */
  readonly followed: boolean;
}

/** The state of one stage's clusters. */
export interface StageCount {
  readonly clusters: number;
  readonly upToDate: number;
  readonly rolling: number;
  /** Neither rolling nor begun. */
  readonly waiting: number;
  /** Clusters in preflight count as rolling although they have not begun. */
  readonly notBegun: number;
  readonly failing: number;
  /** The first cluster, by name, that is not complete and healthy. `null` if all are. */
  readonly unfinished: string | null;
  /** The first failing cluster, by name. */
  readonly failed: string | null;
  /** The cluster that became complete last, and when. */
  readonly last: { readonly key: string; readonly since: number } | null;
  /** The clusters that need a turn, longest wait first. */
  readonly queue: readonly Queued[];
  readonly gone: readonly GoneCluster[];
}

export interface Queued {
  readonly key: string;
  readonly since: number;
}

/** Clusters are ordered by how long they have waited, then by name. */
export const isBefore = (one: Queued, other: Queued): boolean =>
  one.since < other.since || (one.since === other.since && one.key < other.key);

/** Counts the clusters of each stage. A cluster that two sequences select counts in both, so that both wait for it. */
export function stageCounts(
  sequence: Sequence,
  clusters: Iterable<StagedCluster>,
  goneFrom: (stage: string) => readonly GoneCluster[] = () => [],
): readonly StageCount[] {
  const stages = sequence.stages.map((): StagedCluster[] => []);
  for (const cluster of clusters) {
    for (const place of cluster.places) {
      if (place.sequence.name === sequence.name) stages[place.stage]?.push(cluster);
    }
  }
  return stages.map((members, index) => countOf(members, goneFrom(sequence.stages[index]?.name ?? '')));
}

function countOf(clusters: readonly StagedCluster[], gone: readonly GoneCluster[]): StageCount {
  const unfinished = clusters.filter(({ completeSince }) => completeSince === null);
  const failing = clusters.filter((one) => one.failing);
  const notBegun = clusters.filter(({ waitingSince }) => waitingSince !== null);
  const since = (of: (one: StagedCluster) => number | null): readonly Queued[] =>
    clusters.flatMap((one) => (of(one) === null ? [] : [{ key: one.key, since: of(one) ?? 0 }])).toSorted(inOrder);
  return {
    clusters: clusters.length,
    upToDate: clusters.length - unfinished.length,
    rolling: clusters.filter(({ rolling }) => rolling).length,
    waiting: notBegun.filter(({ rolling }) => !rolling).length,
    notBegun: notBegun.length,
    failing: failing.length,
    unfinished: firstOf(unfinished),
    failed: firstOf(failing),
    last: since(({ completeSince }) => completeSince).at(-1) ?? null,
    queue: since(({ queuedSince, wantsTurn, places }) => (wantsTurn && places.length === 1 ? queuedSince : null)),
    gone,
  };
}

const inOrder = (one: Queued, other: Queued): number => (isBefore(one, other) ? -1 : 1);

const firstOf = (clusters: readonly StagedCluster[]): string | null =>
  clusters.map(({ key }) => key).toSorted()[0] ?? null;
