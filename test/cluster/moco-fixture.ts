import type { World } from '../../src/base/world.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { path } from '../../src/kube/resource.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { clusterDefinitionFile, installMoco, type MocoInstallation } from '../support/moco/install.ts';
import { writtenKinds } from '../support/moco/kinds.ts';
import type { KubernetesObject, MySQLCluster, StatefulSet } from '../support/moco/objects.ts';
import { type SampleOptions, sampleCluster } from '../support/moco/sample.ts';
import { type MocoWebhookServer, startMocoWebhookServer } from '../support/moco/webhook-server.ts';
import type { WrittenKind } from '../support/moco/write.ts';
import { accessWith, type ObjectClient } from '../support/object-client.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';

const namespace = 'default';

/**
 * A control plane with MOCO installed: its kind, its webhooks and its policy. A test that needs MOCO running starts it.
 */
export interface Installed {
  readonly controlPlane: ControlPlane;
  readonly client: ObjectClient;
  readonly world: World;
  stop(): Promise<void>;
}

export async function installed({
  controlPlane: options = {},
  ...installation
}: MocoInstallation & { readonly controlPlane?: ControlPlaneOptions } = {}): Promise<Installed> {
  const controlPlane = await startControlPlane({ audit: false, manifests: [clusterDefinitionFile], ...options });
  let connection: Connection | null = null;
  let webhook: MocoWebhookServer | null = null;
  const stop = async (): Promise<void> => {
    await connection?.close();
    await controlPlane.stop();
    await webhook?.stop();
  };
  try {
    const { client, world, connection: own } = accessWith(controlPlane.adminKubeconfig);
    connection = own;
    webhook = await startMocoWebhookServer();
    await installMoco(client, world, webhook, installation);
    return { controlPlane, client, world, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const shared = new Map<boolean, Promise<Installed>>();

/** One of each kind for all files of a process, where each test has clusters of its own. It stops at the end of the run. */
export function sharedInstallation(statefulSetWebhook: boolean): Promise<Installed> {
  const existing = shared.get(statefulSetWebhook);
  if (existing !== undefined) return existing;
  const started = installed({
    statefulSetWebhook,
    controlPlane: { audit: true, ...admissionPolicyFlags(process.env) },
  });
  shared.set(statefulSetWebhook, started);
  atEndOfRun(async () => (await started).stop());
  return started;
}

export async function createCluster(
  client: ObjectClient,
  options: Omit<SampleOptions, 'namespace'>,
): Promise<MySQLCluster> {
  return client.create<MySQLCluster>(
    writtenKinds.MySQLCluster,
    { namespace },
    sampleCluster({ ...options, namespace }),
    { priority: 'disrupt' },
  );
}

export async function read<O extends KubernetesObject>(
  client: ObjectClient,
  kind: WrittenKind,
  name: string,
): Promise<O> {
  return client.get<O>(writtenKinds[kind], { namespace, name }, { priority: 'read' });
}

export async function isGone(client: ObjectClient, kind: WrittenKind, name: string): Promise<boolean> {
  try {
    await read(client, kind, name);
    return false;
  } catch (error) {
    if (isNotFound(error)) {
      return true;
    }
    throw error;
  }
}

export async function list<O extends KubernetesObject>(
  client: ObjectClient,
  kind: WrittenKind,
  labelSelector: string,
): Promise<readonly O[]> {
  const { items } = await client.call<{ items: O[] }>({
    method: 'GET',
    path: path(writtenKinds[kind], { namespace }),
    query: { labelSelector },
    priority: 'read',
  });
  return items;
}

/** A merge patch, by an unnamed manager by default. */
export async function patch<O extends KubernetesObject>(
  client: ObjectClient,
  kind: WrittenKind,
  name: string,
  body: unknown,
  subresource?: string,
  fieldManager = 'somebody',
): Promise<O> {
  return client.call<O>({
    method: 'PATCH',
    path: path(writtenKinds[kind], { namespace, name, ...(subresource === undefined ? {} : { subresource }) }),
    query: { fieldManager },
    contentType: 'application/merge-patch+json',
    body,
    priority: 'disrupt',
  });
}

export async function statefulSet(client: ObjectClient, clusterName: string): Promise<StatefulSet> {
  return read<StatefulSet>(client, 'StatefulSet', `moco-${clusterName}`);
}
