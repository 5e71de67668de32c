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

// Everything that is remembered about one cluster, grouped by the code that sets it, and how long each entry is kept.

/** The API server's refusal of an eviction. It counts until a budget changes. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** The resourceVersions of the budgets at the time of the refusal, by name. */
  readonly budgets: ReadonlyMap<string, string>;
}

/**
 * The API server's message if its CRD lacks fields that a status contains, and whether that status contained an intent.
 */
export interface StatusRefusal {
  readonly message: string;
  readonly withIntent: boolean;
  readonly atMilliseconds: number;
}

/**
 * After the API server has refused a status, no step is attempted for this time, and no status of the same kind is
 * written.
 */
const refusalMilliseconds = 30_000;

/** The remaining time of a status refusal in milliseconds; 0 if there is none. */
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

/** Set by every observation. The status may be written later, but it must contain these times. */
export interface Seen {
  /** Since when each fact about the objects has had its value. A fact is forgotten when it is no longer read. */
  readonly ages: Ages;
  /** How fast the generation of the StatefulSet grows. Measured anew if the StatefulSet is replaced. */
  readonly specWrites: SpecWrites | null;
  /** The last update revision, and when it appeared. `changed` is `null` if this process has seen no change. */
  readonly updateRevision: { readonly value: string; readonly changed: RevisionChange | null } | null;
  /** Since when the current rule has held the rollout. Kept until the hold ends or a step is done. */
  readonly holding: Holding | null;
  /** Earlier holds that the current hold covers. Each is kept until it ends or a step is done. */
  readonly earlier: readonly Holding[];
  /**
   * The last complete rollout. Kept until the next rollout has progressed and the status no longer contains this one.
   */
  readonly completed: { readonly revision: string; readonly at: string } | null;
  /**
   * When members first participated at an update revision, by ordinal. The time is kept while the member is up to date.
   * A new revision clears all times.
   */
  readonly back: { readonly revision: string; readonly at: ReadonlyMap<number, string> };
  /** A rollout that is not in the status yet. Kept until the status contains it, or until no member is stale. */
  readonly begun: { readonly revision: string; readonly at: string } | null;
  /** When the rollout last made progress, and what the progress was. Kept until the status contains the progress. */
  readonly moved: { readonly revision: string; readonly seen: string; readonly at: string } | null;
  /**
   * The end of a switchover that the status still shows as requested. Kept until the status shows that it has ended.
   */
  readonly switchedOverAt: string | null;
  /**
   * The settings that were last in force, and the policies that have disappeared since. Each policy is forgotten after
   * a minute.
   */
  readonly policies: KnownPolicies;
}

/** Set at the end of a step. */
export interface Steps {
  /** The last step. Kept until the status contains it. A later failure without effect does not replace it. */
  readonly unreported: UnreportedStep | null;
  /** The last step that failed, and when. Kept until a step succeeds or a step of a different kind fails. */
  readonly failure: { readonly failure: StepFailure; readonly atMilliseconds: number } | null;
  /** The last intent that is known to be settled, whether or not its step was done. */
  readonly settledIntent: string | null;
  /** When this process disrupted each member, by ordinal. Kept until the metrics include the member's return. */
  readonly disruptedAtMilliseconds: ReadonlyMap<number, number>;
  /** The last refusal of an eviction. It counts until a budget changes. */
  readonly refusal: Refusal | null;
  /** The partition that this process set last, and how often it has set the same one. */
  readonly lowered: Lowered | null;
  /** Why a release would be unsafe, from its dry run. Kept until the next step that disrupts no member. */
  readonly releaseRefusal: { readonly message: string; readonly atMilliseconds: number } | null;
  /** What recent dry runs showed about admission. Kept until a dry run has the expected result. */
  readonly admissionProblem: AdmissionFinding | null;
  /** What keeps the strategy, according to the last dry run. If it is a webhook, this counts for ten minutes. */
  readonly strategyKeeper: KnownKeeper | null;
  /**
   * The times at which this process set the StatefulSet to OnDelete, newest last. Kept until a release, or until the
   * StatefulSet is replaced.
   */
  readonly adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null;
}

/** Set by the code that publishes status, Events and logs. */
interface Published {
  /** The rule of the last Event about a hold. Kept until that hold ends. */
  readonly reported: HoldRule | null;
  /**
   * Since when the status has had changes that are not written yet. Kept until the write, or until no changes are left.
   */
  readonly changedAtMilliseconds: number | null;
  /** A key that identifies the last decision that was logged. */
  readonly logged: string;
  /** The expired overrides that this process has already tried to remove. Kept until they are gone. */
  readonly endedOverrides: string;
  /** The API server's refusal of a status. It counts for 30 s, or until a status of the same kind is accepted. */
  readonly statusRefusal: StatusRefusal | null;
}

/**
 * What this process remembers about one cluster between two passes, grouped by the code that sets it. All of it can be
 * lost: a process without it loses a few seconds or repeats a read, but is never less safe. Groups are replaced and
 * never modified, so an observation keeps the memory that it was based on. Only `pass/remember.ts` replaces them. Times
 * are on the monotonic clock unless their name says otherwise.
 */
export interface Memory {
  readonly seen: Seen;
  /** Set by a step, or when a status is written. */
  readonly unseen: {
    /** What the last step wrote. Each write is kept until the cache shows it, for 30 s at most. */
    readonly writes: readonly OwnWrite[];
    /** The MySQLRollout as this process last wrote it. Kept until the cache contains that version or a newer one. */
    readonly rollout: MySQLRollout | null;
  };
  /** Set by `questions`, and by `disrupt` for the dry runs of updates in place. */
  readonly answers: Answers;
  readonly steps: Steps;
  readonly published: Published;
}

/** The memory of a cluster that is observed for the first time. It contains only the given answers. */
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

/** A webhook counts for this long. Then a new dry run shows whether the admission policy has replaced it. */
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

/** What keeps the strategy; `null` if it is unknown, or if the answer is too old. */
export function keeperKnown(known: KnownKeeper | null, nowMilliseconds: number): StrategyKeeper | null {
  const isOld = known !== null && nowMilliseconds - known.atMilliseconds > webhookCountsMilliseconds;
  return known === null || (known.keeper === 'webhook' && isOld) ? null : known.keeper;
}
