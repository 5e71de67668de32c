import { startMoco } from '../../../../test/support/moco/driver.ts';
import { installMoco } from '../../../../test/support/moco/install.ts';
import { startMocoWebhookServer } from '../../../../test/support/moco/webhook-server.ts';
import { startNodes } from '../../../../test/support/nodes/driver.ts';
import { accessWith } from '../../../../test/support/object-client.ts';
import { restartOf } from '../restart.ts';

// Runs MOCO and the nodes in a separate process, so that their resource use is measured separately. The arguments are
// two kubeconfigs (MOCO's and the nodes') and how many seconds a pod takes to terminate. Prints a line when it is
// ready, and runs until it is killed.

/** As in the demo, the stand-ins react fast, because their delays are not what is measured. */
const attentive = { notice: 5, healthyTrue: 20 };
/** With no delay, the API server would spend most of its time on StatefulSets that MOCO applies without a change. */
const reconcileDelayMilliseconds = 500;
/** With 1,000 clusters a request waits more than 10 s for a connection. A shorter timeout would waste the work. */
const timeoutMilliseconds = 120_000;

const [mocoKubeconfig = '', nodesKubeconfig = '', terminationSeconds = ''] = process.argv.slice(2);

const { client, world } = accessWith(mocoKubeconfig, { userAgent: 'moco-controller', timeoutMilliseconds });
const nodes = accessWith(nodesKubeconfig, { userAgent: 'nodes', timeoutMilliseconds });
await installMoco(client, world, await startMocoWebhookServer());
const moco = await startMoco({ client, world, clustering: attentive, reconcileDelayMilliseconds });
await startNodes({ ...nodes, databases: moco, settings: restartOf(Number(terminationSeconds)) });
console.log('the stand-ins run');
