import { pods, statefulSets } from '../../../src/kube/resource.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { isReady, selects } from '../../support/api-server/eviction.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';

const actor = 'disruption-controller';
/** An eviction that has not been followed by a deletion within this time counts no more. */
const disruptionTimeoutMilliseconds = 120_000;

/**
 * One run of the disruption controller for one PodDisruptionBudget with maxUnavailable, as MOCO's are. Returns the
 * milliseconds after which to run again without a change; `null` for no such time.
 */
export function syncBudget(server: ApiServer, budget: StoredObject, wallMilliseconds: number): number | null {
  const selected = server.store.all(pods).filter((pod) => selects(budget, pod));
  const expectedPods = expected(server, selected);
  const status = record(budget['status']);
  const disrupted = Object.entries(record(status['disruptedPods'])).filter(([name, at]) => {
    const pod = selected.find(({ metadata }) => metadata.name === name);
    const young = wallMilliseconds - Date.parse(String(at)) < disruptionTimeoutMilliseconds;
    return pod !== undefined && pod.metadata.deletionTimestamp === undefined && young;
  });
  const going = new Set(disrupted.map(([name]) => name));
  const currentHealthy = selected.filter(
    (pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined && !going.has(pod.metadata.name),
  ).length;
  const maxUnavailable = Number(record(budget['spec'])['maxUnavailable'] ?? 0);
  const desiredHealthy = Math.max(0, expectedPods - maxUnavailable);
  const allowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const next = {
    ...(disrupted.length > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    observedGeneration: budget.metadata.generation,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    disruptionsAllowed: allowed,
  };
  const { namespace, name, uid, resourceVersion } = budget.metadata;
  const path = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${name}/status`;
  server.handle({ method: 'PUT', path, body: { metadata: { uid, resourceVersion }, status: next }, actor });
  return disrupted.length > 0 ? disruptionTimeoutMilliseconds : null;
}

/** The sum of the desired replicas of the pods' controllers. */
function expected(server: ApiServer, selected: readonly StoredObject[]): number {
  const owners = new Set(
    selected.flatMap(({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? []),
  );
  return server.store
    .all(statefulSets)
    .filter(({ metadata }) => owners.has(metadata.uid))
    .reduce((sum, set) => sum + Number(record(set['spec'])['replicas'] ?? 1), 0);
}
