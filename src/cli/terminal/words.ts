import type { MemberStatus } from '../../api/rollout-status.ts';

const secondsAMinute = 60;
const secondsAnHour = 3600;
const secondsADay = 86_400;

/** A duration such as `41s`, `1m32s`, `2h05m` or `3d04h`, about as long as kubectl's. */
export function brief(durationSeconds: number): string {
  const seconds = Math.max(0, Math.round(durationSeconds));
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  if (seconds < secondsAMinute) return `${seconds}s`;
  if (seconds < secondsAnHour) return `${Math.floor(seconds / secondsAMinute)}m${two(seconds % secondsAMinute)}s`;
  if (seconds < secondsADay)
    return `${Math.floor(seconds / secondsAnHour)}h${two((seconds % secondsAnHour) / secondsAMinute)}m`;
  return `${Math.floor(seconds / secondsADay)}d${two((seconds % secondsADay) / secondsAnHour)}h`;
}

/** Seconds from a timestamp to a time of the same clock; `null` without a timestamp. */
export function secondsSince(timestampMilliseconds: number | null, nowMilliseconds: number): number | null {
  return timestampMilliseconds === null ? null : Math.max(0, (nowMilliseconds - timestampMilliseconds) / 1000);
}

/** `1 disruption`, `2 disruptions`. */
export const counted = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

/** A field of a pod template that changes: more people see it than the template, so it may have no values. */
export const changeInWords = (
  { path, from, to }: { readonly path: string; readonly from?: string; readonly to?: string },
  arrow = '->',
): string => (from === undefined && to === undefined ? path : `${path}: ${from ?? 'none'} ${arrow} ${to ?? 'none'}`);

/** What a replica lacks, in transactions. */
export const behind = (replication: MemberStatus['replication'] | null): string =>
  replication ? `${replication.notReceived ?? '?'} to receive, ${replication.notApplied} to apply` : '-';
