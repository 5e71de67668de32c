import type { ClusterView } from './cluster-view.ts';
import type { ClusteringMind } from './clustering-mind.ts';
import { isServing, observeDatabases } from './databases.ts';
import type { Faults } from './faults.ts';
import { ordinalOf } from './names.ts';
import type { Pod } from './objects.ts';

/**
 * The result of the readiness probe of container mysqld in a pod with a working agent and kubelet. `pod` may be newer
 * than the one in the view and takes precedence.
 */
export function mysqldReady(view: ClusterView, mind: ClusteringMind, faults: Faults, pod: Pod): boolean {
  const { replicas, maxDelaySeconds = 0 } = view.cluster.spec;
  const others = view.pods.filter(({ metadata }) => metadata.name !== pod.metadata.name);
  const databases = observeDatabases(mind.databases, [...others, pod], replicas, faults);
  return isServing(databases, ordinalOf(pod.metadata.name), faults, maxDelaySeconds);
}
