import { annotationOn, forceRollingUpdateAnnotation, revisionHashLabel } from '../../../src/moco/names.ts';
import type { ClusterView } from './cluster-view.ts';
import { isTrue } from './conditions.ts';
import type { Pod, StatefulSet } from './objects.ts';
import { isReady } from './pods.ts';
import type { PartitionIntervals } from './settings.ts';
import type { Patch } from './write.ts';

/** The result of one run of MOCO's partition controller. */
export interface PartitionLook {
  readonly write: Patch | null;
  /** Replaces the delay of an earlier run; `null` waits for an event of the StatefulSet or of its pods. */
  readonly requeueAfterMilliseconds: number | null;
}

const nothing: PartitionLook = { write: null, requeueAfterMilliseconds: null };

/**
 * MOCO's partition controller. It knows no budget, no backup and no `prevent-delete`. It runs only on events of the
 * StatefulSet and its pods and after its own delays: not when the MySQLCluster becomes healthy.
 */
export function lowerPartition(
  view: ClusterView,
  intervals: PartitionIntervals,
  wallMilliseconds: number,
): PartitionLook {
  const { cluster, statefulSet } = view;
  if (statefulSet === null) {
    return nothing;
  }
  if (
    cluster.metadata.generation !== cluster.status?.reconcileInfo?.generation ||
    statefulSet.metadata.generation !== statefulSet.status?.observedGeneration
  ) {
    return { write: null, requeueAfterMilliseconds: intervals.notReconciled };
  }
  const partition = statefulSet.spec.updateStrategy?.rollingUpdate?.partition;
  if (isForced(statefulSet) || partition === undefined || partition <= 0) {
    return nothing;
  }
  if (!mayGoOn(view, statefulSet, partition, intervals, wallMilliseconds)) {
    return { write: null, requeueAfterMilliseconds: intervals.notReady };
  }
  const { name, namespace, uid } = statefulSet.metadata;
  return {
    write: {
      verb: 'patch',
      kind: 'StatefulSet',
      namespace,
      name,
      uid,
      body: { spec: { updateStrategy: { rollingUpdate: { partition: partition - 1 } } } },
    },
    requeueAfterMilliseconds: intervals.afterStep,
  };
}

function isForced(statefulSet: StatefulSet): boolean {
  return statefulSet.metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn;
}

function mayGoOn(
  view: ClusterView,
  statefulSet: StatefulSet,
  partition: number,
  intervals: PartitionIntervals,
  wallMilliseconds: number,
): boolean {
  const replicas = statefulSet.spec.replicas ?? 1;
  if (replicas === (statefulSet.status?.updatedReplicas ?? 0)) {
    return true;
  }
  const pods = sortedByName(view.pods);
  const target = pods[partition - 1];
  if (pods.length !== replicas || target === undefined) {
    return false;
  }
  if (isUpdated(target, statefulSet)) {
    return true;
  }
  // A target that is not ready needs no healthy cluster: its replacement may be the cure.
  if (isReady(target) && !isTrue(view.cluster.status?.conditions, 'Healthy')) {
    return false;
  }
  return pods.every(
    (pod, index) =>
      pod === target ||
      ((index < partition || isUpdated(pod, statefulSet)) &&
        pod.metadata.deletionTimestamp === undefined &&
        isAvailable(pod, intervals.available, wallMilliseconds) &&
        [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].every(
          ({ ready }) => ready === true,
        )),
  );
}

/** As strings, like MOCO: from eleven members on, number 10 comes before number 2. */
function sortedByName(pods: readonly Pod[]): Pod[] {
  return [...pods].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
}

function isUpdated(pod: Pod, statefulSet: StatefulSet): boolean {
  return pod.metadata.labels?.[revisionHashLabel] === statefulSet.status?.updateRevision;
}

function isAvailable(pod: Pod, milliseconds: number, wallMilliseconds: number): boolean {
  const condition = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  const since = Date.parse(condition?.lastTransitionTime ?? '');
  return condition?.status === 'True' && since + milliseconds < wallMilliseconds;
}
