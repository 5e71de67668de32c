/**
 * Milliseconds since 1970 of a timestamp as the API server writes it, or `null` where it is none. A parser, not a
 * clock: nobody here asks what time it is.
 */
export function milliseconds(timestamp: string | null): number | null {
  // oxlint-disable-next-line no-restricted-globals
  const value = timestamp === null ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(value) ? null : value;
}

/** A timestamp as the API server takes it, with milliseconds. */
export function timestampOf(wallMilliseconds: number): string {
  // oxlint-disable-next-line no-restricted-globals
  return new Date(wallMilliseconds).toISOString();
}
