import { newRollout, type RolloutProgress, type SwitchoverTries } from '../../api/rollout-progress.ts';
import { type Intent, type MemberStatus, type RolloutStatus } from '../../api/rollout-status.ts';
import { omitUndefined } from '../../base/json.ts';
import type { Decision } from '../../core/decision.ts';
import { sortedVersions } from '../../core/mysql-versions.ts';
import { updateMysqld, versionOfMysqld } from '../../core/mysqld-data.ts';
import { explainEvidence } from '../../core/sentences.ts';
import type { MemberFacts } from '../../core/snapshot.ts';
import { ordinalOf } from '../../moco/names.ts';
import { isDemotionMissed, isFailedTry, isSwitchedOver } from '../facts/last-step.ts';
import { takesSlot, yieldsSlot } from '../fleet/fleet-standing.ts';
import type { ObservedFacts } from '../pass/collect-facts.ts';
import { type Memory } from '../pass/memory.ts';
import { memberProgressOf, sorted } from './member-progress.ts';
import { disruptedFor, secondsBetween } from './rollout-history.ts';
import type { StatusContext } from './status-context.ts';

// What the status records about the current rollout: facts that the next decision needs and that no other object shows.

/**
 * The progress of the rollout to the current update revision, including its end. `null` if there is no rollout.
 * Unchanged while the update revision is unknown.
 */
export function progressOf(context: StatusContext, members: readonly MemberStatus[]): RolloutProgress | null {
  const { before, objects, decision, memory, ended, intent, now } = context;
  const revision = objects.statefulSet?.updateRevision ?? '';
  // MOCO is re-creating the StatefulSet: the new update revision is not known yet.
  if (revision === '') return before.rollout ?? null;
  const same = before.rollout?.revision === revision ? before.rollout : null;
  if (same === null && (decision.complete || decision.stale === 0)) return null;
  const known: RolloutProgress =
    same ?? begunProgress(revision, decision, memory.seen.begun?.at ?? now, before.rollout);
  const tries = triesOf(known, context);
  const switched = isSwitchedOver(known, ended, objects);
  const reported = decision.members.map((one) => ({
    ...one,
    updatedAt: members.find(({ ordinal }) => ordinal === one.ordinal)?.updatedAt,
  }));
  const down = intent?.rule === 'MemberDown' ? intent.pods.map(({ name }) => ordinalOf(name)) : [];
  return omitUndefined<RolloutProgress>({
    ...known,
    lastProgressAt: memory.seen.moved?.at ?? known.lastProgressAt,
    begunAt: known.begunAt ?? (intent !== null && takesSlot(intent) ? intent.at : undefined),
    yieldedAt: yieldedAtOf(known, context, members),
    verified: known.verified || decision.verified,
    verifiedAt: known.verifiedAt ?? (decision.verified ? now : undefined),
    failing: failingOf(known, decision),
    awaitsNodes: decision.awaitsNodes || undefined,
    takenDown: sorted([...known.takenDown, ...down]),
    ...inPlaceProgressOf(known, context),
    switchovers: known.switchovers + (switched ? 1 : 0),
    switchoverSeconds: switched
      ? (known.switchoverSeconds ?? 0) + secondsBetween([known.tries?.askedAt], memory.seen.switchedOverAt ?? now)
      : known.switchoverSeconds,
    // Once the switchover is complete, only the number of failed attempts is kept.
    tries:
      switched && tries
        ? omitUndefined<SwitchoverTries>({ count: tries.count, lastEndedAt: tries.lastEndedAt })
        : tries,
    ...memberProgressOf(known, same === null ? { earlier: before.rollout ?? null } : null, reported, {
      ...context,
      ownWrites: memory.unseen.writes,
    }),
    mysql: mysqlOf(known, context),
    changes: known.changes ?? changesRead(known, memory),
  });
}

/**
 * When the rollout gave up its slot. The time is recorded when a hold makes the rollout give up the slot, and removed
 * with the next step that needs a slot.
 */
function yieldedAtOf(
  { begunAt, yieldedAt }: RolloutProgress,
  { intent, shown, now }: StatusContext,
  members: readonly MemberStatus[],
): string | undefined {
  if (begunAt === undefined || (intent !== null && takesSlot(intent))) return undefined;
  const yields = shown !== null && yieldsSlot(shown.hold.rule, members);
  return yieldedAt ?? (yields ? now : undefined);
}

/**
 * The revision that is known to fail. It is forgotten once a restored member is back at its previous revision. The
 * update is then attempted again if a user withdraws the restore.
 */
function failingOf(known: RolloutProgress, { failing, members }: Decision): RolloutProgress['failing'] {
  if (failing === null) return undefined;
  if (failing.evidence.kind !== 'restored') {
    const { member: ordinal, evidence, injected } = failing;
    return { ordinal, message: explainEvidence(evidence), ...(injected !== undefined && { injected }) };
  }
  return members.find(({ ordinal }) => ordinal === failing.member)?.updated ? known.failing : undefined;
}

/**
 * A new rollout. If it corrects a failing revision, it does not wait for other clusters. Members that were restored
 * stay recorded as restored.
 */
function begunProgress(
  revision: string,
  { members }: Decision,
  startedAt: string,
  earlier: RolloutProgress | undefined,
): RolloutProgress {
  return omitUndefined<RolloutProgress>({
    ...newRollout(revision, startedAt),
    begunAt: earlier?.failing === undefined ? undefined : startedAt,
    unavailableMembers: earlier?.unavailableMembers?.filter(({ restores }) => restores),
    from: mostCommonStale(members),
  });
}

/** The most common revision of stale members. If two are equally common, that of the highest ordinal counts. */
function mostCommonStale(members: Decision['members']): string | undefined {
  const counts = new Map<string, number>();
  for (const { revision, updated } of members.toReversed()) {
    if (!updated && revision) counts.set(revision, (counts.get(revision) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/**
 * The MySQL versions before and after the rollout. The version before is recorded at the start, because in the end no
 * member has it any more.
 */
function mysqlOf({ mysql, revision }: RolloutProgress, context: StatusContext): RolloutProgress['mysql'] {
  const stale = context.snapshot.members.filter((member) => member.revision !== revision);
  const from = mysql?.from ?? sortedVersions(stale.map(({ mysqld }) => versionOfMysqld(context, mysqld)))[0];
  const to = updateMysqld(context)?.version ?? mysql?.to;
  return from === undefined && to === undefined ? undefined : { ...(from && { from }), ...(to && { to }) };
}

function changesRead(
  { from, revision }: RolloutProgress,
  {
    answers: {
      details: { template },
    },
  }: Memory,
): RolloutProgress['changes'] {
  return template?.from === from && template?.to === revision ? (template?.changes ?? undefined) : undefined;
}

function triesOf(
  known: RolloutProgress,
  { ended, memory, objects, intent, now }: StatusContext,
): SwitchoverTries | undefined {
  const { count = 0, lastEndedAt, askedAt } = known.tries ?? {};
  // A demotion counts only for the revision for which it was requested.
  const demotion = ended?.result === 'done' && ended.revision === known.revision ? ended.demotion : null;
  if (demotion === 'timedOut') return { count: count + 1, lastEndedAt: now };
  const intended = demotionIntended(intent);
  if (demotion === 'takenBack' && intended === null) return triesAlone(known.tries);
  const isUnreported = askedAt === undefined && memory.unseen.writes.length === 0;
  const reported = demotion === 'takenBack' ? null : demotion;
  const asked = intended ?? reported ?? (isUnreported ? demotionSeen(known, objects, now) : null);
  if (asked !== null) return omitUndefined<SwitchoverTries>({ count, lastEndedAt, ...asked });
  return isDemotionMissed(ended) ? triesAlone(known.tries) : known.tries;
}

/** What is kept while no demotion is in progress: the number of failed switchovers. */
function triesAlone({ count = 0, lastEndedAt }: Partial<SwitchoverTries> = {}): SwitchoverTries | undefined {
  return count === 0 ? undefined : omitUndefined<SwitchoverTries>({ count, lastEndedAt });
}

/**
 * The start of the demotion is written together with the intent, so that a successor withdraws the demotion in time.
 */
function demotionIntended(intent: Intent | null): Pick<SwitchoverTries, 'askedAt' | 'pod'> | null {
  if (intent?.step !== 'demote') return null;
  const [pod] = intent.pods;
  return pod === undefined ? null : { askedAt: intent.at, pod: { name: pod.name, uid: pod.uid } };
}

/** What is left of an intent after it was invalidated. */
export interface LeftOver {
  /**
   * A pod of the intent still has the demotion that this program requested for the revision. If the intent was to
   * withdraw the demotion, a later step will do that.
   */
  readonly staysDemoted: boolean;
  /** The members that still have the pod that the step was meant to end. */
  readonly spared: readonly number[];
}

/**
 * The status after the step of an intent has ended. If the step was to withdraw a demotion after its timeout, and the
 * demotion is gone, that counts as a failed attempt, because each attempt blocks writes for a while. If the demotion is
 * still there, it keeps its start time, and counts when a later step withdraws it.
 */
export function withoutIntent({ intent, ...before }: RolloutStatus, { staysDemoted, spared }: LeftOver): RolloutStatus {
  const status = withSpared(before, spared);
  const { rollout } = status;
  if (intent?.step !== 'undemote' || intent.rule === 'NoLongerPrimary' || staysDemoted) return status;
  if (rollout?.revision !== intent.revision) return status;
  const tries = isFailedTry(intent.rule)
    ? { count: (rollout.tries?.count ?? 0) + 1, lastEndedAt: intent.at }
    : triesAlone(rollout.tries);
  return { ...status, rollout: omitUndefined<RolloutProgress>({ ...rollout, tries }) };
}

function withSpared({ rollout, ...status }: RolloutStatus, spared: readonly number[]): RolloutStatus {
  if (rollout === undefined) return status;
  const { waiting, unavailableMembers = [], ...rest } = rollout;
  const taken = unavailableMembers.filter(({ ordinal }) => !spared.includes(ordinal));
  const progress = omitUndefined<RolloutProgress>({
    ...rest,
    waiting: waiting && sorted([...waiting, ...spared]),
    unavailableMembers: taken.length === 0 ? undefined : taken,
  });
  return { ...status, rollout: progress };
}

/**
 * A demotion that an earlier process of this program requested. That process ended before it could report the demotion,
 * or did not receive the response.
 */
function demotionSeen(
  { revision }: RolloutProgress,
  { pods, cluster }: ObservedFacts['objects'],
  nowTimestamp: string,
): Pick<SwitchoverTries, 'askedAt' | 'pod'> | null {
  const pod = pods.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (!pod?.demote || pod.demotedFor !== revision) return null;
  return { askedAt: nowTimestamp, pod: { name: pod.name, uid: pod.uid } };
}

type InPlaceProgress = Pick<RolloutProgress, 'disruptions'> & {
  readonly [Field in Recorded]: RolloutProgress[Field] | undefined;
};
type Recorded = 'updatedInPlace' | 'resizedInPlace' | 'primaryInPlace' | 'mysqldRestarted';

/**
 * What a rollout records about updates in place. An update in place is meant to avoid a disruption. If mysqld restarts
 * because of it, the restart counts as a disruption.
 */
function inPlaceProgressOf(known: RolloutProgress, { snapshot: { members }, ended }: StatusContext): InPlaceProgress {
  const isDone = ended?.result === 'done' && ended.revision === known.revision;
  const done = isDone ? ended.lastStep.pods.map(ordinalOf) : [];
  const isUpdate = ended?.lastStep.step === 'updateInPlace';
  const isResize = ended?.lastStep.step === 'resizeInPlace';
  const restarted = members.filter((member) => hasRestarted(member, known.revision)).map(({ ordinal }) => ordinal);
  const before = known.mysqldRestarted ?? [];
  const after = sorted([...before, ...restarted]);
  return {
    disruptions: known.disruptions + disruptedFor(known.revision, ended) + after.length - before.length,
    updatedInPlace: withOrdinals(known.updatedInPlace, isUpdate ? done : []),
    resizedInPlace: withOrdinals(known.resizedInPlace, isResize ? done : []),
    primaryInPlace: withOrdinals(known.primaryInPlace, isUpdate && ended.sparesSwitchover ? done : []),
    mysqldRestarted: withOrdinals(after, []),
  };
}

/** Whether mysqld restarted because of an update in place, after its patch or already after its resize. */
const hasRestarted = ({ revision, inPlace, restartInPlace }: MemberFacts, updateRevision: string): boolean =>
  revision === updateRevision
    ? restartInPlace?.mysqldRestarted === true
    : inPlace?.kind === 'possible' && inPlace.resize?.mysqldRestarted === true;

/** `undefined` if the list is empty. */
function withOrdinals(
  known: readonly number[] | undefined,
  ordinals: readonly number[],
): readonly number[] | undefined {
  const all = sorted([...(known ?? []), ...ordinals]);
  return all.length === 0 ? undefined : all;
}
