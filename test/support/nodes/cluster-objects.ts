import { isAlreadyExists } from '../../../src/kube/api-error.ts';
import { nodes, type ResourceKind } from '../../../src/kube/resource.ts';
import { storageClasses } from '../moco/kinds.ts';
import { timestamp } from '../moment.ts';
import type { ObjectClient } from '../object-client.ts';

export const nodeNames = ['node-0', 'node-1', 'node-2'] as const;

function node(name: string, wallMilliseconds: number): Readonly<Record<string, unknown>> {
  const now = timestamp(wallMilliseconds);
  const capacity = { cpu: '64', memory: '256Gi', pods: '500' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'stand-in',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
    },
  };
}

/** The default one, so that claims that name none get it; without expansion allowed no claim could ever grow. */
const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'moco-rollout.io/stand-in',
  allowVolumeExpansion: true,
};

async function createOnce(client: ObjectClient, kind: ResourceKind, body: object): Promise<boolean> {
  try {
    await client.create(kind, {}, body);
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) {
      return false;
    }
    throw error;
  }
}

/** Makes the nodes and the storage class that pods and claims are given; those that are there already stay. */
export async function createClusterObjects(client: ObjectClient, wallMilliseconds: number): Promise<void> {
  await createOnce(client, storageClasses, storageClass);
  for (const name of nodeNames) {
    if (await createOnce(client, nodes, node(name, wallMilliseconds))) {
      // Admission taints every new node as not ready, and no node controller is there to see that it is.
      const untainted = { spec: { taints: null } };
      await client.merge(nodes, { name }, untainted);
    }
  }
}
