import { lookAgainSeconds, nextOpening, primarySeconds, type Times } from './openings.ts';
import type { Asked } from './rules/rule.ts';
import type { Situation } from './situation.ts';
import type { MaintenanceFacts } from './snapshot.ts';

/** What closes the way for a step that takes a member that works: a window that is too short, or a blackout. */
interface ClosedWindow {
  /** When the window closes that is open, but not for long enough. */
  readonly closesAt: string | null;
  /** How long the step is expected to take. */
  readonly neededSeconds: number;
  /** When the next window opens that is long enough, within 30 days. */
  readonly opensAt: string | null;
}

interface BlackoutAhead {
  readonly from: string;
  readonly until: string;
  readonly reason: string;
  /** Otherwise the step would not be over before it. */
  readonly begun: boolean;
  readonly neededSeconds: number;
  readonly opensAt: string | null;
}

export interface ClosedBy {
  readonly OutsideMaintenanceWindow: ClosedWindow;
  readonly Blackout: BlackoutAhead;
}

/**
 * The step does not fit into the maintenance windows, or not before a blackout; `null` if it fits, or if the other of
 * the two rules says why it does not. An overridden rule counts for neither, so that the other one names the next
 * opening.
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

/** Time in which the primary moves counts as well. Containers that restart in place need no switchover. */
function neededSeconds({ situation, step, members }: Asked, { memberSeconds }: MaintenanceFacts): number {
  const isInPlace = step.kind === 'updateInPlace' || step.kind === 'resizeInPlace';
  return !isInPlace && members.some(({ primary }) => primary)
    ? primarySeconds(situation, memberSeconds)
    : memberSeconds;
}

/** The window is over, or is over first; else a blackout is in the way. */
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

/** The facts cover the next 30 days, so the decision is made again long before these are over. */
export function lookAgain({ snapshot, deadlines }: Situation): void {
  if (snapshot.maintenance !== null) deadlines.reached(0, lookAgainSeconds);
}

/** Whether the update of the primary, which takes longest, fits into the next 30 days, without any override. */
export function hasOpening({ maintenance, cluster }: Situation['snapshot'], policy: Situation['policy']): boolean {
  if (maintenance === null) return true;
  const { replicas } = cluster;
  return nextOpening(maintenance, primarySeconds({ replicas, policy }, maintenance.memberSeconds)) !== null;
}
