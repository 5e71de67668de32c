import { isObject, type Json, object } from '../../base/json.ts';
import { appNameLabel, clusterNameLabel, createdByLabel } from '../names.ts';

/** Services, PodDisruptionBudgets and the StatefulSet itself select pods by these labels. */
const selectorLabels: readonly string[] = [appNameLabel, clusterNameLabel, createdByLabel];

/** The prefixes of MOCO and of this program. Both programs act on labels and annotations with these prefixes. */
const actedOn = /^(moco\.cybozu\.com|moco-rollout\.io)\//;

/** Set by `kubectl rollout restart`. */
const requestsRestart = 'kubectl.kubernetes.io/restartedAt';

/**
 * Why the value of a label or an annotation must not change in a running pod, or `null` if it may change. A program may
 * read any label or annotation when a pod is created, or may change one in order to restart the pod. So only keys that
 * the user has allowed may change.
 *
 * @param allowed the allowed keys; a key that ends with `*` stands for all keys with that prefix
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
    return 'inPlace.metadata does not contain it';
  }
  return templates.some(({ spec }) => isRead(object(spec), kind, key)) ? 'the spec of the pod reads it' : null;
}

/** Whether an environment variable or a volume reads the key, or the scheduler uses it to choose the pod's node. */
function isRead(spec: Json, kind: 'labels' | 'annotations', key: string): boolean {
  const { paths, placing } = readBy(spec);
  return (
    [`metadata.${kind}`, `metadata.${kind}['${key}']`].some((path) => paths.has(path)) ||
    (kind === 'labels' && placing.has(key))
  );
}

/** What the spec of a pod may read of its metadata. */
interface Read {
  /** Every `fieldPath`. */
  readonly paths: ReadonlySet<string>;
  /** Every field name and every string in the affinity and topology spread rules. */
  readonly placing: ReadonlySet<string>;
}

/** Caches what a spec reads, because every key of every member needs it. A spec never changes after it was read. */
const readKnown = new WeakMap<Json, Read>();

function readBy(spec: Json): Read {
  const known = readKnown.get(spec);
  if (known !== undefined) return known;
  const [paths, placing] = [new Set<string>(), new Set<string>()];
  visit(spec, (field, value) => {
    if (field === 'fieldPath') paths.add(String(value));
  });
  const { podAffinity, podAntiAffinity } = object(spec['affinity']);
  visit([podAffinity, podAntiAffinity, spec['topologySpreadConstraints']], (field, value) => {
    placing.add(field);
    if (typeof value === 'string') placing.add(value);
  });
  const read = { paths, placing };
  readKnown.set(spec, read);
  return read;
}

/** Visits every field of the value, at any depth. */
function visit(within: unknown, see: (field: string, value: unknown) => void): void {
  if (!isObject(within) && !Array.isArray(within)) return;
  for (const [field, value] of Object.entries(within)) {
    see(field, value);
    visit(value, see);
  }
}
