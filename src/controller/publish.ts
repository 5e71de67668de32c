import { isDeepStrictEqual } from 'node:util';
import type { Decision, VerdictKind } from '../core/decision.ts';
import type { RolloutPolicy } from '../core/policy.ts';
import { timestampOf } from '../moco/timestamp.ts';
import type { ClusterState, Unpublished, Urgency } from './cluster-state.ts';
import type { Context } from './context.ts';
import { shownOf } from './fields-not-kept.ts';
import { type Fleet, holdsSlot } from './fleet.ts';
import type { Gathered } from './gather.ts';
import { unseenMilliseconds } from './own-writes.ts';
import type { RolloutProgress, RolloutStatus } from './rollout-resource.ts';
import { ofEveryStep, shownAfterSeconds, statusOf, unusableStatusOf } from './status.ts';
import { refreshTemplate } from './template-reading.ts';
import { writeStatus } from './write-status.ts';

/** What changes within this time goes into one write; the intent of a step never waits for it. */
const coalescedMilliseconds = 500;
/**
 * What belongs to a step's own course waits for the write of the next step's intent, which tells it anyway: so long for
 * each cluster that rolls, so that all of them together write one status a second beside their intents.
 */
const courseMillisecondsPerCluster = 1000;
const longestCourseMilliseconds = 300_000;
/** And for one that comes within this time of itself, however few roll: no longer than any other passing wait is hidden. */
const soonMilliseconds = shownAfterSeconds * 1000;
/** How long numbers and sentences wait at least that change while rules and verdicts stay. */
const unhurriedMilliseconds = 30_000;

/**
 * Writes the status where it says something new. Resolves to the milliseconds after which that is due, when it is
 * too early for it, else `null`.
 */
export async function publish(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  context: Context,
  signal: AbortSignal,
): Promise<number | null> {
  const { rollout, objects } = gathered;
  const { api, world, fleet } = context;
  if (rollout === null || objects.cluster.deleting) return null;
  if (gathered.snapshot.rolloutProblem !== null) {
    const told = unusableStatusOf(gathered, decision, state, heldForSeconds, timestampOf(world.wall()));
    if (told === null || isDeepStrictEqual(told, rollout.status ?? {})) return null;
    await writeStatus(context, rollout, told, state, 'status', signal);
    return null;
  }
  await refreshTemplate(gathered, state, api, world, signal);
  const before = rollout.status ?? {};
  const status = statusOf(gathered, decision, state, heldForSeconds, timestampOf(world.wall()), null);
  // What the CRD does not know would be news for ever.
  const known = state.notKept === null ? identical : shownOf;
  if (isDeepStrictEqual(known(status), known(before))) {
    state.unpublished = null;
    return null;
  }
  const now = world.monotonic();
  const urgency = urgencyOf(status, before, fleet);
  if (state.unpublished?.urgency !== urgency) state.unpublished = { urgency, sinceMilliseconds: now };
  // The end is told as it is with what has been written for it.
  const endSeenAt = decision.complete
    ? state.ownWrites.map((write) => write.sinceMilliseconds + unseenMilliseconds)
    : [];
  // The other clusters are counted only where it matters how many of them roll.
  const ofThisGeneration = status.observedClusterGeneration === before.observedClusterGeneration;
  const isPaced = urgency === 'course' || (urgency === 'numbers' && ofThisGeneration);
  const pace = isPaced ? paceMilliseconds(fleet, gathered.policy) : 0;
  const waits = urgency === 'numbers' ? Math.max(unhurriedMilliseconds, pace) : pace;
  const dueAt = dueAtMilliseconds(state.unpublished, state.publishedAtMilliseconds, waits, nextStepAt(decision, now));
  const dueIn = Math.max(dueAt, ...endSeenAt) - now;
  if (dueIn > 0) return dueIn;
  await writeStatus(context, rollout, status, state, 'status', signal);
  return null;
}

/** The reasons of conditions while nothing holds a rollout, and where there is none. */
const [progressing, upToDate] = ['Progressing', 'UpToDate'];

const identical = (status: RolloutStatus): RolloutStatus => status;

function urgencyOf(status: RolloutStatus, before: RolloutStatus, { hasSlots }: Fleet): Urgency {
  const [now, then] = [whatMatters(status), whatMatters(before)];
  if (isDeepStrictEqual(now, then)) return 'numbers';
  const course = courseOf(status, before);
  if (course === null || wasAskedSince(status, before)) return 'now';
  // Others wait for its slot.
  if (hasSlots && holdsSlot(before) && !holdsSlot(status)) return 'now';
  return isDeepStrictEqual(beyondTheCourse(now, course), beyondTheCourse(then, course)) ? 'course' : 'now';
}

/** Where in its course a rollout is: under way, or at one of its ends; `null` where this program sets none. */
type Course = 'goesOn' | 'turns';

function courseOf(status: RolloutStatus, before: RolloutStatus): Course | null {
  if (status.strategy !== 'OnDelete') return null;
  const [is, was] = [isComplete(status), isComplete(before)];
  if (before.rollout === undefined) return was && !is && status.hold === undefined && isWhole(status) ? 'turns' : null;
  if (status.rollout !== undefined) return 'goesOn';
  // Over, but for the time that the last member is given.
  return is && status.hold !== undefined && ofEveryStep.has(status.hold.rule) ? 'turns' : null;
}

/** No member is away: what is not complete is so for what is wanted. */
const isWhole = ({ members = {} }: RolloutStatus): boolean =>
  Object.values(members).every(({ state }) => state === 'participating');

const isComplete = ({ conditions = [] }: RolloutStatus): boolean =>
  conditions.some(({ type, status }) => type === 'Complete' && status === 'True');

/** A demotion that no intent has told of has to be known to whoever takes over: it is taken back in its time. */
function wasAskedSince({ rollout }: RolloutStatus, before: RolloutStatus): boolean {
  const askedAt = rollout?.tries?.askedAt;
  return askedAt !== undefined && askedAt !== before.rollout?.tries?.askedAt;
}

/** When the next step is due, where every member is back and nothing but time is waited for. */
function nextStepAt({ hold, members, lookAgainInSeconds }: Decision, now: number): number | null {
  const isTimed = hold?.rule === 'UpdatedMemberNotParticipating' && members.every((member) => member.participating);
  return isTimed && lookAgainInSeconds !== null ? now + lookAgainInSeconds * 1000 + coalescedMilliseconds : null;
}

/** Whoever takes over counts progress from what the status tells: it must not be told too late for that. */
function paceMilliseconds({ rolling }: Fleet, { progressDeadlineSeconds }: RolloutPolicy): number {
  const longest = Math.min(longestCourseMilliseconds, (progressDeadlineSeconds * 1000) / 2);
  return Math.min(Math.max(1, rolling) * courseMillisecondsPerCluster, longest);
}

/** On the monotonic clock, as what it is given. */
function dueAtMilliseconds(
  { urgency, sinceMilliseconds }: Unpublished,
  publishedAtMilliseconds: number,
  waits: number,
  nextStep: number | null,
): number {
  const coalescedUntil = publishedAtMilliseconds + coalescedMilliseconds;
  switch (urgency) {
    case 'now':
      return coalescedUntil;
    case 'course': {
      const isSoon = nextStep !== null && nextStep - sinceMilliseconds <= soonMilliseconds;
      return Math.max(coalescedUntil, sinceMilliseconds + waits, isSoon ? nextStep : 0);
    }
    case 'numbers':
      // They are often the first sign of more.
      return Math.max(publishedAtMilliseconds + waits, sinceMilliseconds + courseMillisecondsPerCluster);
  }
}

/**
 * What matters, without that in which one step after the other shows where all goes well: who is next, away or back,
 * what every step waits for, that the last one is done, that another member is primary. What is left is for somebody to
 * act on: any other rule that holds, a step that failed, a switchover that was taken back, a rollout that is over.
 */
function beyondTheCourse({ intent: _intent, phase: _phase, ...mattering }: Mattering, course: Course): object {
  const { updatedReplicas: _updated, members, rollout, hold, lastStep, conditions, ...rest } = mattering;
  const {
    lastCompleted: _last,
    history: _history,
    updateRevision: _revision,
    recentRevisions: _recent,
    ...same
  } = rest;
  return {
    ...(course === 'goesOn' ? rest : same),
    members: members.map(([ordinal, verdict]) => [ordinal, inTurn.has(verdict ?? '') ? null : verdict]),
    rollout: course === 'goesOn' ? beyondItsCourse(rollout) : null,
    hold: hold !== undefined && ofEveryStep.has(hold) ? undefined : hold,
    failed: lastStep === undefined || lastStep.result === 'done' ? null : lastStep,
    conditions: conditions.map(([type, said, reason]) => {
      const isOfEveryStep = ofEveryStep.has(reason) || reason === upToDate;
      // Which of them is True says only that it has begun, or is over.
      return [type, course !== 'goesOn' && moving.has(type) ? null : said, isOfEveryStep ? progressing : reason];
    }),
  };
}

function beyondItsCourse(rollout: Mattering['rollout']): object {
  const { disruptions: _disruptions, waiting: _waiting, takenAt: _at, memberSeconds: _seconds, ...more } = rollout;
  const { switchovers: _switchovers, changes: _changes, tries, ...progress } = more;
  return { ...progress, tries: tries?.count ?? 0 };
}

const moving: ReadonlySet<string> = new Set(['Reconciling', 'Complete']);

/** Verdicts of members one after the other, where all goes well. */
const inTurn: ReadonlySet<string> = new Set<VerdictKind>([
  'Next',
  'Waiting',
  'Leaving',
  'Missing',
  'Starting',
  'Updated',
]);

type Mattering = ReturnType<typeof whatMatters>;

/**
 * The status without what may change by the second while nothing is decided: numbers of members, what each of them is
 * doing, and sentences. All else, such as rules, verdicts and steps, is for somebody who waits for it.
 */
function whatMatters(status: RolloutStatus) {
  const {
    participatingReplicas: _participating,
    readyReplicas: _ready,
    currentReplicas: _current,
    primary: _primary,
    observedClusterGeneration: _generation,
    hold,
    members = {},
    rollout,
    conditions = [],
    ...rest
  } = status;
  const { lastProgressAt: _progress, ...progress }: Partial<RolloutProgress> = rollout ?? {};
  return {
    ...rest,
    hold: hold?.rule,
    members: Object.entries(members).map(
      ([ordinal, one]) => [ordinal, one.verdict, one.updated, one.updatedAt] as const,
    ),
    rollout: progress,
    conditions: conditions.map(({ type, status: said, reason }) => [type, said, reason] as const),
  };
}
