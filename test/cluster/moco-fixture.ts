import type { Connection } from '../../src/kube/connection.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { clusterDefinitionFile, installMoco } from '../support/moco/install.ts';
import { type MocoWebhookServer, startMocoWebhookServer } from '../support/moco/webhook-server.ts';
import { accessWith, type ObjectClient } from '../support/object-client.ts';
import { admissionPolicyFlags } from '../support/stage/admission-policy.ts';

/**
 * A control plane with MOCO installed: its kind, its webhooks and its policy. A test that needs MOCO running starts it.
 */
export interface Installed {
  readonly controlPlane: ControlPlane;
  readonly client: ObjectClient;
  stop(): Promise<void>;
}

async function installed(statefulSetWebhook: boolean): Promise<Installed> {
  const controlPlane = await startControlPlane({
    manifests: [clusterDefinitionFile],
    ...admissionPolicyFlags(process.env),
  });
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
    await installMoco(client, world, webhook, { statefulSetWebhook });
    return { controlPlane, client, stop };
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
  const started = installed(statefulSetWebhook);
  shared.set(statefulSetWebhook, started);
  atEndOfRun(async () => (await started).stop());
  return started;
}
