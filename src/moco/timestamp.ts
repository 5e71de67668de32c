/**
 * Milliseconds since 1970 of a timestamp of the API server, or `null` if it is invalid. This only parses; it reads no
 * clock.
 */
export function milliseconds(timestamp: string | null): number | null {
  // oxlint-disable-next-line no-restricted-globals
  const value = timestamp === null ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(value) ? null : value;
}

/** A timestamp in the API server's format, with milliseconds. */
export function timestampOf(wallMilliseconds: number): string {
  // oxlint-disable-next-line no-restricted-globals
  return new Date(wallMilliseconds).toISOString();
}
