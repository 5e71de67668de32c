import type { Intent, MemberStatus, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import type { Hold, MemberReport } from '../../core/decision.ts';
import { mysqldOf } from '../../core/member.ts';
import type { MysqlReading } from '../../core/on-demand-facts.ts';
import { againstItself, freshSeconds } from '../../core/replicas-behind.ts';
import { phase } from '../../core/reports.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { longWriteSeconds } from '../../core/rules/long-write.ts';
import { andMore, explainComesBack, explainEvidence } from '../../core/sentences.ts';
import type { ClusterSnapshot, StatefulSetFacts } from '../../core/snapshot.ts';
import { explainInPlace } from '../../core/update-in-place.ts';
import { omitUndefined } from '../../moco/json.ts';
import { memberName } from '../facts/collect-facts.ts';
import { unreported } from '../facts/last-step.ts';
import { type Memory } from '../facts/memory.ts';
import { lastPreflight, preflightOf, questionsOf, statusOfQuestions } from '../facts/preflight-facts.ts';
import type { Observation } from '../pass/observe.ts';
import { conditions } from './conditions.ts';
import { isShown } from './due.ts';
import { type News, newsOf } from './news.ts';
import { disruptedFor, progressOf } from './progress.ts';
import { finishedRollout, heldForOf } from './rollout-history.ts';
import { withinLimits } from './status-limits.ts';

/** A status, and what ended between the stored status and this one. */
export interface StatusReport {
  readonly status: RolloutStatus;
  readonly news: News;
}

/**
 * The status that follows from an observation; `intent` is the step that is about to be done. Unchanged parts,
 * including timestamps, equal those of the stored status: comparing the two shows whether a write is needed.
 */
export function statusOf(observation: Observation, intent: Intent | null): StatusReport {
  const { objects, rollout, snapshot, policy, settings, decision, memory } = observation;
  const now = intent?.at ?? observation.now;
  const before: RolloutStatus = rollout?.status ?? {};
  const { statefulSet, cluster } = objects;
  const revision = statefulSet?.updateRevision ?? '';
  const hold = shownHold(observation);
  const message = hold === null ? '' : explainHold(hold, memberName(observation));
  const members = memberStatuses(observation, hold, before.members ?? [], revision, memory.seen.back.at);
  const ended = unreported(before, memory);
  const shown = hold === null ? undefined : holdStatus(hold, message, before, memory, now);
  const unresolved = before.intent && before.intent.id !== memory.steps.settledIntent ? before.intent : undefined;
  const progress = progressOf(before, observation, members, now, intent, unresolved ?? null);
  const disrupted = disruptedFor(before.rollout?.revision ?? '', ended);
  const entry = finishedRollout(before, progress, decision, memory.seen, disrupted, now);
  const status = omitUndefined<RolloutStatus>({
    observedGeneration: rollout?.metadata.generation,
    observedClusterGeneration: cluster.generation,
    phase: phase({ ...decision, hold }),
    strategy: observation.strategyShown,
    mysqlProblem: mysqlProblemOf(observation),
    preflight: preflightStatus(observation),
    openWrites: openWritesOf(snapshot),
    updatesInPlace: policy.inPlaceUpdates.mode === 'Never' ? undefined : true,
    updateRevision: revision === '' ? undefined : revision,
    currentRevision: statefulSet?.currentRevision || undefined,
    replicas: cluster.replicas,
    updatedReplicas: decision.members.filter((member) => member.updated).length,
    participatingReplicas: decision.members.filter((member) => member.participating).length,
    readyReplicas: decision.members.filter((member) => member.ready).length,
    currentReplicas: snapshot.members.filter((member) => member.revision === statefulSet?.currentRevision).length,
    primary: cluster.primaryIndex >= 0 ? cluster.primaryIndex : undefined,
    hold: shown,
    members,
    intent: intent ?? unresolved,
    lastStep: ended?.lastStep ?? before.lastStep,
    completeSince: completeSince(before, observation, now),
    rollout: decision.complete || progress === null ? undefined : withHolds(progress, before, shown, now),
    history: entry ? [...(before.history ?? []), entry] : before.history,
    settings: settings.problem === null ? settings.sources : before.settings,
    promotion: promotionLeft(before, snapshot.statefulSet, policy.mode === 'OnDelete' && !snapshot.released),
    conditions: conditions(observation, hold, message, now),
  });
  const takenBack = (before.intent?.step ?? status.lastStep?.step) === 'undemote';
  return {
    status: withinLimits(status),
    news: newsOf(before.rollout, progress, entry, takenBack, memory.seen.switchedOverAt ?? now),
  };
}

/**
 * The status of an unusable MySQLRollout. Only the hold that explains it is new: the rest belongs to another cluster
 * or is about to be deleted, and does not change. `null` while the hold is not shown.
 */
export function unusableStatusOf(observation: Observation): StatusReport | null {
  const { rollout, decision, memory, now } = observation;
  const before: RolloutStatus = rollout?.status ?? {};
  const hold = shownHold(observation);
  if (hold === null) return null;
  const message = explainHold(hold, memberName(observation));
  const status = withinLimits({
    ...before,
    observedGeneration: rollout?.metadata.generation ?? 0,
    phase: phase(decision),
    hold: holdStatus(hold, message, before, memory, now),
    conditions: conditions(observation, hold, message, now),
  });
  return { status, news: { finished: null, switchover: null, outOfBand: [], mysqldRestarted: [] } };
}

function withHolds(
  progress: RolloutProgress,
  { rollout, hold }: RolloutStatus,
  shown: RolloutStatus['hold'],
  now: string,
): RolloutProgress {
  if (rollout?.revision !== progress.revision) return progress;
  return omitUndefined<RolloutProgress>({ ...progress, heldFor: heldForOf(rollout, hold, shown, now) });
}

/** Stages count their soak from it, whoever leads. */
function completeSince(
  before: RolloutStatus,
  { decision, snapshot, objects }: Observation,
  now: string,
): string | undefined {
  const { complete, hold, checksPass } = decision;
  const isHeld = hold?.rule === 'CheckFailing' || hold?.rule === 'CheckUnavailable';
  if (!complete || !snapshot.cluster.healthy || isHeld) return undefined;
  const isSame = before.updateRevision === objects.statefulSet?.updateRevision;
  return (isSame ? before.completeSince : undefined) ?? (checksPass ? now : undefined);
}

function preflightStatus({ objects, policy, memory, rollout }: Observation): RolloutStatus['preflight'] {
  const known = preflightOf(objects, policy, lastPreflight(memory.readings.preflight, rollout));
  return known === null ? undefined : { revision: known.revision, ...statusOfQuestions(questionsOf(known)) };
}

function shownHold({ decision: { hold }, heldForSeconds }: Observation): Hold | null {
  return hold !== null && isShown(hold, heldForSeconds) ? hold : null;
}

function holdStatus(
  hold: Hold,
  message: string,
  before: RolloutStatus,
  memory: Memory,
  nowTimestamp: string,
): NonNullable<RolloutStatus['hold']> {
  const { rule } = hold;
  const since = before.hold?.rule === rule ? before.hold.since : (memory.seen.holding?.since ?? nowTimestamp);
  const opensAt = 'opensAt' in hold && hold.opensAt !== null ? hold.opensAt : null;
  return { rule, message, since, ...(opensAt !== null && { opensAt }) };
}

function updateOf({ members }: ClusterSnapshot, ordinal: number): string | undefined {
  const inPlace = members.find((member) => member.ordinal === ordinal)?.inPlace ?? null;
  return inPlace === null ? undefined : explainInPlace(inPlace);
}

/** An answer that is older belongs to an earlier step, and is shown no longer. */
export const recentSeconds = 60;

const isRecent = (mysql: MysqlReading | null): mysql is MysqlReading =>
  mysql !== null && mysql.ageSeconds !== null && mysql.ageSeconds < recentSeconds;

/**
 * Why the rules go on without what MySQL says: nobody can be asked, or a member that runs has not answered for as long
 * as they wait for it.
 */
function mysqlProblemOf(observation: Observation): string | undefined {
  const { snapshot, policy } = observation;
  const { mysql, members } = snapshot;
  if (mysql === null) return undefined;
  if (mysql.problem !== null) return mysql.problem.message;
  const leastSeconds = policy.replicaDelayGraceSeconds - freshSeconds + (mysql.ageSeconds ?? 0);
  const [first, ...others] = mysql.members.flatMap(({ uid, said, unknownForSeconds }) => {
    const member = members.find((one) => one.uid === uid);
    const isSilent = said.kind === 'unknown' && unknownForSeconds >= leastSeconds;
    return isSilent && member && mysqldOf(member)?.state === 'running' ? [{ ...said, ...member }] : [];
  });
  if (first === undefined) return undefined;
  return `${memberName(observation)(first.ordinal)}${andMore(others.length)} does not answer: ${first.message}`;
}

function openWritesOf({ mysql }: ClusterSnapshot): RolloutStatus['openWrites'] {
  if (!isRecent(mysql) || mysql.writes === null) return undefined;
  const [oldest, ...others] = mysql.writes.filter(({ ageSeconds }) => ageSeconds >= longWriteSeconds);
  return oldest === undefined ? { count: 0 } : { count: 1 + others.length, since: oldest.since };
}

function replicationOf({ cluster, members, mysql }: ClusterSnapshot, ordinal: number): MemberStatus['replication'] {
  if (!isRecent(mysql)) return undefined;
  const readingOf = (of: number) => {
    const uid = members.find((member) => member.ordinal === of)?.uid;
    return mysql.members.find((one) => one.uid === uid);
  };
  const { said } = readingOf(ordinal) ?? {};
  if (said?.kind !== 'replica') return undefined;
  const { missing, unapplied: notApplied } = said;
  const against = againstItself({ ...said, missing: 0 }, readingOf(cluster.primaryIndex)?.last, false)?.kind;
  return {
    notApplied,
    ...(missing !== null && { notReceived: missing }),
    ...(against === 'notReceiving' && { problem: 'NotReceiving' }),
    ...(against === 'notAcknowledging' && { problem: 'NotAcknowledging' }),
  };
}

function memberMessage({ comesBack, evidence }: MemberReport): string | undefined {
  const sentences = [comesBack && explainComesBack(comesBack), evidence && explainEvidence(evidence)];
  return sentences.filter((one) => one !== null).join('; ') || undefined;
}

/** A rule that is not shown yet is not shown for a member either. */
function memberStatuses(
  { decision, snapshot }: Observation,
  shown: Hold | null,
  before: readonly MemberStatus[],
  updateRevision: string,
  backAt: ReadonlyMap<number, string>,
): readonly MemberStatus[] {
  const hidden = shown === null ? decision.hold?.rule : undefined;
  return decision.members.map((member) => {
    const { ordinal, role, revision, updated, state, verdict, rule } = member;
    const known = before.find((one) => one.ordinal === ordinal);
    const since = known?.revision === revision ? known.updatedAt : undefined;
    const seen = member.participating ? backAt.get(ordinal) : undefined;
    return omitUndefined<MemberStatus>({
      ordinal,
      role,
      revision: revision || undefined,
      updated,
      state,
      verdict,
      rule: rule === null || rule === hidden ? undefined : rule,
      message: memberMessage(member),
      update: updateOf(snapshot, ordinal),
      // While MOCO re-creates the StatefulSet it is unknown which members are up to date, so nothing changes.
      replication: replicationOf(snapshot, ordinal),
      updatedAt: updated ? (since ?? seen) : updateRevision === '' ? since : undefined,
    });
  });
}

/**
 * A current revision that a release replaced is remembered until Kubernetes has observed the released StatefulSet.
 * After that no earlier sync of the StatefulSet controller can overwrite the revision.
 */
function promotionLeft(
  { promotion }: RolloutStatus,
  statefulSet: StatefulSetFacts | null,
  onDelete: boolean,
): RolloutStatus['promotion'] {
  if (!promotion || statefulSet === null) return promotion;
  const { labelled, observed, currentRevision } = statefulSet;
  if (labelled) return onDelete ? undefined : promotion;
  return observed && currentRevision !== promotion.from ? undefined : promotion;
}
