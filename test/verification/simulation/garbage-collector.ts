import { rolloutKind } from '../../../src/api/rollout.ts';
import {
  cronJobs,
  jobs,
  path as pathOf,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  serviceAccounts,
  services,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';

const actor = 'garbage-collector';
const orphanFinalizer = 'orphan';

const owned: readonly ResourceKind[] = [
  statefulSets,
  pods,
  podDisruptionBudgets,
  services,
  serviceAccounts,
  cronJobs,
  jobs,
  persistentVolumeClaims,
  rolloutKind,
];

/** An object whose owner is deleted already is deleted as well. */
export function collectLateComer(server: ApiServer, kind: ResourceKind, object: StoredObject): void {
  const owners = object.metadata.ownerReferences ?? [];
  const all = [statefulSets, clusterKind, cronJobs, rolloutKind].flatMap((owner) => server.store.all(owner));
  if (owners.length === 0 || owners.some(({ uid }) => all.some(({ metadata }) => metadata.uid === uid))) return;
  const { namespace = '', name, uid } = object.metadata;
  const path = pathOf(kind, { namespace, name });
  server.handle({ method: 'DELETE', path, body: { preconditions: { uid } }, actor });
}

/**
 * Kubernetes' garbage collector for a deleted owner, or one that is deleted with orphaned dependents. Returns whether it has
 * to try again, as after every error but 404: a webhook that is away refuses the last of its writes.
 */
export function collect(server: ApiServer, kind: ResourceKind, owner: StoredObject): boolean {
  const { namespace = '', name, uid } = owner.metadata;
  const live = server.store.get(kind, namespace, name);
  const gone = live === null || live.metadata.uid !== uid;
  const orphaned = !gone && (live.metadata.finalizers?.includes(orphanFinalizer) ?? false);
  if (!gone && !orphaned) return false;
  for (const dependent of owned) {
    for (const object of server.store.all(dependent)) {
      const owners = object.metadata.ownerReferences ?? [];
      if (!owners.some((one) => one.uid === uid)) continue;
      const place = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
      const path = pathOf(dependent, place);
      if (gone) {
        server.handle({ method: 'DELETE', path, body: { preconditions: { uid: object.metadata.uid } }, actor });
      } else {
        const ownerReferences = owners.filter((one) => one.uid !== uid);
        server.handle({ method: 'PATCH', path, body: { metadata: { ownerReferences } }, actor });
      }
    }
  }
  if (gone) return false;
  const finalizers = (live.metadata.finalizers ?? []).filter((one) => one !== orphanFinalizer);
  const { code } = server.handle({
    method: 'PATCH',
    path: pathOf(kind, { namespace, name }),
    body: { metadata: { finalizers } },
    actor,
  });
  return code >= 400 && code !== 404;
}
