import type { MySQLRollout } from '../../api/rollout.ts';
import type { HoldRule } from '../../core/decision.ts';
import type { AdmissionProblem, StepFailure } from '../../core/snapshot.ts';
import { Ages, type Clocks } from '../../moco/ages.ts';
import type { OwnWrite } from '../../objects/execute.ts';
import type { StrategyKeeper } from '../../objects/strategy.ts';
import type { Lowered, SpecWrites } from '../facts/contention.ts';
import { type KnownPolicies, noPoliciesKnown } from '../facts/gone-policies.ts';
import type { UnreportedStep } from '../facts/last-step.ts';
import { type Answers, noAnswers } from '../questions/questions.ts';

// Everything that is remembered of one cluster, grouped by who sets it, with when each entry ends.

/** The API server's refusal to evict. It counts as long as the budgets do not change. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** The resourceVersions of the budgets at that time, by name. */
  readonly budgets: ReadonlyMap<string, string>;
}

/** The API server's message if its CRD did not know all fields of a status, and whether that status had an intent. */
export interface StatusRefusal {
  readonly message: string;
  readonly withIntent: boolean;
  readonly atMilliseconds: number;
}

/**
 * How long no step is attempted and no status of the same kind is written after the API server has refused a status.
 */
const refusalMilliseconds = 30_000;

/** The remaining milliseconds of a status refusal; 0 if there is none. */
export const refusalStands = (refusal: StatusRefusal | null, nowMilliseconds: number): number =>
  refusal === null ? 0 : Math.max(0, refusal.atMilliseconds + refusalMilliseconds - nowMilliseconds);

interface RevisionChange {
  readonly atMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** A rule, and since when it has held. */
export interface Holding {
  readonly rule: HoldRule;
  readonly sinceMilliseconds: number;
  readonly since: string;
}

/** Set by every observation. The status may be written later, but it has to contain these times. */
export interface Seen {
  /** Since when the facts about the objects have had their values. Each entry ends when its fact is no longer read. */
  readonly ages: Ages;
  /** How fast the generation of the StatefulSet grows. Starts again with another StatefulSet. */
  readonly specWrites: SpecWrites | null;
  /**
   * The last update revision, and when it appeared. `changed` is `null` if it existed at the start. Replaced by the
   * next.
   */
  readonly updateRevision: { readonly value: string; readonly changed: RevisionChange | null } | null;
  /** Since when the current rule has held. Ends with the hold, or once a step is done. */
  readonly holding: Holding | null;
  /** Earlier holds that the current one covers. Each ends with its hold, or once a step is done. */
  readonly earlier: readonly Holding[];
  /** The rollout that was last complete. Ends when the next one continues and the status no longer has this one. */
  readonly completed: { readonly revision: string; readonly at: string } | null;
  /**
   * When members first participated at an update revision, by ordinal. Each entry ends when its member is no longer
   * updated; another revision resets all of them.
   */
  readonly back: { readonly revision: string; readonly at: ReadonlyMap<number, string> };
  /** A rollout that is not in the status yet. Ends once it is, or once no member is stale. */
  readonly begun: { readonly revision: string; readonly at: string } | null;
  /** When the last progress of the rollout was seen, and what it was. Ends once the status has it. */
  readonly moved: { readonly revision: string; readonly seen: string; readonly at: string } | null;
  /** When a switchover ended that the status still shows as requested. Ends once the status shows its end. */
  readonly switchedOverAt: string | null;
  /**
   * The settings that were last in force, and the policies that have gone since. Each policy is forgotten after a
   * minute.
   */
  readonly policies: KnownPolicies;
}

/** Set at the end of a step. */
export interface Steps {
  /** The last step. Ends once the status has it; a later failure without effect does not replace it. */
  readonly unreported: UnreportedStep | null;
  /** The last step that did not happen, and when. Ends once a step happens, or once another kind of step fails. */
  readonly failure: { readonly failure: StepFailure; readonly atMilliseconds: number } | null;
  /** The intent that is known to be settled, whether or not its step was done. Replaced by the next one. */
  readonly settledIntent: string | null;
  /** When this process disrupted a member, by ordinal. Ends once the member's return was published. */
  readonly disruptedAtMilliseconds: ReadonlyMap<number, number>;
  /** Replaced by the next refusal. Counts while the budgets are the same. */
  readonly refusal: Refusal | null;
  /** The last partition that this process set, and how often. Replaced by the next one. */
  readonly lowered: Lowered | null;
  /** The result that a release would have had, from a dry run. Ends with the next step that disrupts no member. */
  readonly releaseRefusal: { readonly message: string; readonly atMilliseconds: number } | null;
  /** What recent dry runs showed about admission. Ends with one that has the expected result. */
  readonly admissionProblem: AdmissionFinding | null;
  /** What keeps the strategy. Replaced by the next dry run that shows it; a webhook counts for ten minutes. */
  readonly strategyKeeper: KnownKeeper | null;
  /** When this process set the StatefulSet to OnDelete, the newest last. Ends with a release, or the StatefulSet. */
  readonly adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null;
}

/** Set by the code that informs users. */
interface Published {
  /** The rule of the last Event about a hold. Ends with the hold. */
  readonly reported: HoldRule | null;
  /** Since when the status has unwritten changes. Ends with the write, or when there are none any more. */
  readonly changedAtMilliseconds: number | null;
  /** A key that identifies the last logged decision. Replaced by the next one. */
  readonly logged: string;
  /** The overrides that have ended, if their removal was attempted. Ends with them. */
  readonly endedOverrides: string;
  /** Ends once a status of the same kind is accepted. Counts for 30 s. */
  readonly statusRefusal: StatusRefusal | null;
}

/**
 * What this process remembers of one cluster between two passes, grouped by who sets it. All of it can be lost: a
 * process without it is slower by a read or a few seconds, but never less safe. Groups are replaced and never changed,
 * so an observation keeps the memory that it was made from. Only `pass/remember.ts` replaces them. Times are on the
 * monotonic clock unless their name says otherwise.
 */
export interface Memory {
  readonly seen: Seen;
  /** Set by a step or by the write of a status. */
  readonly unseen: {
    /** What the last step wrote. Each entry ends once the cache shows it, at the latest after 30 s. */
    readonly writes: readonly OwnWrite[];
    /** The MySQLRollout as last written by this process. Ends once the cache has one that is as new. */
    readonly rollout: MySQLRollout | null;
  };
  /** Set by `questions`, and by `disrupt` for the dry runs of updates in place. */
  readonly answers: Answers;
  readonly steps: Steps;
  readonly published: Published;
}

/** For a cluster that is observed for the first time: it only contains what was just read. */
export const newMemory = (world: Clocks, answers: Partial<Answers> = {}): Memory => ({
  seen: {
    ages: new Ages(world),
    specWrites: null,
    updateRevision: null,
    holding: null,
    earlier: [],
    completed: null,
    back: { revision: '', at: new Map() },
    begun: null,
    moved: null,
    switchedOverAt: null,
    policies: noPoliciesKnown,
  },
  unseen: { writes: [], rollout: null },
  answers: { ...noAnswers, ...answers },
  steps: {
    unreported: null,
    failure: null,
    settledIntent: null,
    disruptedAtMilliseconds: new Map(),
    refusal: null,
    lowered: null,
    releaseRefusal: null,
    admissionProblem: null,
    strategyKeeper: null,
    adoptions: null,
  },
  published: { reported: null, changedAtMilliseconds: null, logged: '', endedOverrides: '', statusRefusal: null },
});

/** After this time another dry run shows whether a webhook was replaced by the admission policy. */
const webhookCountsMilliseconds = 600_000;

export interface AdmissionFinding {
  readonly mode: AdmissionProblem['mode'];
  readonly finding: string;
  readonly tries: number;
  readonly atMilliseconds: number;
}

export interface KnownKeeper {
  readonly keeper: StrategyKeeper;
  readonly atMilliseconds: number;
}

/** `null` if it is not known, or no longer known. */
export function keeperKnown(known: KnownKeeper | null, nowMilliseconds: number): StrategyKeeper | null {
  const isOld = known !== null && nowMilliseconds - known.atMilliseconds > webhookCountsMilliseconds;
  return known === null || (known.keeper === 'webhook' && isOld) ? null : known.keeper;
}
