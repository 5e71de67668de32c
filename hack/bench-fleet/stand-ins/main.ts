import { ApiClient } from '../../../src/kube/api-client.ts';
import { connect } from '../../../src/kube/connection.ts';
import { realWorld } from '../../../src/kube/real-world.ts';
import type { World } from '../../../src/kube/world.ts';
import { startMoco } from '../../moco/driver.ts';
import { installMoco } from '../../moco/install.ts';
import { startMocoWebhookServer } from '../../moco/webhook-server.ts';
import { startNodes } from '../../nodes/driver.ts';

// MOCO and the nodes in a process of their own, so that what they use is theirs alone in the figures. Gets the paths of
// two kubeconfigs, MOCO's and the nodes'; says when it is there, and goes on until it is killed.

/**
 * A member's restart, as short as can be, so that the control plane is the limit. The end takes most of it: one that the
 * disruption controller doesn't get to see before there is a successor of the same name keeps the PodDisruptionBudget
 * closed for two minutes (`disruptedPods`, its DeletionTimeout; seen on 1.35.4).
 */
const restart = { stopMilliseconds: 2000, initMilliseconds: 0, startMilliseconds: 300, startupMilliseconds: 0 };
/** As the demo has it: how long a stand-in looks away is nothing that anybody wants to know. */
const attentive = { notice: 5, healthyTrue: 20 };
/** Else most of what the API server does would be to apply StatefulSets that nobody has changed. */
const reconcileDelayMilliseconds = 500;
/** Far above what one machine can do. */
const unlimited = { qps: 100_000, burst: 100_000 };
/** With a thousand clusters a call waits for its connection for longer than 10 s; to give it up would be work for nothing. */
const timeoutMilliseconds = 120_000;

const [mocoKubeconfig = '', nodesKubeconfig = ''] = process.argv.slice(2);

function as(kubeconfigPath: string, userAgent: string): { readonly client: ApiClient; readonly world: World } {
  const world = realWorld(connect({ kubeconfigPath }).exchange);
  return { client: new ApiClient({ world, ...unlimited, timeoutMilliseconds, userAgent }), world };
}

const { client, world } = as(mocoKubeconfig, 'moco-controller');
await installMoco(client, world, await startMocoWebhookServer());
const moco = await startMoco({ client, world, clustering: attentive, reconcileDelayMilliseconds });
await startNodes({ ...as(nodesKubeconfig, 'nodes'), databases: moco, settings: restart });
console.log('the stand-ins run');
