// The last answer to a question, and since when the answers have been unknown.

/** After a longer pause an answer belongs to another step. */
export const seriesMilliseconds = 60_000;

/** The last answer to a question that is asked again and again, on the monotonic clock. */
export interface Answered<Reading extends { readonly kind: string }> {
  readonly reading: Reading;
  readonly atMilliseconds: number;
  /** The first of the consecutive unknown readings; `null` if the last one is not unknown. */
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
