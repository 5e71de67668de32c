import type { Step } from './decision.ts';
import { lookAgainSeconds, nextOpening, primarySeconds, type Times } from './openings.ts';
import type { HoldOf } from './rules/catalogue.ts';
import { type Outcome, type Situation, wait } from './situation.ts';
import type { MaintenanceFacts } from './snapshot.ts';
import { takenAtWork } from './taken-at-work.ts';

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
