import type { HistoryEntry, RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../moco/json.ts';

/** How long a rule held a rollout. */
export interface HeldFor {
  readonly rule: string;
  readonly seconds: number;
}

/** What would have happened without updates in place. */
export interface Avoided {
  readonly restarts: number;
  readonly switchovers: number;
  /** Of these members, those whose containers got other resources. */
  readonly resized: number;
}

/** One rollout of a cluster. Times are milliseconds since 1970, durations seconds. */
export interface Figures {
  readonly startedAt: number;
  /** `null` while it is in progress. */
  readonly finishedAt: number | null;
  readonly outcome: string;
  readonly disruptions: number;
  readonly switchovers: number;
  /** Of these switchovers together, from the request until another member was the primary; `null` if not recorded. */
  readonly switchoverSeconds: number | null;
  /** The holds that have ended, the longest first. */
  readonly heldFor: readonly HeldFor[];
  /** By updates in place. */
  readonly avoided: Avoided;
}

/** The rollouts in a status, the oldest first. The one under way has no end. */
export const entriesOf = ({ rollout, history = [], phase = 'Progressing' }: RolloutStatus): readonly HistoryEntry[] => [
  ...history,
  ...(rollout ? [{ ...rollout, finishedAt: '', outcome: phase }] : []),
];

export function figuresOf(entry: HistoryEntry, nowMilliseconds: number): Figures {
  const { disruptions, switchovers, switchoverSeconds = null, heldFor = [] } = entry;
  const startedAt = milliseconds(entry.startedAt) ?? nowMilliseconds;
  const finishedAt = milliseconds(entry.finishedAt);
  const avoided = avoidedBy(entry);
  const outcome = entry.outcome === 'Superseded' && !hasBegun(entry) ? notBegun : entry.outcome;
  return { startedAt, finishedAt, outcome, disruptions, switchovers, switchoverSeconds, heldFor, avoided };
}

/** The outcome of a rollout that another one superseded before it had changed a member. */
export const notBegun = 'NotBegun';

const hasBegun = ({ disruptions, memberDurations = [], updatedInPlace = [], updatedOutOfBand = [] }: HistoryEntry) =>
  disruptions + memberDurations.length + updatedInPlace.length + updatedOutOfBand.length > 0;

/**
 * What the rollout has avoided by updates in place. A member whose mysqld restarted all the same has avoided nothing.
 */
function avoidedBy({
  updatedInPlace = [],
  resizedInPlace = [],
  primaryInPlace = [],
  mysqldRestarted = [],
}: HistoryEntry): Avoided {
  const went = updatedInPlace.filter((ordinal) => !mysqldRestarted.includes(ordinal));
  const among = (ordinals: readonly number[]): number => ordinals.filter((ordinal) => went.includes(ordinal)).length;
  return { restarts: went.length, switchovers: among(primaryInPlace), resized: among(resizedInPlace) };
}
