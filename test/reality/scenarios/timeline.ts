import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import {
  annotationOn,
  demoteAnnotation,
  preventDeleteAnnotation,
  revisionHashLabel,
  roleLabel,
} from '../../../src/moco/names.ts';
import type { MySQLCluster, StatefulSet } from '../../support/moco/objects.ts';
import type { Change } from '../../verification/witness/moment.ts';
import type {
  WitnessedJob,
  WitnessedNode,
  WitnessedObject,
  WitnessedPod,
  WitnessedPolicy,
} from '../../verification/witness/objects.ts';

/** Something that a person who reads a rollout wants to know, and when it was. */
export interface Entry {
  readonly atMilliseconds: number;
  /** Such as `Pod moco-test-0`. */
  readonly what: string;
  readonly text: string;
}

const longestSuffix = 5;

/** The changes of a cluster's objects in words, without those that change nothing of what is said. */
export function entriesOf(changes: readonly Change[]): readonly Entry[] {
  const latest = new Map<string, string>();
  return changes.flatMap((change): Entry[] => {
    const what = `${change.kind} ${change.identity.metadata.name}`;
    const text = change.object === null ? 'is gone' : sentenceOf(change.kind, change.object);
    if (latest.get(what) === text) return [];
    latest.set(what, text);
    return [{ atMilliseconds: change.atMilliseconds, what, text }];
  });
}

/** One line each, in order of time. */
export function timelineOf(entries: readonly Entry[]): string {
  const width = Math.max(0, ...entries.map(({ what }) => what.length));
  return entries
    .toSorted((one, other) => one.atMilliseconds - other.atMilliseconds)
    .map(({ atMilliseconds, what, text }) => `${timeOf(atMilliseconds)}  ${what.padEnd(width)}  ${text}\n`)
    .join('');
}

/** Such as `12:34:56.789`, in UTC. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice('YYYY-MM-DDT'.length, -'Z'.length);
}

function sentenceOf(kind: Change['kind'], object: WitnessedObject): string {
  switch (kind) {
    case 'MySQLCluster':
      return clusterSentence(object as unknown as MySQLCluster);
    case 'StatefulSet':
      return statefulSetSentence(object as unknown as StatefulSet);
    case 'Pod':
      return podSentence(object as WitnessedPod);
    case 'MySQLRollout':
      return rolloutSentence((object as { readonly status?: RolloutStatus }).status ?? {});
    case 'PodDisruptionBudget':
      return budgetSentence(object);
    case 'PersistentVolumeClaim':
      return object.metadata.deletionTimestamp === undefined ? 'kept' : 'is being deleted';
    case 'Job':
      return jobSentence(object);
    case 'MySQLRolloutPolicy':
      return (object as WitnessedPolicy).spec?.enforced?.paused === true ? 'pauses' : 'does not pause';
    case 'Node':
      return (object as WitnessedNode).spec?.unschedulable === true ? 'is cordoned' : 'takes pods';
  }
}

function jobSentence({ status }: WitnessedJob): string {
  const is = (status?.conditions ?? []).filter((one) => one.status === 'True').map(({ type }) => type);
  return joined(is.length === 0 ? ['active'] : is);
}

function clusterSentence({ spec, status = {} }: MySQLCluster): string {
  const { currentPrimaryIndex, syncedReplicas, errantReplicas = 0, conditions = [] } = status;
  const states = conditions.map(({ type, status: state }) => `${type}=${state}`);
  return joined([
    `${spec.replicas} replicas`,
    `primary ${currentPrimaryIndex ?? 'none'}`,
    `${syncedReplicas ?? 0} synced`,
    errantReplicas > 0 && `${errantReplicas} errant`,
    ...states,
  ]);
}

function statefulSetSentence({ spec, status = {} }: StatefulSet): string {
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  const { currentRevision, updateRevision, updatedReplicas = 0, readyReplicas = 0 } = status;
  return joined([
    `${spec.replicas ?? 1} replicas`,
    type,
    rollingUpdate?.partition !== undefined && `partition ${rollingUpdate.partition}`,
    `revision ${suffix(currentRevision)} to ${suffix(updateRevision)}`,
    `${updatedReplicas} updated`,
    `${readyReplicas} ready`,
  ]);
}

function podSentence({ metadata, spec, status = {} }: WitnessedPod): string {
  const { labels = {}, annotations = {}, deletionTimestamp } = metadata;
  const isReady = status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(
    ({ name, ready, started, restartCount = 0, state = {} }) => {
      const reason = state.waiting?.reason;
      const word = ready ? 'ready' : started ? 'started' : (reason ?? Object.keys(state)[0] ?? 'unknown');
      return `${name} ${word}${restartCount > 0 ? ` after ${restartCount} restarts` : ''}`;
    },
  );
  return joined([
    deletionTimestamp !== undefined && 'terminating',
    isReady ? 'ready' : 'not ready',
    labels[roleLabel] ?? 'no role',
    annotations[demoteAnnotation] === annotationOn && 'demote',
    annotations[preventDeleteAnnotation] === annotationOn && 'prevent-delete',
    `revision ${suffix(labels[revisionHashLabel])}`,
    spec.containers[0]?.image,
    status.phase,
    ...containers,
  ]);
}

function rolloutSentence({ phase, hold, intent, lastStep, conditions = [], members = [] }: RolloutStatus): string {
  const pods = intent?.pods.map(({ name }) => name).join(' ') ?? '';
  return joined([
    phase,
    hold && `held by ${hold.rule}: ${hold.message}`,
    intent && `about to ${intent.step} ${pods} (${intent.rule})`,
    lastStep && `last ${lastStep.step} ${lastStep.pods.join(' ')}: ${lastStep.result}`,
    ...members.map((member) => `${member.ordinal} ${member.state} ${member.verdict}`),
    ...conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  ]);
}

interface Budget extends WitnessedObject {
  readonly spec?: { readonly maxUnavailable?: number | string };
  readonly status?: { readonly currentHealthy?: number; readonly disruptionsAllowed?: number };
}

function budgetSentence({ spec, status }: Budget): string {
  return joined([
    `maxUnavailable ${spec?.maxUnavailable ?? 'none'}`,
    `${status?.currentHealthy ?? 0} healthy`,
    `${status?.disruptionsAllowed ?? 0} may be disrupted`,
  ]);
}

function joined(parts: readonly (string | false | undefined)[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(', ');
}

function suffix(revision: string | undefined): string {
  return revision?.slice(-longestSuffix) ?? 'none';
}
