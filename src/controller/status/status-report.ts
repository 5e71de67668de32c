import type { Intent, MemberStatus, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import { omitUndefined } from '../../base/json.ts';
import type { MemberReport } from '../../core/decision.ts';
import { mysqldOf } from '../../core/member.ts';
import type { MysqlReading } from '../../core/on-demand-facts.ts';
import { againstItself, freshSeconds } from '../../core/replicas-behind.ts';
import { phase } from '../../core/reports.ts';
import { longWriteSeconds } from '../../core/rules/long-write.ts';
import { andMore, explainEvidence, explainRecreated } from '../../core/sentences.ts';
import type { ClusterSnapshot, StatefulSetFacts } from '../../core/snapshot.ts';
import { explainInPlace } from '../../core/update-in-place.ts';
import { memberName } from '../facts/collect-facts.ts';
import { lastPreflight, preflightOf, questionsOf, statusOfQuestions } from '../facts/preflight-facts.ts';
import type { Observation } from '../pass/observe.ts';
import { conditions } from './conditions.ts';
import { type News, newsOf } from './news.ts';
import { type Occasion, occasionOf } from './occasion.ts';
import { progressOf } from './progress.ts';
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
  const occasion = occasionOf(observation, intent);
  const { objects, rollout, snapshot, policy, settings, decision, memory, before, shown, ended, now } = occasion;
  const { statefulSet, cluster } = objects;
  const members = memberStatuses(occasion);
  const hold = holdStatus(occasion);
  const progress = progressOf(occasion, members);
  const entry = finishedRollout(occasion, progress);
  const status = omitUndefined<RolloutStatus>({
    observedGeneration: rollout?.metadata.generation,
    observedClusterGeneration: cluster.generation,
    phase: phase({ ...decision, hold: shown?.hold ?? null }),
    strategy: observation.strategyShown,
    mysqlProblem: mysqlProblemOf(observation),
    preflight: preflightStatus(observation),
    openWrites: openWritesOf(snapshot),
    updatesInPlace: policy.inPlaceUpdates.mode === 'Never' ? undefined : true,
    updateRevision: statefulSet?.updateRevision || undefined,
    currentRevision: statefulSet?.currentRevision || undefined,
    replicas: cluster.replicas,
    updatedReplicas: decision.members.filter((member) => member.updated).length,
    participatingReplicas: decision.members.filter((member) => member.participating).length,
    readyReplicas: decision.members.filter((member) => member.ready).length,
    currentReplicas: snapshot.members.filter((member) => member.revision === statefulSet?.currentRevision).length,
    primary: cluster.primaryIndex >= 0 ? cluster.primaryIndex : undefined,
    hold,
    members,
    intent: intent ?? occasion.unresolved ?? undefined,
    lastStep: ended?.lastStep ?? before.lastStep,
    completeSince: completeSince(occasion),
    rollout: decision.complete || progress === null ? undefined : withHolds(progress, occasion, hold),
    history: entry ? [...(before.history ?? []), entry] : before.history,
    settings: settings.problem === null ? settings.sources : before.settings,
    promotion: promotionLeft(before, snapshot.statefulSet, policy.mode === 'OnDelete' && !snapshot.released),
    conditions: conditions(occasion),
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
  const occasion = occasionOf(observation, null);
  const hold = holdStatus(occasion);
  if (hold === undefined) return null;
  const status = withinLimits({
    ...occasion.before,
    observedGeneration: observation.rollout?.metadata.generation ?? 0,
    phase: phase(observation.decision),
    hold,
    conditions: conditions(occasion),
  });
  return { status, news: { finished: null, switchover: null, outOfBand: [], mysqldRestarted: [] } };
}

function withHolds(
  progress: RolloutProgress,
  { before: { rollout, hold }, now }: Occasion,
  shown: RolloutStatus['hold'],
): RolloutProgress {
  if (rollout?.revision !== progress.revision) return progress;
  return omitUndefined<RolloutProgress>({ ...progress, heldFor: heldForOf(rollout, hold, shown, now) });
}

/** Stages count their soak from it, whoever leads. */
function completeSince({ before, decision, snapshot, objects, now }: Occasion): string | undefined {
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

function holdStatus({ shown, before, memory, now }: Occasion): RolloutStatus['hold'] {
  if (shown === null) return undefined;
  const { hold, message } = shown;
  const { rule } = hold;
  const since = before.hold?.rule === rule ? before.hold.since : (memory.seen.holding?.since ?? now);
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

function memberMessage({ recreated, evidence }: MemberReport): string | undefined {
  const sentences = [recreated && explainRecreated(recreated), evidence && explainEvidence(evidence)];
  return sentences.filter((one) => one !== null).join('; ') || undefined;
}

/** A rule that is not shown yet is not shown for a member either. */
function memberStatuses({ objects, decision, snapshot, memory, before, shown }: Occasion): readonly MemberStatus[] {
  const hidden = shown === null ? decision.hold?.rule : undefined;
  return decision.members.map((member) => {
    const { ordinal, role, revision, updated, state, verdict, rule } = member;
    const known = before.members?.find((one) => one.ordinal === ordinal);
    const since = known?.revision === revision ? known.updatedAt : undefined;
    const seen = member.participating ? memory.seen.back.at.get(ordinal) : undefined;
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
      updatedAt: updated ? (since ?? seen) : objects.statefulSet?.updateRevision ? undefined : since,
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
