// The last answer to a question, and since when every answer has been unusable.

/**
 * If more time than this lies between two answers, the second one starts a new series, because it belongs to a
 * different step.
 */
export const seriesMilliseconds = 60_000;

/** The last answer to a question that is asked repeatedly. Times are on the monotonic clock. */
export interface Answered<Reading extends { readonly kind: string }> {
  readonly reading: Reading;
  readonly atMilliseconds: number;
  /**
   * The time of the first unknown reading in the current unbroken series of unknown readings. `null` if the last
   * reading is known.
   */
  readonly unknownSinceMilliseconds: number | null;
}

export function answered<Reading extends { readonly kind: string }>(
  reading: Reading,
  before: Answered<Reading> | undefined,
  atMilliseconds: number,
): Answered<Reading> {
  const isSeries = before !== undefined && atMilliseconds - before.atMilliseconds < seriesMilliseconds;
  const since = (isSeries ? before.unknownSinceMilliseconds : null) ?? atMilliseconds;
  return { reading, atMilliseconds, unknownSinceMilliseconds: reading.kind === 'unknown' ? since : null };
}

export const answerFacts = <Reading extends { readonly kind: string }>(
  { reading, atMilliseconds, unknownSinceMilliseconds }: Answered<Reading>,
  nowMilliseconds: number,
) => ({
  reading,
  ageSeconds: (nowMilliseconds - atMilliseconds) / 1000,
  unknownForSeconds: unknownSinceMilliseconds === null ? 0 : (nowMilliseconds - unknownSinceMilliseconds) / 1000,
});
