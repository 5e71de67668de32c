import type { MySQLRollout } from '../../src/api/rollout.ts';
import {
  clusterKind,
  clusterNameLabel,
  mysqldContainer,
  newPodsAtCurrentRevision,
  newPodsLabel,
  revisionHashLabel,
  roleLabel,
  rolePrimary,
  roleReplica,
  rolloutCompleteCondition,
} from '../../src/moco/names.ts';
import { ordinalOf } from '../support/moco/names.ts';
import type { MySQLCluster, Pod } from '../support/moco/objects.ts';
import { conditionOf, type History, type Moment } from './rollout-history.ts';
import type { Deed, Disruption } from './rollout-story.ts';

/**
 * Holds every disruption of a story against the invariants, on the objects as the API server had them. A condition has
 * to hold at some moment between the step being written down, which its confirmation precedes, and its commit; what
 * ceased to hold in between is a race and no fault. Returns a sentence for each violation.
 */
export function violations(story: readonly Deed[], namespace: string, history: History): readonly string[] {
  const disruptions = story.filter(({ disruption, code }) => disruption !== null && code < 300);
  return [
    ...twice(disruptions),
    ...saidTooEarly(namespace, history),
    ...disruptions.flatMap(({ text, disruption }) =>
      disruption === null ? [] : judge(disruption, namespace, history).map((sentence) => `${text}: ${sentence}`),
    ),
  ];
}

function twice(disruptions: readonly Deed[]): readonly string[] {
  const seen = new Set<string>();
  return disruptions.flatMap(({ text, disruption }) => {
    const uid = disruption?.uid ?? '';
    if (seen.has(uid)) return [`${text}: the same pod was disrupted before`];
    seen.add(uid);
    return [];
  });
}

/** `RolloutComplete` of a generation was True before every member ran what that generation asks for. */
function saidTooEarly(namespace: string, history: History): readonly string[] {
  // There may be another cluster in the namespace; the one under test was there first.
  const clusterName = history.now(namespace).cluster?.metadata.name;
  const said = history.revisions(
    namespace,
    (object, kind) =>
      kind === clusterKind && object.metadata.name === clusterName && isSaidComplete(object as MySQLCluster),
  );
  const early = said.filter((revision) => {
    const { cluster, pods } = history.before(namespace, revision + 1);
    const wanted = cluster?.spec.podTemplate.spec.containers.find(({ name }) => name === mysqldContainer)?.image;
    const members = pods.filter(({ metadata }) => metadata.labels?.[clusterNameLabel] === clusterName);
    return members.some((pod) => imageOf(pod) !== wanted);
  });
  return early.length === 0 ? [] : [`RolloutComplete was True too early, at the revisions ${early.join(', ')}`];
}

function isSaidComplete(cluster: MySQLCluster): boolean {
  const complete = conditionOf(cluster, rolloutCompleteCondition);
  return complete?.status === 'True' && complete.observedGeneration === cluster.metadata.generation;
}

/** The image of mysqld. */
export function imageOf(pod: Pod): string | undefined {
  const { spec } = pod as Pod & { spec?: { containers: readonly { name: string; image: string }[] } };
  return spec?.containers.find(({ name }) => name === mysqldContainer)?.image;
}

type Law = readonly [violation: string, holds: (moment: Moment, target: Pod, disruption: Disruption) => boolean];

const laws: readonly Law[] = [
  [
    'I5: the member was updated already',
    ({ statefulSet }, target) =>
      revisionOf(target) !== statefulSet?.status?.updateRevision ||
      // It comes back at the revision that it had.
      (statefulSet?.metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision && !isReady(target)),
  ],
  [
    'I2: fewer than a majority went on participating',
    (moment, target) =>
      replicasOf(moment) < 3 ||
      !participates(target) ||
      others(moment, target).filter(participates).length >= Math.floor(replicasOf(moment) / 2) + 1,
  ],
  [
    'I3: the primary was disrupted while it participated, without a switchover away from it',
    (moment, target) => replicasOf(moment) === 1 || !isWell(target) || ordinal(target) !== primaryOf(moment),
  ],
  [
    'I4: a member that was well was not evicted but deleted',
    (_, target, { verb }) => verb === 'evict' || !isWell(target),
  ],
  [
    'more than one member away: a healthy one was evicted while another did not participate',
    (moment, target, { verb }) =>
      verb === 'delete' || others(moment, target).filter(participates).length >= replicasOf(moment) - 1,
  ],
  [
    'a healthy member was evicted before MOCO had finished with another',
    (moment, target, { verb }) => verb === 'delete' || others(moment, target).every((pod) => isSettled(pod, moment)),
  ],
];

function judge(disruption: Disruption, namespace: string, history: History): readonly string[] {
  const { uid, resourceVersion } = disruption;
  if (uid === undefined || resourceVersion === undefined) return ['I9: it carried no uid and resourceVersion'];
  const commit = history.leftAt(namespace, uid);
  if (commit === null) return ['the API server agreed to it, and the pod never left'];
  const [intended] = history.revisions(namespace, (object) => intends(object as unknown as MySQLRollout, uid));
  const from = intended === undefined ? commit : intended + 1;
  const moments = history.changes(namespace, from, commit).map((revision) => history.before(namespace, revision));
  const broken = laws.filter(([, holds]) =>
    moments.every((moment) => {
      const target = moment.pods.find((pod) => pod.metadata.uid === uid);
      return target === undefined || !holds(moment, target, disruption);
    }),
  );
  return [
    ...(intended === undefined ? ['it was not written down before it was done'] : []),
    ...broken.map(([violation]) => violation),
  ];
}

function intends({ status }: MySQLRollout, uid: string): boolean {
  return status?.intent?.pods.some((pod) => pod.uid === uid) ?? false;
}

function replicasOf({ cluster }: Moment): number {
  return cluster?.spec.replicas ?? 0;
}

function primaryOf({ cluster }: Moment): number {
  return cluster?.status?.currentPrimaryIndex ?? 0;
}

function ordinal(pod: Pod): number {
  return ordinalOf(pod.metadata.name);
}

function others({ pods }: Moment, target: Pod): readonly Pod[] {
  return pods.filter((pod) => pod !== target);
}

function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[revisionHashLabel];
}

/** Whether a pod that stays is of the update revision, which is not the current one. */
export function isUpdated({ now }: { readonly now: Pick<Moment, 'statefulSet'> }, { metadata }: Pod): boolean {
  const { updateRevision, currentRevision } = now.statefulSet?.status ?? {};
  return (
    metadata.deletionTimestamp === undefined &&
    metadata.labels?.[revisionHashLabel] === updateRevision &&
    updateRevision !== currentRevision
  );
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
}

/** The kubelet is gone: Ready is False while every container still says that it is ready. */
function isUnreachable(pod: Pod): boolean {
  return !isReady(pod) && (pod.status?.containerStatuses?.every(({ ready }) => ready === true) ?? false);
}

export function participates(pod: Pod): boolean {
  const mysqld = pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
  return pod.metadata.deletionTimestamp === undefined && mysqld?.ready === true && !isUnreachable(pod);
}

/** Participating, with every container at work. */
function isWell(pod: Pod): boolean {
  return participates(pod) && (pod.status?.containerStatuses?.every(({ ready }) => ready === true) ?? false);
}

function isSettled(pod: Pod, moment: Moment): boolean {
  return pod.metadata.labels?.[roleLabel] === (ordinal(pod) === primaryOf(moment) ? rolePrimary : roleReplica);
}
