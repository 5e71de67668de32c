import type { Step } from './decision.ts';
import type { HoldOf } from './rules/catalogue.ts';
import { type Outcome, type Situation, wait } from './situation.ts';
import type { Blackout, Interval, MaintenanceFacts, Moment } from './snapshot.ts';
import { takenAtWork } from './taken-at-work.ts';

/** The facts cover the next 30 days, so they are collected again long before these are over. */
const lookAgainSeconds = 86_400;

/**
 * Holds a step that takes a member that works and does not fit into the maintenance windows, or not before a blackout.
 * Every other hold is asked before: what is under way is judged as always, and the rollout rests between two members.
 */
export function outsideMaintenance(situation: Situation, outcome: Outcome | null): Outcome | null {
  const { snapshot, overridden, deadlines } = situation;
  const { maintenance } = snapshot;
  if (maintenance === null) return outcome;
  deadlines.reached(0, lookAgainSeconds);
  const seconds = neededSeconds(situation, maintenance, outcome?.step ?? null);
  if (seconds === null) return outcome;
  const times: Times = {
    windows: overridden.has('OutsideMaintenanceWindow') ? null : maintenance.windows,
    blackouts: overridden.has('Blackout') ? [] : maintenance.blackouts,
  };
  const opening = nextOpening(times, seconds);
  if (opening !== null && deadlines.reached(0, opening.inSeconds)) return outcome;
  return wait(closedBy(times, seconds, opening?.at ?? null));
}

/** How long the step takes a member that works; `null` if it takes none, or repairs. */
function neededSeconds(situation: Situation, { memberSeconds }: MaintenanceFacts, step: Step | null): number | null {
  const taken = takenAtWork(situation, step);
  if (taken.length === 0) return null;
  // Containers that restart in place need no switchover.
  const movesPrimary =
    step?.kind !== 'updateInPlace' && step?.kind !== 'resizeInPlace' && taken.some(({ primary }) => primary);
  return movesPrimary ? primarySeconds(situation, memberSeconds) : memberSeconds;
}

/** A switchover and the update of the old primary belong together. */
const primarySeconds = ({ replicas, policy }: Pick<Situation, 'replicas' | 'policy'>, memberSeconds: number): number =>
  memberSeconds + (replicas > 1 ? policy.switchoverTimeoutSeconds : 0);

type Times = Pick<MaintenanceFacts, 'windows' | 'blackouts'>;

const now: Moment = { inSeconds: 0, at: 'now' };
const never: Moment = { inSeconds: Number.POSITIVE_INFINITY, at: 'never' };

/** When the next opening begins that is so long, be it now; `null` if none of the next 30 days is. */
function nextOpening({ windows, blackouts }: Times, seconds: number): Moment | null {
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

/** The window is over, or is over first; else a blackout is in the way. */
function closedBy(
  { windows, blackouts }: Times,
  neededSeconds: number,
  opensAt: string | null,
): HoldOf<'OutsideMaintenanceWindow'> | HoldOf<'Blackout'> {
  const window = windows?.find(({ from, until }) => from.inSeconds <= 0 && until.inSeconds > 0);
  const openForSeconds = windows === null ? neededSeconds : (window?.until.inSeconds ?? 0);
  const blackout = blackouts.find(
    ({ from, until }) =>
      until.inSeconds > 0 && (from.inSeconds <= 0 || from.inSeconds < Math.min(neededSeconds, openForSeconds)),
  );
  return blackout === undefined
    ? { rule: 'OutsideMaintenanceWindow', closesAt: window?.until.at ?? null, neededSeconds, opensAt }
    : {
        rule: 'Blackout',
        from: blackout.from.at,
        until: blackout.until.at,
        reason: blackout.reason,
        begun: blackout.from.inSeconds <= 0,
        neededSeconds,
        opensAt,
      };
}

/** Whether the update of the primary, which takes longest, fits into the next 30 days, without any override. */
export function hasOpening({ maintenance, cluster }: Situation['snapshot'], policy: Situation['policy']): boolean {
  if (maintenance === null) return true;
  const { replicas } = cluster;
  return nextOpening(maintenance, primarySeconds({ replicas, policy }, maintenance.memberSeconds)) !== null;
}

/** The facts at an opening that a hold has named. */
export function atOpening(maintenance: MaintenanceFacts, at: string): MaintenanceFacts {
  const { windows, blackouts } = maintenance;
  const openings = [...(windows ?? []).map(({ from }) => from), ...blackouts.map(({ until }) => until)];
  return afterSeconds(maintenance, openings.find((one) => one.at === at)?.inSeconds ?? 0);
}

/** The facts that much later. */
export function afterSeconds(maintenance: MaintenanceFacts, seconds: number): MaintenanceFacts {
  const moved = ({ inSeconds, at }: Moment): Moment => ({ inSeconds: inSeconds - seconds, at });
  const all = <Kind extends Interval>(intervals: readonly Kind[]): readonly Kind[] =>
    intervals.map((one) => ({ ...one, from: moved(one.from), until: moved(one.until) }));
  const { windows, blackouts } = maintenance;
  return { ...maintenance, windows: windows && all(windows), blackouts: all(blackouts) };
}
