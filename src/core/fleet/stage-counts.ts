// Counts the clusters of each stage of a sequence by what they do.

export interface Stage {
  readonly name: string;
  /** How many clusters may roll at a time: a number, or a percentage of the stage's clusters such as `10%`. */
  readonly maxConcurrent: number | string;
  /** How long each cluster must have been complete and healthy before a later stage begins. */
  readonly soakSeconds: number;
  /** If more clusters of the stage than this fail, no cluster of the sequence begins a rollout. */
  readonly maxFailures: number;
}

/** In which order clusters begin their rollouts. */
export interface Sequence {
  readonly name: string;
  /**
   * Why the spec of the sequence cannot be read, or `null`. Until it can be read, no cluster that the sequence may
   * select begins a rollout.
   */
  readonly problem: string | null;
  /**
   * How long a cluster has to be stale before its rollout begins. In that time, the same change can reach the clusters
   * of earlier stages.
   */
  readonly settleSeconds: number;
  /** At least one stage. The last one contains the clusters that no other stage selects. */
  readonly stages: readonly Stage[];
}

export interface Place {
  readonly sequence: Sequence;
  readonly stage: number;
}

/** The name of the last stage if the spec does not name it. No stage of a spec can have this name. */
export const othersStage = '(others)';

/**
 * How many of the stage's clusters may roll at a time. A percentage is rounded down, but at least one cluster may
 * always roll.
 */
export function concurrencyOf({ maxConcurrent }: Stage, clusters: number): number {
  if (typeof maxConcurrent === 'number') return Math.max(1, maxConcurrent);
  const percentage = Number.parseInt(maxConcurrent, 10);
  return Math.max(1, Math.floor((clusters * percentage) / 100));
}

/** What a sequence needs to know about a cluster, from its MySQLCluster and its MySQLRollout. */
export interface StagedCluster {
  /** `namespace/name`. */
  readonly key: string;
  readonly places: readonly Place[];
  /** The rollout has begun or is about to begin, or a preflight is running. No user holds the rollout. */
  readonly rolling: boolean;
  /** While the rollout has not begun: when the first stale member was seen, in Unix seconds. Otherwise `null`. */
  readonly waitingSince: number | null;
  /** Like `waitingSince`, but also set for a rollout that has given up its turn. */
  readonly queuedSince: number | null;
  /** The rollout waits for other clusters, and is not known to wait for anything else. */
  readonly wantsTurn: boolean;
  /**
   * The time since which the cluster has been complete and healthy, in Unix seconds. `null` if the cluster is not
   * complete and healthy, or if the time is unknown.
   */
  readonly completeSince: number | null;
  readonly failing: boolean;
}

/**
 * A cluster that was deleted, taken offline or relabelled in the middle of a change. Before that, the cluster had
 * failed in its stage, or no other cluster was left in the stage. So it remains unknown whether the change works in
 * that stage.
 */
export interface GoneCluster {
  /** `namespace/name`. */
  readonly cluster: string;
  readonly failing: boolean;
  /** After this cluster was gone, a cluster of the sequence had a change to roll out. */
  readonly followed: boolean;
}

/** The state of one stage's clusters. */
export interface StageCount {
  readonly clusters: number;
  readonly upToDate: number;
  readonly rolling: number;
  /** Clusters that are not rolling and have not begun a rollout. */
  readonly waiting: number;
  /** Clusters with a rollout that has not begun. During a preflight such a cluster already counts as rolling. */
  readonly notBegun: number;
  readonly failing: number;
  /** The first cluster, by name, that is not complete and healthy. `null` if all are. */
  readonly unfinished: string | null;
  /** The first failing cluster, by name. */
  readonly failed: string | null;
  /** The cluster that became complete last, and the time. */
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

/**
 * Counts the clusters of each stage. A cluster that two sequences select counts in both sequences, so that both wait
 * for it.
 */
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
