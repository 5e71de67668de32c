import { isDeepStrictEqual } from 'node:util';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import { isBrief, isRoutine } from '../../core/rules/catalogue.ts';
import type { OwnWrite } from '../../objects/execute.ts';
import { unseenMilliseconds } from '../facts/last-step.ts';
import type { Observation } from '../pass/observe.ts';

// When a status is written: immediately, soon, or with the next write.

/** How long a brief hold is hidden, so that users see only holds that matter. */
export const shownAfterSeconds = 10;

/**
 * A hold that is part of every step gets an Event only if it lasts longer than this, because the step has its own
 * Event.
 */
const longStepSeconds = 60;

/** How many seconds a hold has to last before it may get an Event. */
export const reportedAfterSeconds = ({ rule }: Hold): number => (isRoutine(rule) ? longStepSeconds : 0);

export function isShown(hold: Hold, heldForSeconds: number): boolean {
  if (heldForSeconds >= shownAfterSeconds) return true;
  if (hold.rule === 'BlockedByPDB') return hold.cause === 'closed' || hold.cause === 'several';
  return !isBrief(hold.rule);
}

/** The hold that users see. If a brief hold has just begun, users still see an earlier hold that also applies. */
export function shownHold({
  decision: { hold, beneath },
  heldForSeconds,
  rollout,
}: Pick<Observation, 'decision' | 'heldForSeconds' | 'rollout'>): Hold | null {
  if (hold === null || isShown(hold, heldForSeconds)) return hold;
  return beneath.find(({ rule }) => rule === rollout?.status?.hold?.rule) ?? null;
}

/** Changes that occur within this time are written together. */
const coalescedMilliseconds = 1000;

/**
 * Data of members may be written late, because their claims contain it as well. Also, the member is about to become
 * ready, and then the status is written anyway.
 */
const dataWaitMilliseconds = 50_000;

/**
 * The time from which the wait of unwritten changes is measured, on the monotonic clock. It is later if only the data
 * of members has changed.
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
 * changes are written one second after they were first seen. Details wait for the next write, for ten seconds at most.
 * They are the state of members, and the success of a step that had an intent. An intent is always written at once,
 * together with the whole status.
 *
 * @param changedAtMilliseconds the result of `changesCountFrom`
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
  // If the cache does not show the last step yet, the status is about to change again.
  const seen = Math.max(now, ...ownWrites.map(({ sinceMilliseconds }) => sinceMilliseconds + unseenMilliseconds));
  if (differs(alarmingHold)) return seen;
  const waits = differs(withoutDetails) ? coalescedMilliseconds : shownAfterSeconds * 1000;
  return Math.max(seen, changedAtMilliseconds + waits);
}

function failedLastStep({ lastStep }: RolloutStatus): RolloutStatus['lastStep'] {
  return lastStep?.result === 'done' ? undefined : lastStep;
}

/** The rule of the hold, or `null` if every rollout waits for it, because such a hold requires no action. */
const alarmingHold = ({ hold }: RolloutStatus): string | null => (hold && !isRoutine(hold.rule) ? hold.rule : null);

/** Fields that change in every normal step, and fields that only repeat others. */
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
