/**
 * A moment as Kubernetes' MicroTime, such as `2026-07-01T12:00:00.123000Z`. The API server refuses anything shorter in
 * leases and events. A formatter, not a clock: it reads no time itself.
 */
export function microTime(wallMilliseconds: number): string {
  // oxlint-disable-next-line no-restricted-globals
  return new Date(wallMilliseconds).toISOString().replace('Z', '000Z');
}
