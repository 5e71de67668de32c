import { isDeepStrictEqual } from 'node:util';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import { isBrief, isRoutine } from '../../core/rules/catalogue.ts';
import type { OwnWrite } from '../../objects/execute.ts';
import { unseenMilliseconds } from '../facts/last-step.ts';
import type { Observation } from '../pass/observe.ts';

// When a status is written: immediately, soon, or with the next write.

/** How long a brief hold is hidden, so that users see only waits that matter. */
export const shownAfterSeconds = 10;

/** Waits that are part of every step get an Event only if they take long: the step already has one. */
const longStepSeconds = 60;

/** After how many seconds a hold gets an Event, if it gets one. */
export const reportedAfterSeconds = ({ rule }: Hold): number => (isRoutine(rule) ? longStepSeconds : 0);

export function isShown(hold: Hold, heldForSeconds: number): boolean {
  if (heldForSeconds >= shownAfterSeconds) return true;
  if (hold.rule === 'BlockedByPDB') return hold.cause === 'closed' || hold.cause === 'several';
  return !isBrief(hold.rule);
}

/** The hold that users see. A brief hold that has just begun does not cover an earlier one that still holds. */
export function shownHold({
  decision: { hold, beneath },
  heldForSeconds,
  rollout,
}: Pick<Observation, 'decision' | 'heldForSeconds' | 'rollout'>): Hold | null {
  if (hold === null || isShown(hold, heldForSeconds)) return hold;
  return beneath.find(({ rule }) => rule === rollout?.status?.hold?.rule) ?? null;
}

/** Changes within this time are written together. */
const coalescedMilliseconds = 1000;

/** The data of a member are on its claim as well, and the member is about to be ready, which is written anyway. */
const dataWaitMilliseconds = 50_000;

/**
 * When the wait for the changes begins, on the monotonic clock. It begins later if only the data of members have
 * changed.
 */
export function changesCountFrom(
  status: RolloutStatus,
  before: RolloutStatus,
  earlierMilliseconds: number | null,
  now: number,
): number {
  const isDataAlone = isDeepStrictEqual(withoutData(status), withoutData(before));
  return Math.min(earlierMilliseconds ?? Infinity, isDataAlone ? now + dataWaitMilliseconds : now);
}

/**
 * When a status with changes is due, on the monotonic clock. Failed steps and holds are written immediately. Other
 * changes are written one second after they were first seen. Details wait for the next write, at most ten seconds: the
 * state of members, and the success of a step whose intent was written. An intent never waits, and carries the whole
 * status.
 *
 * @param changedAtMilliseconds from `changesCountFrom`
 */
export function dueAtMilliseconds(
  status: RolloutStatus,
  before: RolloutStatus,
  changedAtMilliseconds: number,
  ownWrites: readonly OwnWrite[],
  now: number,
): number {
  const differs = (part: (of: RolloutStatus) => unknown): boolean => !isDeepStrictEqual(part(status), part(before));
  if (differs(failedLastStep)) return now;
  // The cache is about to show the last step, which changes the status again.
  const seen = Math.max(now, ...ownWrites.map(({ sinceMilliseconds }) => sinceMilliseconds + unseenMilliseconds));
  if (differs(alarmingHold)) return seen;
  const waits = differs(withoutDetails) ? coalescedMilliseconds : shownAfterSeconds * 1000;
  return Math.max(seen, changedAtMilliseconds + waits);
}

function failedLastStep({ lastStep }: RolloutStatus): RolloutStatus['lastStep'] {
  return lastStep?.result === 'done' ? undefined : lastStep;
}

/** Rules that every rollout waits for even if all goes well require no action. */
const alarmingHold = ({ hold }: RolloutStatus): string | null => (hold && !isRoutine(hold.rule) ? hold.rule : null);

/** Fields that change in every regular step, or add nothing to the rest. */
const details: ReadonlySet<string> = new Set<keyof RolloutStatus>([
  'observedClusterGeneration',
  'participatingReplicas',
  'readyReplicas',
  'currentReplicas',
  'intent',
  'lastStep',
  'rollout',
  'members',
  'primary',
]);

/** The status without details, and without numbers in messages. */
const withoutDetails = ({ hold, conditions = [], ...status }: RolloutStatus): object => ({
  ...Object.fromEntries(Object.entries(status).filter(([field]) => !details.has(field))),
  hold: hold?.rule,
  conditions: conditions.map((one) => [one.type, one.status, one.reason]),
});

const withoutData = ({ members = [], ...status }: RolloutStatus): object => ({
  ...status,
  members: members.map(({ data: _, ...member }) => member),
});
