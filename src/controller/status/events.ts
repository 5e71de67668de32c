import { rolloutKind } from '../../api/rollout.ts';
import type { Step } from '../../core/decision.ts';
import { explainHold, isAlarming } from '../../core/rules/catalogue.ts';
import { explainStep } from '../../core/sentences.ts';
import { isDisruptive, ruleOf } from '../../core/step.ts';
import { type Occurrence, referenceTo } from '../../kube/event.ts';
import { pods } from '../../kube/resource.ts';
import { clusterKind } from '../../moco/names.ts';
import { memberName } from '../facts/member-name.ts';
import type { ObservedFacts } from '../pass/collect-facts.ts';
import { type Acted, sparesSwitchover } from '../pass/end.ts';
import type { Observation } from '../pass/observe.ts';
import type { EndedSetting } from './changes.ts';
import { isShown, reportedAfterSeconds } from './due.ts';

// The Events about a cluster: their reasons and messages, and when they are due.

/** The facts about a cluster that an Event needs. */
export type EventSubject = Pick<ObservedFacts, 'objects' | 'rollout'>;

/** The reasons of events about steps, in the past tense as in Kubernetes. */
export const stepReasons: Readonly<Record<Exclude<Step['kind'], 'none'>, string>> = {
  delete: 'Deleted',
  restore: 'Restored',
  evict: 'Evicted',
  updateInPlace: 'UpdatedInPlace',
  resizeInPlace: 'ResizedInPlace',
  demote: 'Demoted',
  undemote: 'DemotionTakenBack',
  setStrategy: 'StrategySet',
  release: 'Released',
  setPartition: 'PartitionUpdate',
  promoteRevision: 'RevisionPromoted',
};

/**
 * The Event of a step that was done, even if only in part. If a step only removes an annotation of this program, there
 * is no Event.
 */
export function stepEvent({ observation, step, done }: Acted): Occurrence | null {
  const [target] = done;
  if (step.kind === 'none' || target === undefined || (step.kind === 'undemote' && !step.demoted)) return null;
  const pod = observation.objects.pods.find(({ uid }) => uid === target.uid);
  return {
    ...objectsOf(observation),
    ...(pod && { related: referenceTo(pods, pod) }),
    type: step.kind === 'undemote' ? 'Warning' : 'Normal',
    reason: stepReasons[step.kind],
    action: isDisruptive(step) ? ruleOf(step) : step.kind,
    note: `${explainStep(step)}${avoided(step, observation)}${left(step, observation)}`,
  };
}

/** The node that a member leaves, and why it is being taken out of service. */
function left(step: Step, { snapshot: { members } }: Observation): string {
  if (!('rule' in step) || step.rule !== 'NodeLeaving') return '';
  const member = members.find(({ ordinal }) => step.targets.some((target) => target.ordinal === ordinal));
  return member === undefined || member.leaving === null ? '' : ` (node ${member.node} ${member.leaving})`;
}

/**
 * What the step avoided, as an addition to the note. A resize has no such addition; the update that follows it does.
 */
function avoided(step: Step, { objects }: Observation): string {
  if (step.kind !== 'updateInPlace') return '';
  return `; this avoids a restart of mysqld${sparesSwitchover(step, objects) ? ' and a switchover' : ''}`;
}

/** The Event of a hold that has lasted long enough, unless it was the last one reported. */
export function holdEvent(observation: Observation): Occurrence | null {
  const { decision, memory, heldForSeconds } = observation;
  const { hold } = decision;
  if (hold === null || memory.published.reported === hold.rule) return null;
  if (!isShown(hold, heldForSeconds) || heldForSeconds < reportedAfterSeconds(hold)) return null;
  return {
    ...objectsOf(observation),
    type: isAlarming(hold.rule) ? 'Warning' : 'Normal',
    reason: hold.rule,
    action: 'Waiting',
    note: explainHold(hold, memberName(observation)),
  };
}

/** The Event of a member that restarted at the update revision without a step. */
export function outOfBandEvent(facts: EventSubject, ordinal: number): Occurrence {
  const revision = facts.objects.statefulSet?.updateRevision ?? '';
  const note = `came up at revision ${revision} without a step of this controller: another client drained its node, or evicted or deleted its pod`;
  return warningAbout(facts, ordinal, { reason: 'UpdatedOutOfBand', action: 'Updated' }, (name) => `${name} ${note}`);
}

/** The Event of a member whose mysqld restarted because of containers that an update in place had restarted. */
export const mysqldRestartedEvent = (facts: EventSubject, ordinal: number): Occurrence =>
  warningAbout(
    facts,
    ordinal,
    { reason: 'MysqldRestarted', action: 'UpdatedInPlace' },
    (name) =>
      `mysqld of ${name} restarted because its pod was changed in place; no other member restarts containers or is resized in place for this revision`,
  );

/** The Event of an override or a pause that has ended. */
export const endedEvent = (facts: EventSubject, { reason, note }: EndedSetting): Occurrence => ({
  ...objectsOf(facts),
  type: 'Normal',
  reason,
  action: 'Setting',
  note,
});

function warningAbout(
  facts: EventSubject,
  ordinal: number,
  names: Pick<Occurrence, 'reason' | 'action'>,
  note: (name: string) => string,
): Occurrence {
  const pod = facts.objects.pods.find((candidate) => candidate.ordinal === ordinal);
  const related = pod && { related: referenceTo(pods, pod) };
  return { ...objectsOf(facts), ...related, type: 'Warning', ...names, note: note(pod?.name ?? `member ${ordinal}`) };
}

/** The MySQLCluster, and its MySQLRollout once there is one (docs/decisions/0018-events-on-both-objects.md). */
function objectsOf({ objects, rollout }: EventSubject): Pick<Occurrence, 'regarding' | 'alsoRegarding'> {
  const regarding = referenceTo(clusterKind, objects.cluster);
  return rollout === null ? { regarding } : { regarding, alsoRegarding: referenceTo(rolloutKind, rollout.metadata) };
}
