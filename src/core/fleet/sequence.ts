/** A stage of a sequence. */
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
  /** Why its spec can't be read, or `null`. Then no cluster begins that it may select. */
  readonly problem: string | null;
  /** How long a cluster has to be stale before it begins: a change may reach an earlier stage later. */
  readonly settleSeconds: number;
  /** At least one. The last one has the clusters that no other stage selects. */
  readonly stages: readonly Stage[];
}

/** Where a sequence puts a cluster. */
export interface Place {
  readonly sequence: Sequence;
  /** The index of the stage. */
  readonly stage: number;
}

/** The name of the last stage if the spec does not say one. No stage of a spec can have it. */
export const othersStage = '(others)';

/** How many of so many clusters may roll at a time. A percentage is rounded down, and at least one may always roll. */
export function concurrencyOf({ maxConcurrent }: Stage, clusters: number): number {
  if (typeof maxConcurrent === 'number') return Math.max(1, maxConcurrent);
  const percentage = Number.parseInt(maxConcurrent, 10);
  return Math.max(1, Math.floor((clusters * percentage) / 100));
}
