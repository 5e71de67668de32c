import { beginMeasure, type Measure, measured } from './measure.ts';
import { isWhole, type Sight } from './sight.ts';

/** What was seen of a cluster so far. Moments are milliseconds of the monotonic clock. */
export interface Observation {
  readonly sight: Sight;
  /** Restarts and switchovers since the change that is timed. */
  readonly measure: Measure;
  /** Ordinals of members that are missing, terminating, down, or have not been back since. */
  readonly unavailable: readonly number[];
  readonly mostUnavailable: number;
  /** How often the primary has moved, by switchover or failover. */
  readonly moves: number;
  /** Since when every member is back and updated; `null` while one is not. */
  readonly wholeSince: number | null;
  /** When anything about the members, their roles or MOCO's opinion of them was last seen to change. */
  readonly changedAt: number;
}

export function beginObservation(sight: Sight): Observation {
  const unavailable = nowAway([], sight);
  const { atMilliseconds } = sight;
  const measure = beginMeasure(atMilliseconds);
  return {
    sight,
    measure,
    unavailable,
    mostUnavailable: unavailable.length,
    moves: 0,
    wholeSince: null,
    changedAt: atMilliseconds,
  };
}

/** Restarts the time; keeps the counts. */
export function restarted(observation: Observation, atMilliseconds: number): Observation {
  return { ...observation, measure: beginMeasure(atMilliseconds), wholeSince: null, changedAt: atMilliseconds };
}

/** Takes in the next sight. */
export function observed(before: Observation, sight: Sight): Observation {
  const unavailable = nowAway(before.unavailable, sight);
  const moved = before.sight.primary >= 0 && sight.primary !== before.sight.primary;
  return {
    sight,
    measure: measured(before.measure, before.sight, sight),
    unavailable,
    mostUnavailable: Math.max(before.mostUnavailable, unavailable.length),
    moves: before.moves + (moved ? 1 : 0),
    wholeSince: isWhole(sight) ? (before.wholeSince ?? sight.atMilliseconds) : null,
    changedAt: outline(sight) === outline(before.sight) ? before.changedAt : sight.atMilliseconds,
  };
}

/** A replica that has only lost its source runs, and is not counted. */
function nowAway(before: readonly number[], { members }: Sight): readonly number[] {
  return members
    .filter(({ ordinal, state }) => {
      switch (state) {
        case 'participating':
        case 'impaired':
          return false;
        case 'running':
          return before.includes(ordinal);
        case 'missing':
        case 'terminating':
        case 'starting':
        case 'down':
        case 'unreachable':
          return true;
      }
    })
    .map(({ ordinal }) => ordinal);
}

/** What a rollout moves; words about it, ours in particular, are no move. */
function outline({ members, primary, healthy, available, updateRevision }: Sight): string {
  return JSON.stringify([members, primary, healthy, available, updateRevision]);
}
