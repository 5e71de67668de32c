import { type MaintenanceSettings, type MaintenanceWindow, opensAt } from '../../api/maintenance-settings.ts';
import type { HistoryEntry } from '../../api/rollout-progress.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { secondsOf } from '../../api/schema.ts';
import { milliseconds, timestampOf } from '../../base/json.ts';
import type { MaintenanceFacts, Moment } from '../../core/snapshot.ts';

// The maintenance windows and blackouts of the next days, and how long it takes to replace a member.

const dayMilliseconds = 86_400_000;
/** One day more than the core needs, because openings stay cached for a day. */
const horizonMilliseconds = 31 * dayMilliseconds;

/** Both times are in milliseconds since 1970. */
interface Opening {
  readonly from: number;
  readonly until: number;
}

/**
 * When working members may be replaced, relative to the current wall-clock time. `null` if they may be replaced at any
 * time.
 */
export function maintenanceFacts(
  { maintenanceWindows, blackouts, expectedMemberSeconds, restartWindows }: MaintenanceSettings,
  status: RolloutStatus,
  nowMilliseconds: number,
): MaintenanceFacts | null {
  const moment = (at: number): Moment => ({
    inSeconds: (at - nowMilliseconds) / 1000,
    at: timestampOf(at).replace('.000Z', 'Z'),
  });
  const seen = <Kind extends Opening>(all: readonly Kind[]) =>
    all
      .filter(({ until }) => until > nowMilliseconds)
      .map((one) => ({ ...one, from: moment(one.from), until: moment(one.until) }));
  const ahead = seen(
    blackouts.map(({ from, until, reason }) => ({
      from: milliseconds(from) ?? 0,
      until: milliseconds(until) ?? 0,
      reason,
    })),
  );
  const opened = (windows: readonly MaintenanceWindow[]) =>
    windows.length === 0 ? null : seen(openings(windows, nowMilliseconds));
  if (maintenanceWindows.length + restartWindows.length === 0 && ahead.length === 0) return null;
  return {
    windows: opened(maintenanceWindows),
    restartWindows: opened(restartWindows),
    blackouts: ahead,
    memberSeconds: measuredMembers(status)?.seconds ?? expectedMemberSeconds,
  };
}

interface Calendar {
  readonly madeAt: number;
  readonly openings: readonly Opening[];
}

/**
 * Cached by windows, because computing a schedule takes longer than a decision, and many clusters have the same
 * windows.
 */
const calendars = new Map<string, Calendar>();
const mostCalendars = 1000;

function openings(windows: readonly MaintenanceWindow[], now: number): readonly Opening[] {
  const key = JSON.stringify(windows);
  const known = calendars.get(key);
  if (known !== undefined && now >= known.madeAt && now < known.madeAt + dayMilliseconds) return known.openings;
  if (calendars.size >= mostCalendars) calendars.clear();
  const made = { madeAt: now, openings: openingsFrom(windows, now) };
  calendars.set(key, made);
  return made.openings;
}

/**
 * The limit for one list of windows. It covers a month of two windows that open six times a day, or more than a week of
 * eight such windows. The limit matters because a tenant may change windows often, and each opening takes about 30 µs.
 */
const mostOpenings = 400;

/** The openings in order, without overlaps. The first opening may have begun already. */
function openingsFrom(windows: readonly MaintenanceWindow[], now: number): readonly Opening[] {
  const most = Math.floor(mostOpenings / windows.length);
  const all = windows.flatMap((window) => openingsOf(window, now, most));
  const apart: Opening[] = [];
  for (const opening of all.toSorted((one, other) => one.from - other.from)) {
    const last = apart.at(-1);
    if (last === undefined || opening.from > last.until) apart.push(opening);
    else apart[apart.length - 1] = { from: last.from, until: Math.max(last.until, opening.until) };
  }
  return apart;
}

/** The openings of a window that have not ended, up to the first one that reaches the horizon. */
function openingsOf(window: MaintenanceWindow, now: number, most: number): readonly Opening[] {
  const duration = (secondsOf(window.duration) ?? 0) * 1000;
  const end = now + horizonMilliseconds;
  const some: Opening[] = [];
  for (const from of opensAt(window, now)) {
    if (from >= end || some.length === most) break;
    if (from + duration > now) some.push({ from, until: from + duration });
    if (from + duration >= end) break;
  }
  return some;
}

/** How long a member is unavailable while it is replaced, as measured in recent rollouts. */
export interface MeasuredMembers {
  /** The median. An average would be distorted by a member that a failing revision kept down. */
  readonly seconds: number;
  readonly members: number;
}

/**
 * The median over the members of this rollout and of the last rollout that measured any. `null` if nothing was
 * measured.
 */
export function measuredMembers({ rollout, history = [] }: RolloutStatus): MeasuredMembers | null {
  const known = [...(rollout?.memberDurations ?? []), ...(lastMeasured(history)?.memberDurations ?? [])];
  const seconds = median(known.map((one) => one.seconds));
  return seconds === null ? null : { seconds, members: known.length };
}

/**
 * The last complete rollout that replaced members. Updates in place do not count, because they do not show how long a
 * new pod takes.
 */
export const lastMeasured = (history: readonly HistoryEntry[]): HistoryEntry | undefined =>
  history.findLast(({ outcome, memberDurations = [] }) => outcome === 'Complete' && memberDurations.length > 0);

/** `null` for an empty list. */
export function median(numbers: readonly number[]): number | null {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? null;
}
