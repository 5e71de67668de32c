import { type Json, object, objects, text, texts, whole } from '../../base/json.ts';
import { resizeManager } from '../names.ts';
import type { LivePod, LiveResources, Resources } from '../records.ts';

const noResources: Resources = { limits: {}, requests: {} };

/** The resources of one container, from its spec, its status and the pod's `managedFields`. */
export function liveResources(spec: Json, status: Json, managedFields: unknown): LiveResources {
  return {
    resources: resources(spec),
    actual: status['resources'] === undefined ? noResources : resources(status),
    resized: resizedBy(managedFields, text(spec['name']) ?? ''),
  };
}

function resources({ resources: given }: Json): Resources {
  const { limits, requests } = object(given);
  return { limits: texts(limits), requests: texts(requests) };
}

/**
 * The API server records which manager was the last to set a field. So every later leader can see in the pod what this
 * program has resized.
 */
function resizedBy(managedFields: unknown, container: string): LiveResources['resized'] {
  const owned = ownResizes(managedFields).map(({ fieldsV1 }) => {
    const containers = object(object(object(fieldsV1)['f:spec'])['f:containers']);
    return object(object(containers[`k:{"name":"${container}"}`])['f:resources']);
  });
  // A resize changes only CPU and memory, so the list is short, whatever a tenant writes into `managedFields`.
  return (['limits', 'requests'] as const).flatMap((list) =>
    ['cpu', 'memory']
      .filter((resource) => owned.some((fields) => object(fields[`f:${list}`])[`f:${resource}`] !== undefined))
      .map((resource) => ({ list, resource })),
  );
}

export const resizedAt = (managedFields: unknown): string | null =>
  ownResizes(managedFields)
    .flatMap(({ time }) => text(time) ?? [])
    .toSorted()
    .at(-1) ?? null;

const ownResizes = (managedFields: unknown): readonly Json[] =>
  objects(managedFields).filter(({ manager, subresource }) => manager === resizeManager && subresource === 'resize');

/**
 * What a kubelet reports about the resize that the pod's spec asks for. Right after a second resize, the report may
 * still be about the first one.
 */
export function resizeOf(conditions: unknown, generation: number): LivePod['resize'] {
  const current = objects(conditions).filter(
    ({ status, observedGeneration }) =>
      status === 'True' && whole(observedGeneration, Number.MAX_SAFE_INTEGER) >= generation,
  );
  const [pending, inProgress] = ['PodResizePending', 'PodResizeInProgress'].map((type) =>
    current.find((condition) => condition['type'] === type),
  );
  if (pending !== undefined) {
    const state = pending['reason'] === 'Infeasible' ? 'Infeasible' : 'Deferred';
    return { state, ...said(pending) };
  }
  if (inProgress === undefined) return null;
  const state = inProgress['reason'] === 'Error' ? 'Error' : 'InProgress';
  return { state, ...said(inProgress) };
}

const said = ({ message, lastTransitionTime }: Json) => ({
  message: text(message) ?? '',
  since: text(lastTransitionTime),
});
