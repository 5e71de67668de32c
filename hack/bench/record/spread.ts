/** A summary of repeated measurements. */
export interface Spread {
  readonly lowest: number;
  readonly median: number;
  readonly highest: number;
}

/** All values are NaN if there are no measurements. */
export function spreadOf(values: readonly number[]): Spread {
  return { lowest: percentile(values, 0), median: median(values), highest: percentile(values, 1) };
}

/**
 * The smallest value that is not exceeded by at least this part (0 to 1) of all values (nearest rank); NaN if there are
 * no values.
 */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the two middle values; NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [lower, upper] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return lower === undefined || upper === undefined ? Number.NaN : (lower + upper) / 2;
}
