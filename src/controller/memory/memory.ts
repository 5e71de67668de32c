import type { MySQLRollout } from '../../api/rollout.ts';
import type { Hold } from '../../core/decision.ts';
import type { World } from '../../kube/world.ts';
import { Ages } from '../../moco/ages.ts';
import { type Known, knownAtFirst } from '../facts/known.ts';

/** A change of the update revision, on both clocks. */
export interface RevisionChange {
  readonly atMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** Set by every observation. The status may be written later, but has to contain these times. */
export type Seen = Known['seen'] & {
  /** The last update revision, and when it appeared. `changed` is `null` if it existed at the start. */
  readonly updateRevision: { readonly value: string; readonly changed: RevisionChange | null } | null;
  /** Since when the current rule holds. Ends with the hold, or once a step is done. */
  readonly holding: { readonly rule: Hold['rule']; readonly sinceMilliseconds: number; readonly since: string } | null;
  /** The rollout that was last complete. Ends once the status is about another one. */
  readonly completed: { readonly revision: string; readonly at: string } | null;
  /** When members first participated at an update revision, by ordinal. Begins anew with another revision. */
  readonly back: { readonly revision: string; readonly at: ReadonlyMap<number, string> };
  /** A rollout that is not in the status yet. */
  readonly begun: { readonly revision: string; readonly at: string } | null;
  /** When a switchover ended that the status still has as requested. */
  readonly switchedOverAt: string | null;
};

/** Set by a step or by the write of a status. Ends once the cache shows it. */
export type Unseen = Known['unseen'] & {
  /** The newest MySQLRollout that this process has written. */
  readonly rollout: MySQLRollout | null;
};

/** Set at the end of a step. */
export type Steps = Known['steps'] & {
  /** The intent that is known to be settled, done or not. Replaced by the next one. */
  readonly settledIntent: string | null;
  /**
   * When this process disrupted a member, by ordinal. Each ends once the member participates again, and that was told.
   */
  readonly disruptedAtMilliseconds: ReadonlyMap<number, number>;
};

/** Set by what tells users. */
export type Told = Known['told'] & {
  /** The rule of the last Event about a hold. Ends with the hold. */
  readonly reported: Hold['rule'] | null;
  /** Since when the status has unwritten changes. Ends with the write. */
  readonly changedAtMilliseconds: number | null;
  /** A key of the last decision that was logged. */
  readonly logged: string;
  /** The overrides that have ended and whose removal was tried. */
  readonly endedOverrides: string;
};

/**
 * What this process remembers of one cluster between two passes, by who sets it. All of it can be lost: a process
 * without it is slower by a read or a few seconds, but never less safe. Groups are replaced and never changed, so an
 * observation keeps the memory that it was made from. Only `pass/remember.ts` replaces them. Times without a name are
 * on the monotonic clock.
 */
export interface Memory extends Known {
  readonly seen: Seen;
  readonly unseen: Unseen;
  /** Set by `reads`. */
  readonly readings: Known['readings'];
  readonly steps: Steps;
  readonly told: Told;
}

export function newMemory(world: Pick<World, 'monotonic' | 'wall'>): Memory {
  const { seen, unseen, readings, steps, told } = knownAtFirst(new Ages(world));
  return {
    seen: {
      ...seen,
      updateRevision: null,
      holding: null,
      completed: null,
      back: { revision: '', at: new Map() },
      begun: null,
      switchedOverAt: null,
    },
    unseen: { ...unseen, rollout: null },
    readings,
    steps: { ...steps, settledIntent: null, disruptedAtMilliseconds: new Map() },
    told: { ...told, reported: null, changedAtMilliseconds: null, logged: '', endedOverrides: '' },
  };
}
