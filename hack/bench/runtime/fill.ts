import PQueue from 'p-queue';
import { namespaces, podDisruptionBudgets, pods, type ResourceKind, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../../../test/support/object-client.ts';
import { type FleetObject, fleetCluster, fleetNamespace, ownedBy } from './fleet.ts';

export interface FleetSize {
  readonly clusters: number;
  readonly namespaces: number;
}

const atOnce = 16;

/** Creates a fleet, including statuses, in an API server without controllers, because those would change it. */
export async function fill(client: ObjectClient, size: FleetSize): Promise<void> {
  for (let index = 0; index < size.namespaces; index += 1) {
    await client.create(namespaces, {}, { metadata: { name: fleetNamespace(index) } });
  }
  const all = Array.from({ length: size.clusters }, (_, index) => () => fillOne(client, index, size));
  await new PQueue({ concurrency: atOnce }).addAll(all);
}

async function fillOne(client: ObjectClient, index: number, size: FleetSize): Promise<void> {
  const fleet = fleetCluster(index, size.namespaces);
  const clusterUid = await create(client, clusterKind, fleet.cluster);
  const statefulSetUid = await create(client, statefulSets, ownedBy(fleet.statefulSet, clusterUid));
  await create(client, podDisruptionBudgets, ownedBy(fleet.budget, clusterUid));
  for (const pod of fleet.pods) await create(client, pods, ownedBy(pod, statefulSetUid));
}

/** Resolves to the uid of the created object. */
async function create(client: ObjectClient, kind: ResourceKind, object: FleetObject): Promise<string> {
  const { name, namespace = '' } = object.metadata;
  const created = await client.create<{ metadata: { uid: string } }>(kind, { namespace }, object);
  const whole = { ...created, status: object['status'] };
  await client.replace(kind, { namespace, name, subresource: 'status' }, whole);
  return created.metadata.uid;
}
