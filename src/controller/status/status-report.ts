import type { RolloutProgress, SwitchoverTries } from '../../api/rollout-progress.ts';
import type { Intent, MemberStatus, RolloutStatus } from '../../api/rollout-status.ts';
import { omitUndefined } from '../../base/json.ts';
import type { MemberReport } from '../../core/decision.ts';
import { explainInPlace } from '../../core/in-place.ts';
import { sortedVersions } from '../../core/mysql-versions.ts';
import { versionOfMysqld } from '../../core/mysqld-data.ts';
import { phase } from '../../core/reports.ts';
import { explainEvidence, explainRecreated } from '../../core/sentences.ts';
import type { ClusterSnapshot, StatefulSetFacts } from '../../core/snapshot.ts';
import type { Observation } from '../pass/observe.ts';
import { answeredFields, answeredMemberFields } from '../questions/questions.ts';
import { type Changes, changesOf, endedSettings } from './changes.ts';
import { conditions } from './conditions.ts';
import { progressOf } from './progress.ts';
import { finishedRollout, heldForOf } from './rollout-history.ts';
import { type StatusContext, statusContextOf } from './status-context.ts';
import { withinLimits } from './status-limits.ts';

// Builds the status of a MySQLRollout from an observation.

/** A status, and what has ended since the stored status. */
export interface StatusReport {
  readonly status: RolloutStatus;
  readonly changes: Changes;
}

/**
 * The status that follows from an observation. `intent` is the step that is about to be performed. Everything that has
 * not changed, including timestamps, is equal to the stored status. So comparing the two statuses shows whether a write
 * is needed.
 */
export function statusOf(observation: Observation, intent: Intent | null): StatusReport {
  const context = statusContextOf(observation, intent);
  const { objects, rollout, snapshot, policy, settings, decision, memory, before, shown, ended, now } = context;
  const { statefulSet, cluster } = objects;
  const members = memberStatuses(context);
  const hold = holdStatus(context);
  const progress = progressOf(context, members);
  const entry = finishedRollout(context, progress);
  const status = omitUndefined<RolloutStatus>({
    observedGeneration: rollout?.metadata.generation,
    observedClusterGeneration: cluster.generation,
    phase: phase({ ...decision, hold: shown?.hold ?? null }),
    strategy: observation.strategyShown,
    ...answeredFields(memory.answers, observation),
    nodeMaintenance: nodeMaintenanceOf(context, progress),
    updatesInPlace: policy.inPlaceUpdates.mode === 'Never' ? undefined : true,
    updateRevision: statefulSet?.updateRevision || undefined,
    currentRevision: statefulSet?.currentRevision || undefined,
    replicas: cluster.replicas,
    updatedReplicas: decision.members.filter((member) => member.updated).length,
    participatingReplicas: decision.members.filter((member) => member.participating).length,
    readyReplicas: decision.members.filter((member) => member.ready).length,
    currentReplicas: snapshot.members.filter((member) => member.revision === statefulSet?.currentRevision).length,
    primary: cluster.primaryIndex >= 0 ? cluster.primaryIndex : undefined,
    mysqlVersion: sortedVersions(snapshot.members.map(({ mysqld }) => versionOfMysqld(context, mysqld))).at(-1),
    hold,
    members,
    intent: intent ?? context.unresolved ?? undefined,
    lastStep: ended?.lastStep ?? before.lastStep,
    completeSince: completeSince(context),
    rollout: decision.complete || progress === null ? undefined : withHolds(progress, context, hold),
    history: entry ? [...(before.history ?? []), entry] : before.history,
    settings: settings.problem === null ? settings.sources : before.settings,
    promotion: promotionLeft(before, snapshot.statefulSet, policy.mode === 'OnDelete' && !snapshot.released),
    conditions: conditions(context),
  });
  const takenBack = (before.intent?.step ?? status.lastStep?.step) === 'undemote';
  return {
    status: withinLimits(status),
    changes: changesOf(
      before.rollout,
      progress,
      entry,
      takenBack,
      memory.seen.switchedOverAt ?? now,
      endedSettings(before.settings, status.settings, now),
    ),
  };
}

/**
 * The status of an unusable MySQLRollout. It shows the hold that explains why it is unusable. The members and the
 * rollout stay as they are, because the object belongs to another cluster or is about to be deleted. `null` while the
 * hold is not shown.
 */
export function unusableStatusOf(observation: Observation): StatusReport | null {
  const context = statusContextOf(observation, null);
  const hold = holdStatus(context);
  if (hold === undefined) return null;
  const status = withinLimits({
    ...context.before,
    observedGeneration: observation.rollout?.metadata.generation ?? 0,
    phase: phase(observation.decision),
    hold,
    conditions: conditions(context),
  });
  return { status, changes: { finished: null, switchover: null, outOfBand: [], mysqldRestarted: [], ended: [] } };
}

/**
 * Counts failed switchovers away from a node while there is no rollout. During a rollout they count as those of the
 * rollout. The count is dropped once no member has to leave its node.
 */
function nodeMaintenanceOf(
  { before, policy, snapshot, ended, now }: StatusContext,
  progress: RolloutProgress | null,
): RolloutStatus['nodeMaintenance'] {
  const { nodeMaintenance: setting } = policy;
  if (setting === 'Ignore') return undefined;
  const isOver = snapshot.members.every(({ leaving, demotedFor }) => leaving === null && demotedFor === null);
  const { count = 0, lastEndedAt } = before.nodeMaintenance?.tries ?? {};
  const failed = progress === null && ended?.result === 'done' && ended.demotion === 'timedOut';
  const tries = failed
    ? { count: count + 1, lastEndedAt: now }
    : omitUndefined<SwitchoverTries>({ count, lastEndedAt });
  return { setting, ...(!isOver && tries.count > 0 && { tries }) };
}

function withHolds(
  progress: RolloutProgress,
  { before: { rollout, hold }, now }: StatusContext,
  shown: RolloutStatus['hold'],
): RolloutProgress {
  if (rollout?.revision !== progress.revision) return progress;
  return omitUndefined<RolloutProgress>({ ...progress, heldFor: heldForOf(rollout, hold, shown, now) });
}

/**
 * Since when the cluster has been complete and healthy. Stages measure their soak from this time, even if another
 * process leads by then.
 */
function completeSince({ before, decision, snapshot, objects, now }: StatusContext): string | undefined {
  const { complete, hold, checksPass } = decision;
  const isHeld = hold?.rule === 'CheckFailing' || hold?.rule === 'CheckUnavailable';
  if (!complete || !snapshot.cluster.healthy || isHeld) return undefined;
  const isSame = before.updateRevision === objects.statefulSet?.updateRevision;
  return (isSame ? before.completeSince : undefined) ?? (checksPass ? now : undefined);
}

function holdStatus({ shown, before, memory, now }: StatusContext): RolloutStatus['hold'] {
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

function mysqldOf(context: StatusContext, ordinal: number): MemberStatus['mysqld'] {
  const facts = context.snapshot.members.find((member) => member.ordinal === ordinal);
  return versionOfMysqld(context, facts?.mysqld ?? null) ?? undefined;
}

function memberMessage({ recreated, evidence }: MemberReport): string | undefined {
  const sentences = [recreated && explainRecreated(recreated), evidence && explainEvidence(evidence)];
  return sentences.filter((one) => one !== null).join('; ') || undefined;
}

/** The statuses of the members. If a rule is not shown yet for the cluster, it is not shown for a member either. */
function memberStatuses(context: StatusContext): readonly MemberStatus[] {
  const { objects, decision, snapshot, memory, before, shown } = context;
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
      rule: (rule === decision.hold?.rule ? shown?.hold.rule : rule) ?? undefined,
      message: memberMessage(member),
      update: updateOf(snapshot, ordinal),
      mysqld: mysqldOf(context, ordinal),
      // While MOCO re-creates the StatefulSet, it is unknown which members are up to date, so the time stays unchanged.
      ...answeredMemberFields(memory.answers, context, ordinal),
      updatedAt: updated ? (since ?? seen) : objects.statefulSet?.updateRevision ? undefined : since,
    });
  });
}

/**
 * The current revision that a release replaced. It is kept until Kubernetes has observed the released StatefulSet.
 * Until then, a sync that the StatefulSet controller began earlier may overwrite the new current revision.
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
