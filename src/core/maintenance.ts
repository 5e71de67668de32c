import type { Asked } from './rules/rule.ts';
import type { Situation } from './situation.ts';
import type { Blackout, Interval, MaintenanceFacts, Moment } from './snapshot.ts';

// Whether a step fits into maintenance windows and before blackouts.

/** What blocks a step that replaces a working member: a window that is too short, or a blackout. */
interface ClosedWindow {
  /** When the current window closes, if that is too soon for the step. */
  readonly closesAt: string | null;
  readonly neededSeconds: number;
  /** When the next sufficiently long window opens, within 30 days. */
  readonly opensAt: string | null;
}

interface BlackoutAhead {
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  /** True once the blackout has begun. Until then, the hold exists because the step would last into the blackout. */
  readonly begun: boolean;
  readonly neededSeconds: number;
  readonly opensAt: string | null;
}

export interface ClosedBy {
  readonly OutsideMaintenanceWindow: ClosedWindow;
  readonly Blackout: BlackoutAhead;
}

/**
 * Why the step does not fit into the maintenance windows, or why it does not fit before a blackout. `null` if the step
 * fits, or if the other of these two rules explains the wait. If one rule is overridden, both ignore its windows or
 * blackouts, so that the remaining rule names the right opening.
 */
export function closedBy<Rule extends keyof ClosedBy>(asked: Asked, rule: Rule): ClosedBy[Rule] | null {
  const { snapshot, overridden, deadlines } = asked.situation;
  const { maintenance } = snapshot;
  if (maintenance === null) return null;
  const times: Times = {
    windows: overridden.has('OutsideMaintenanceWindow') ? null : maintenance.windows,
    blackouts: overridden.has('Blackout') ? [] : maintenance.blackouts,
  };
  const seconds = neededSeconds(asked, maintenance);
  const opening = nextOpening(times, seconds);
  if (opening !== null && deadlines.reached(0, opening.inSeconds)) return null;
  return closing(times, seconds, opening?.at ?? null)[rule] ?? null;
}

/**
 * How long the step takes, including the switchover of the primary. Containers that restart in place need no
 * switchover.
 */
function neededSeconds({ situation, step, members }: Asked, { memberSeconds }: MaintenanceFacts): number {
  const isInPlace = step.kind === 'updateInPlace' || step.kind === 'resizeInPlace';
  return !isInPlace && members.some(({ primary }) => primary)
    ? primarySeconds(situation, memberSeconds)
    : memberSeconds;
}

/**
 * If the window is over, or ends before the blackout begins, the window blocks the step. Otherwise the blackout blocks
 * it.
 */
function closing({ windows, blackouts }: Times, neededSeconds: number, opensAt: string | null): Partial<ClosedBy> {
  const window = windows?.find(({ from, until }) => from.inSeconds <= 0 && until.inSeconds > 0);
  const openForSeconds = windows === null ? neededSeconds : (window?.until.inSeconds ?? 0);
  const blackout = blackouts.find(
    ({ from, until }) =>
      until.inSeconds > 0 && (from.inSeconds <= 0 || from.inSeconds < Math.min(neededSeconds, openForSeconds)),
  );
  if (blackout === undefined) {
    return { OutsideMaintenanceWindow: { closesAt: window?.until.at ?? null, neededSeconds, opensAt } };
  }
  const { from, until, reason } = blackout;
  const begun = from.inSeconds <= 0;
  return { Blackout: { from: from.at, until: until.at, reason, begun, neededSeconds, opensAt } };
}

const lookAgainSeconds = 86_400;

/** The facts cover only the next 30 days, so the decision is repeated well before they end. */
export function lookAgain({ snapshot, deadlines }: Situation): void {
  if (snapshot.maintenance !== null) deadlines.reached(0, lookAgainSeconds);
}

/**
 * Whether the next 30 days have an opening for the update of the primary, which takes longest. Overrides do not count.
 */
export function hasOpening({ maintenance, cluster }: Situation['snapshot'], policy: Situation['policy']): boolean {
  if (maintenance === null) return true;
  const { replicas } = cluster;
  return nextOpening(maintenance, primarySeconds({ replicas, policy }, maintenance.memberSeconds)) !== null;
}

// The user's windows and blackouts, relative to now.

/** How long the update of the primary takes, including the switchover. Both have to fit into the same opening. */
export const primarySeconds = (
  { replicas, policy }: Pick<Situation, 'replicas' | 'policy'>,
  memberSeconds: number,
): number => memberSeconds + (replicas > 1 ? policy.switchoverTimeoutSeconds : 0);

export type Times = Pick<MaintenanceFacts, 'windows' | 'blackouts'>;

const now: Moment = { inSeconds: 0, at: 'now' };
const never: Moment = { inSeconds: Number.POSITIVE_INFINITY, at: 'never' };

/** The start of the next (or current) opening of at least this length; `null` if there is none in the next 30 days. */
export function nextOpening({ windows, blackouts }: Times, seconds: number): Moment | null {
  for (const { from, until } of blackouts.reduce(without, windows ?? [{ from: now, until: never }])) {
    const start = later(from, now);
    if (until.inSeconds - start.inSeconds >= seconds) return start;
  }
  return null;
}

const without = (open: readonly Interval[], blackout: Blackout): readonly Interval[] =>
  open
    .flatMap(({ from, until }) => [
      { from, until: earlier(until, blackout.from) },
      { from: later(from, blackout.until), until },
    ])
    .filter(({ from, until }) => from.inSeconds < until.inSeconds);

const earlier = (one: Moment, other: Moment): Moment => (one.inSeconds <= other.inSeconds ? one : other);
const later = (one: Moment, other: Moment): Moment => (one.inSeconds >= other.inSeconds ? one : other);

export function secondsUntil({ windows, restartWindows, blackouts }: MaintenanceFacts, opensAt: string): number {
  const openings = [
    ...[...(windows ?? []), ...(restartWindows ?? [])].map(({ from }) => from),
    ...blackouts.map(({ until }) => until),
  ];
  return openings.find(({ at }) => at === opensAt)?.inSeconds ?? 0;
}

export function afterSeconds(maintenance: MaintenanceFacts, seconds: number): MaintenanceFacts {
  const moved = ({ inSeconds, at }: Moment): Moment => ({ inSeconds: inSeconds - seconds, at });
  const all = <Kind extends Interval>(intervals: readonly Kind[]): readonly Kind[] =>
    intervals.map((one) => ({ ...one, from: moved(one.from), until: moved(one.until) }));
  const { windows, restartWindows, blackouts } = maintenance;
  return {
    ...maintenance,
    windows: windows && all(windows),
    restartWindows: restartWindows && all(restartWindows),
    blackouts: all(blackouts),
  };
}
