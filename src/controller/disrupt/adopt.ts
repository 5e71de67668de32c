import {
  admissionProbeAnnotation,
  newPodsLabel,
  probeSent,
  strategyLabel,
  strategyOnDelete,
} from '../../moco/names.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-client.ts';
import { describe, dryRun, notInForce, whicheverVersion } from './patch-stateful-set.ts';

const labels = { [strategyLabel]: strategyOnDelete, [newPodsLabel]: null };
const setOnDelete: StatefulSetPatch = {
  labels,
  spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
};
/** The strategy that the next writer of the StatefulSet may request. */
const requestRollingUpdate: StatefulSetPatch = {
  labels,
  spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
};

/**
 * Sets the StatefulSet to OnDelete and adds the label that keeps it there, without the one for new pods. Two dry runs
 * come first: the same patch, and a patch that requests RollingUpdate, as MOCO's next write does. Nothing is written
 * unless both results have OnDelete and the label.
 *
 * The uid is the only precondition. What the patch does is the same whatever else has changed: from then on nobody but
 * this program replaces pods. MOCO writes some StatefulSets several times a second until they are adopted.
 */
export async function adopt(statefulSet: StatefulSetRecord, api: ClusterApi): Promise<StatefulSetRecord | null> {
  const patch = (change: StatefulSetPatch, isDryRun: boolean) => whicheverVersion(statefulSet, change, api, isDryRun);
  for (const [change, what] of [
    [setOnDelete, 'a dry run that sets OnDelete'],
    [requestRollingUpdate, 'a dry run that requests RollingUpdate'],
  ] as const) {
    const result = await dryRun(() => patch(change, true), what);
    if (!isAtOnDelete(result)) throw notInForce(`${what} left it ${describe(result)}`);
  }
  const after = await patch(setOnDelete, false);
  if (!isAtOnDelete(after)) throw notInForce(`the StatefulSet was set to OnDelete, but is ${describe(after)}`);
  return after;
}

/**
 * Checks that admission resets MOCO's next write to partition = replicas, before the partition is lowered to the given
 * value. A dry run changes the partition and an annotation: MOCO's webhook, or that of the bundled partition driver,
 * must reset the partition. Without such a webhook the lowered partition would remain. Rejects if the partition is not
 * reset.
 */
export async function provePartitionHeld(
  statefulSet: StatefulSetRecord,
  partition: number,
  api: ClusterApi,
): Promise<void> {
  const what = `a dry run that sets partition ${partition} and an annotation`;
  const annotations = { [admissionProbeAnnotation]: probeSent };
  const patch = { annotations, spec: { updateStrategy: { rollingUpdate: { partition } } } };
  const result = await dryRun(() => api.patchStatefulSet(statefulSet, patch, true), what);
  if (result?.strategy === 'RollingUpdate' && result.partition === statefulSet.replicas) return;
  throw notInForce(`${what} left it ${describe(result)} instead of ${statefulSet.replicas}`);
}

const isAtOnDelete = (result: StatefulSetRecord | null): boolean =>
  result?.strategy === 'OnDelete' && result.labelled && result.newPods === 'UpdateRevision';
