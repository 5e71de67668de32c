import { isDeepStrictEqual } from 'node:util';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { isRoutine } from '../../core/rules/catalogue.ts';
import { unseenMilliseconds } from '../facts/own-writes.ts';
import type { Memory } from '../memory/cluster-memory.ts';
import { shownAfterSeconds } from './shown.ts';

/** Changes within this time are written together. */
const coalescedMilliseconds = 1000;

/**
 * When a status with changes is due, on the monotonic clock. Failed steps and holds are written at once. Other changes
 * are written one second after they were first seen. Details are written with the next write, after ten seconds at the
 * latest: the state of members, and the success of a step whose intent was written. An intent never waits, and carries
 * the whole status.
 */
export function dueAtMilliseconds(
  status: RolloutStatus,
  before: RolloutStatus,
  { changedAtMilliseconds, ownWrites }: Pick<Memory, 'changedAtMilliseconds' | 'ownWrites'>,
  now: number,
): number {
  const differs = (part: (of: RolloutStatus) => unknown): boolean => !isDeepStrictEqual(part(status), part(before));
  if (differs(failedStep)) return now;
  // The cache is about to show the last step, which changes the status again.
  const seen = Math.max(now, ...ownWrites.map(({ sinceMilliseconds }) => sinceMilliseconds + unseenMilliseconds));
  if (differs(shownHold)) return seen;
  const waits = differs(withoutDetails) ? coalescedMilliseconds : shownAfterSeconds * 1000;
  return Math.max(seen, (changedAtMilliseconds ?? now) + waits);
}

function failedStep({ lastStep }: RolloutStatus): RolloutStatus['lastStep'] {
  return lastStep?.result === 'done' ? undefined : lastStep;
}

/** Rules that every rollout waits for even if all goes well need no action. */
const shownHold = ({ hold }: RolloutStatus): string | null => (hold && !isRoutine(hold.rule) ? hold.rule : null);

/** The status without what changes in every regular step, and without numbers in messages. */
function withoutDetails(status: RolloutStatus): object {
  const {
    participatingReplicas: _participating,
    readyReplicas: _ready,
    currentReplicas: _current,
    ...counted
  } = status;
  const {
    intent: _intent,
    lastStep: _step,
    rollout: _rollout,
    members: _members,
    primary: _primary,
    ...rest
  } = counted;
  const { observedClusterGeneration: _generation, hold, conditions = [], ...facts } = rest;
  return { ...facts, hold: hold?.rule, conditions: conditions.map((one) => [one.type, one.status, one.reason]) };
}
