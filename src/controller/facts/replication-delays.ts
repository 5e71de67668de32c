import type { DelayReading, ReplicationDelay } from '../../core/on-demand-facts.ts';

/** The last reading of a pod, on the monotonic clock. */
export interface KnownDelay {
  readonly reading: DelayReading;
  readonly atMilliseconds: number;
  /** The first of the unknown readings in a row; `null` if the last one is not unknown. */
  readonly unknownSinceMilliseconds: number | null;
}

/** The readings as facts. */
export function delayFacts(
  known: ReadonlyMap<string, KnownDelay>,
  nowMilliseconds: number,
): readonly ReplicationDelay[] {
  const ageOf = (atMilliseconds: number): number => (nowMilliseconds - atMilliseconds) / 1000;
  return [...known].map(([uid, one]) => ({
    uid,
    reading: one.reading,
    ageSeconds: ageOf(one.atMilliseconds),
    unknownForSeconds: one.unknownSinceMilliseconds === null ? 0 : ageOf(one.unknownSinceMilliseconds),
  }));
}
