import { podDisruptionBudgets, pods } from '../../../src/kube/resource.ts';
import { timestamp } from '../moment.ts';
import { type ApiAnswer, answer, refusal } from './api-answer.ts';
import type { ObjectStore } from './object-store.ts';
import { type Json, record, type StoredObject } from './stored-object.ts';

const notScheduledLong: ReadonlySet<unknown> = new Set(['Pending', 'Succeeded', 'Failed']);

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

/**
 * `pods/eviction` of policy/v1: uses one allowed disruption of the PodDisruptionBudget that selects the pod, adds the
 * condition DisruptionTarget, then deletes with the preconditions of the Eviction, but with the resourceVersion after
 * the condition. A pod that is not ready is deleted without using the budget while the rest is as healthy as the budget
 * requires (unhealthyPodEvictionPolicy IfHealthyBudget, the default). Kubernetes 1.36.3 then forgets the
 * resourceVersion of the request (pkg/registry/core/pod/storage/eviction.go, updateDeletionOptions).
 *
 * Returns the refusal, or what is left to do, which may come at any time.
 */
export function beginEviction(
  store: ObjectStore,
  pod: StoredObject,
  eviction: Json,
  wallMilliseconds: number,
  remove: (options: Json) => ApiAnswer,
): ApiAnswer | (() => ApiAnswer) {
  const options = record(eviction['deleteOptions']);
  const { uid, resourceVersion } = record(options['preconditions']);
  const unguarded =
    notScheduledLong.has(record(pod['status'])['phase']) || pod.metadata.deletionTimestamp !== undefined;
  const budgets = unguarded ? [] : store.all(podDisruptionBudgets).filter((budget) => selects(budget, pod));
  if (budgets.length > 1) {
    return refusal(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  const refused = budget === undefined ? null : refusedBy(budget, pod);
  if (refused !== null) return refused;
  if (budget !== undefined && isReady(pod)) {
    // The disruption controller restores what a failed precondition has used of the budget.
    take(store, budget, pod, wallMilliseconds);
  }
  const isForgotten = budget !== undefined && !isReady(pod) && isHealthyWithout(budget);
  const isOther = resourceVersion !== undefined && resourceVersion !== pod.metadata.resourceVersion;
  if ((uid !== undefined && uid !== pod.metadata.uid) || (isOther && !isForgotten)) {
    return refusal(409, 'Conflict', `the preconditions do not match pod "${pod.metadata.name}"`);
  }
  const marked = withDisruptionTarget(store, pod);
  const isVersioned = isForgotten || resourceVersion !== undefined;
  const preconditions = { uid, ...(isVersioned && { resourceVersion: marked.metadata.resourceVersion }) };
  return () => {
    const gone = remove({ ...options, preconditions });
    return gone.code < 300 ? answer(201, { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 }) : gone;
  };
}

function withDisruptionTarget(store: ObjectStore, pod: StoredObject): StoredObject {
  const status = record(pod['status']);
  const conditions = (status['conditions'] ?? []) as readonly Json[];
  const before = conditions.find(({ type }) => type === disruptionTarget.type);
  if (before?.['status'] === 'True' && before['reason'] === disruptionTarget.reason) return pod;
  const others = conditions.filter((condition) => condition !== before);
  return store.put(pods, { ...pod, status: { ...status, conditions: [...others, disruptionTarget] } });
}

export function selects(budget: StoredObject, { metadata }: StoredObject): boolean {
  const labels = record(record(record(budget['spec'])['selector'])['matchLabels']);
  return (
    budget.metadata.namespace === metadata.namespace &&
    Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value)
  );
}

export function isReady(pod: StoredObject): boolean {
  const conditions = record(pod['status'])['conditions'] as readonly Json[] | undefined;
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

function refusedBy(budget: StoredObject, pod: StoredObject): ApiAnswer | null {
  const { name, generation = 0 } = budget.metadata;
  const status = record(budget['status']);
  const healthy = Number(status['currentHealthy'] ?? 0);
  const wanted = Number(status['desiredHealthy'] ?? 0);
  if (!isReady(pod) && isHealthyWithout(budget)) return null;
  if (Number(status['observedGeneration'] ?? 0) < generation) {
    return tooMany(`The disruption budget ${name} is still being processed by the server.`);
  }
  return Number(status['disruptionsAllowed'] ?? 0) > 0
    ? null
    : tooMany(`The disruption budget ${name} needs ${wanted} healthy pods and has ${healthy} currently`);
}

/** Whether the budget protects no pod that is not ready. */
function isHealthyWithout(budget: StoredObject): boolean {
  const { currentHealthy = 0, desiredHealthy = 0 } = record(budget['status']) as Readonly<Record<string, number>>;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function tooMany(message: string): ApiAnswer {
  const sentence = "Cannot evict pod as it would violate the pod's disruption budget.";
  return refusal(429, 'TooManyRequests', sentence, { causes: [{ reason: 'DisruptionBudget', message }] });
}

function take(store: ObjectStore, budget: StoredObject, pod: StoredObject, wallMilliseconds: number): void {
  const status = record(budget['status']);
  store.put(podDisruptionBudgets, {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: Number(status['disruptionsAllowed']) - 1,
      disruptedPods: { ...record(status['disruptedPods']), [pod.metadata.name]: timestamp(wallMilliseconds) },
    },
  });
}
