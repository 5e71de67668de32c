/** A measured value, with the limit that it must keep. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly digits: number;
  /** In the unit of the figure. */
  readonly limit?: number | undefined;
  /** How the value must compare with the limit; `<` by default. */
  readonly sense?: '<' | '≤' | '≥';
}

export const shown = ({ value, digits, unit }: Figure): string => `${value.toFixed(digits)} ${unit}`.trim();

/** Empty if the figure has no limit. */
export const limitOf = ({ limit, unit, sense = '<' }: Figure): string =>
  limit === undefined ? '' : `${sense} ${limit} ${unit}`.trim();

/** Whether the figure misses its limit. NaN (not measured) misses any limit. */
export function isMissed({ value, limit, sense = '<' }: Figure): boolean {
  if (limit === undefined) return false;
  const isWithin = { '<': value < limit, '≤': value <= limit, '≥': value >= limit }[sense];
  return !isWithin;
}
