import { isObject, type Json, object } from '../../base/json.ts';
import { appNameLabel, clusterNameLabel, createdByLabel } from '../names.ts';

/** Services, PodDisruptionBudgets and the StatefulSet itself select pods by these labels. */
const selectorLabels: readonly string[] = [appNameLabel, clusterNameLabel, createdByLabel];

/** Labels and annotations of MOCO and of this program: both act on them. */
const actedOn = /^(moco\.cybozu\.com|moco-rollout\.io)\//;

/** `kubectl rollout restart` sets it. */
const requestsRestart = 'kubectl.kubernetes.io/restartedAt';

/**
 * Why the value of a label or an annotation must not change in a running pod, or `null` if it may. Programs may read
 * any key when a pod is created, or change one to restart it. So only keys that the user names may change.
 *
 * @param allowed keys; one that ends with `*` stands for all keys with that prefix
 */
export function whyKept(
  kind: 'labels' | 'annotations',
  key: string,
  templates: readonly Json[],
  allowed: readonly string[],
): string | null {
  if (selectorLabels.includes(key)) return 'it selects the pod';
  if (key === requestsRestart) return 'it requests a restart';
  if (actedOn.test(key)) return 'MOCO or moco-rollout acts on it';
  if (!allowed.some((one) => (one.endsWith('*') ? key.startsWith(one.slice(0, -1)) : key === one))) {
    return 'inPlace.metadata does not have it';
  }
  return templates.some(({ spec }) => isRead(object(spec), kind, key)) ? 'the spec of the pod reads it' : null;
}

/** Read by an environment variable or a volume, or used to choose the pod's node. */
function isRead(spec: Json, kind: 'labels' | 'annotations', key: string): boolean {
  const paths = [`metadata.${kind}`, `metadata.${kind}['${key}']`];
  const isPath = (field: string, value: unknown): boolean => field === 'fieldPath' && paths.includes(String(value));
  const { podAffinity, podAntiAffinity } = object(spec['affinity']);
  const placement = [podAffinity, podAntiAffinity, spec['topologySpreadConstraints']];
  return has(spec, isPath) || (kind === 'labels' && has(placement, (field, value) => field === key || value === key));
}

/** Whether any field of the value, at any depth, satisfies `is`. */
const has = (within: unknown, is: (field: string, value: unknown) => boolean): boolean =>
  (isObject(within) || Array.isArray(within)) &&
  Object.entries(within).some(([field, value]) => is(field, value) || has(value, is));
