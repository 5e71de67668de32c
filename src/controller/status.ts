import type { Decision, Hold } from '../core/decision.ts';
import { explainEvidence, explainHold, type MemberName, phase } from '../core/explain.ts';
import { type ClusterState, untold } from './cluster-state.ts';
import { conditions } from './conditions.ts';
import { defined } from './defined.ts';
import type { Gathered } from './gather.ts';
import { promotionLeft } from './handed-back.ts';
import { strategyShown } from './mode.ts';
import { policyInForce } from './policy-in-force.ts';
import { disruptedFor, progressOf } from './progress.ts';
import { completed, finishedRollout } from './rollout-history.ts';
import type { Intent, MemberStatus, RolloutStatus } from './rollout-resource.ts';
import { withinLimits } from './status-limits.ts';

/** How a member is called in sentences about its cluster. */
export function memberName({ objects }: Gathered): MemberName {
  const stem = objects.statefulSet?.name ?? `moco-${objects.cluster.name}`;
  return (ordinal) => `${stem}-${ordinal}`;
}

/**
 * Rules that pass by themselves within moments. They are neither shown nor announced before they have lasted for
 * `shownAfterSeconds`, so that what people see are the waits that mean something.
 */
const passing: ReadonlySet<Hold['rule']> = new Set([
  'RolloutNotOwned',
  'RolloutTerminating',
  'AwaitingOwnWrite',
  'StatefulSetNotObserved',
  'StatefulSetMissing',
  'StatefulSetDeleting',
  'NotReconciled',
  'MemberMissing',
  'MemberLeaving',
  'RolesNotSettled',
  'BudgetUsed',
  'ClusterNotHealthy',
  'ConfirmationTooSlow',
  'StepRefused',
]);

export const shownAfterSeconds = 10;

/**
 * What every step waits for where all goes well. The Event of the step has announced it: it gets none of its own before
 * it takes long.
 */
export const ofEveryStep: ReadonlySet<string> = new Set<Hold['rule']>([
  'MemberLeaving',
  'UpdatedMemberNotParticipating',
  'AwaitingSwitchover',
]);
const longStepSeconds = 60;

/** After how long a hold gets an Event, where it is one for people's eyes. */
export const announcedAfterSeconds = ({ rule }: Hold): number => (ofEveryStep.has(rule) ? longStepSeconds : 0);

/** Whether a hold that has lasted for so long is for people's eyes. */
export function isShown(hold: Hold, heldForSeconds: number): boolean {
  if (heldForSeconds >= shownAfterSeconds) return true;
  if (hold.rule === 'BlockedByPDB') return hold.cause === 'closed' || hold.cause === 'several';
  return !passing.has(hold.rule);
}

/**
 * The status that follows from a look and its decision. Equal to `before` but for what has changed, timestamps
 * included, so that comparing the two says whether there is anything to write.
 */
export function statusOf(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  nowTimestamp: string,
  intent: Intent | null,
): RolloutStatus {
  const { objects, rollout, snapshot, policy, wishes } = gathered;
  const before: RolloutStatus = rollout?.status ?? {};
  const { statefulSet, cluster } = objects;
  const revision = statefulSet?.updateRevision ?? '';
  const hold = decision.hold !== null && isShown(decision.hold, heldForSeconds) ? decision.hold : null;
  const message = hold === null ? '' : explainHold(hold, memberName(gathered));
  const backAt = backSince(decision, state, revision, nowTimestamp);
  const members = Object.fromEntries(memberStatuses(decision, hold, before.members ?? {}, revision, backAt));
  const ended = untold(before, state);
  const progress = progressOf(before, gathered, decision, state, members, nowTimestamp, intent);
  const unresolved = before.intent && before.intent.id !== state.settledIntent ? before.intent : undefined;
  const finished = finishedRollout(before, progress, decision, disruptedFor(before.rollout?.revision ?? '', ended));
  state.completeSince = decision.complete ? (state.completeSince ?? nowTimestamp) : null;
  const entry = finished && { ...finished, finishedAt: state.completeSince ?? nowTimestamp };
  const status = defined<RolloutStatus>({
    observedGeneration: rollout?.metadata.generation,
    observedClusterGeneration: cluster.generation,
    phase: phase({ ...decision, hold }),
    strategy: strategyShown[policy.mode],
    updateRevision: revision === '' ? undefined : revision,
    currentRevision: statefulSet?.currentRevision || undefined,
    replicas: cluster.replicas,
    updatedReplicas: decision.members.filter((member) => member.updated).length,
    participatingReplicas: decision.members.filter((member) => member.participating).length,
    readyReplicas: decision.members.filter((member) => member.ready).length,
    currentReplicas: snapshot.members.filter((member) => member.revision === statefulSet?.currentRevision).length,
    primary: cluster.primaryIndex >= 0 ? cluster.primaryIndex : undefined,
    hold: hold === null ? undefined : holdStatus(hold, message, before, state, nowTimestamp),
    members,
    intent: intent ?? unresolved,
    lastStep: ended?.lastStep ?? before.lastStep,
    rollout: decision.complete ? undefined : (progress ?? undefined),
    recentRevisions: recentRevisions(before, revision, nowTimestamp),
    lastCompleted: entry ? completed(entry) : before.lastCompleted,
    history: entry ? [...(before.history ?? []), entry] : before.history,
    effectivePolicy: wishes.problem === null ? wishes.sources : before.effectivePolicy,
    handedBack: snapshot.handedBack ? before.handedBack : undefined,
    promotion: promotionLeft(before, snapshot.statefulSet, policy.mode === 'OnDelete' && !snapshot.handedBack),
    conditions: conditions(
      before.conditions ?? [],
      decision,
      hold,
      message,
      policyInForce(gathered),
      rollout?.metadata.generation ?? 0,
      nowTimestamp,
    ),
  });
  return withinLimits(status);
}

/**
 * The status of a MySQLRollout that can't be used, with nothing new in it but the hold that says so: what it remembers
 * is of another cluster, or is about to go, and stays as it is. `null` while the hold is not for people's eyes.
 */
export function unusableStatusOf(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  nowTimestamp: string,
): RolloutStatus | null {
  const { rollout } = gathered;
  const before: RolloutStatus = rollout?.status ?? {};
  const { hold } = decision;
  if (hold === null || !isShown(hold, heldForSeconds)) return null;
  const message = explainHold(hold, memberName(gathered));
  const generation = rollout?.metadata.generation ?? 0;
  const inForce = policyInForce(gathered);
  return withinLimits({
    ...before,
    observedGeneration: generation,
    phase: phase(decision),
    hold: holdStatus(hold, message, before, state, nowTimestamp),
    conditions: conditions(before.conditions ?? [], decision, hold, message, inForce, generation, nowTimestamp),
  });
}

function holdStatus(
  { rule }: Hold,
  message: string,
  before: RolloutStatus,
  state: ClusterState,
  nowTimestamp: string,
): NonNullable<RolloutStatus['hold']> {
  const since = before.hold?.rule === rule ? before.hold.since : (state.holding?.since ?? nowTimestamp);
  return { rule, message, since };
}

/** When each member that takes part at the update revision was first seen to do so. */
function backSince(
  { members }: Decision,
  state: ClusterState,
  revision: string,
  nowTimestamp: string,
): ReadonlyMap<number, string> {
  if (state.back.revision !== revision && revision !== '') state.back = { revision, at: new Map() };
  const { at } = state.back;
  for (const { ordinal, updated, participating } of members) {
    if (!updated) at.delete(ordinal);
    else if (participating && !at.has(ordinal)) at.set(ordinal, nowTimestamp);
  }
  return at;
}

/** A rule that isn't shown yet isn't shown as a member's either. */
function* memberStatuses(
  decision: Decision,
  shown: Hold | null,
  before: Readonly<Record<string, MemberStatus>>,
  updateRevision: string,
  backAt: ReadonlyMap<number, string>,
): Generator<[string, MemberStatus]> {
  const hidden = shown === null ? decision.hold?.rule : undefined;
  for (const member of decision.members) {
    const { ordinal, role, revision, updated, state, verdict, rule, evidence } = member;
    const known = before[String(ordinal)];
    const since = known?.revision === revision ? known.updatedAt : undefined;
    const seen = member.participating ? backAt.get(ordinal) : undefined;
    yield [
      String(ordinal),
      defined({
        role,
        revision: revision ?? undefined,
        updated,
        state,
        verdict,
        rule: rule === null || rule === hidden ? undefined : rule,
        message: evidence === null ? undefined : explainEvidence(evidence),
        // While MOCO re-creates the StatefulSet nobody knows what is up to date, and nothing has changed.
        updatedAt: updated ? (since ?? seen) : updateRevision === '' ? since : undefined,
      }),
    ];
  }
}

const mostRevisionsKept = 8;

/** Each time the update revision changes under our eyes. The one that was there at the first look may be as old as can be. */
function recentRevisions(
  { updateRevision, recentRevisions: known = [] }: RolloutStatus,
  revision: string,
  nowTimestamp: string,
): RolloutStatus['recentRevisions'] {
  if (revision === '' || updateRevision === undefined || updateRevision === revision) return known;
  return [...known, { revision, firstSeenAt: nowTimestamp }].slice(-mostRevisionsKept);
}
