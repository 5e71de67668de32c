import type { ClusterView } from './cluster-view.ts';
import type { ClusteringMind } from './clustering-mind.ts';
import { isServing, observeDatabases } from './databases.ts';
import type { Faults } from './faults.ts';
import { ordinalOf } from './names.ts';
import type { Pod } from './objects.ts';

/**
 * What the readiness probe of container mysqld finds in a pod, given that agent and kubelet do their part. `pod` may be
 * newer than the one in the view: it is believed.
 */
export function mysqldReady(view: ClusterView, mind: ClusteringMind, faults: Faults, pod: Pod): boolean {
  const { replicas, maxDelaySeconds = 0 } = view.cluster.spec;
  const others = view.pods.filter(({ metadata }) => metadata.name !== pod.metadata.name);
  const databases = observeDatabases(mind.databases, [...others, pod], replicas);
  return isServing(databases, ordinalOf(pod.metadata.name), faults, maxDelaySeconds);
}
