/** A measured value, and the limit that it has to keep. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly digits: number;
  /** In the unit of the figure. */
  readonly limit?: number | undefined;
  /** How the value has to compare with the limit; below it by default. */
  readonly sense?: '<' | '≤' | '≥';
}

export const shown = ({ value, digits, unit }: Figure): string => `${value.toFixed(digits)} ${unit}`.trim();

/** Empty if the figure has no limit. */
export const limitOf = ({ limit, unit, sense = '<' }: Figure): string =>
  limit === undefined ? '' : `${sense} ${limit} ${unit}`.trim();

/** A figure that was not measured, NaN, misses its limit. */
export function isMissed({ value, limit, sense = '<' }: Figure): boolean {
  if (limit === undefined) return false;
  const isWithin = { '<': value < limit, '≤': value <= limit, '≥': value >= limit }[sense];
  return !isWithin;
}
