import { startMoco } from '../../../../test/support/moco/driver.ts';
import { installMoco } from '../../../../test/support/moco/install.ts';
import { startMocoWebhookServer } from '../../../../test/support/moco/webhook-server.ts';
import { startNodes } from '../../../../test/support/nodes/driver.ts';
import { accessWith } from '../../../../test/support/object-client.ts';
import { restartOf } from '../restart.ts';

// MOCO and the nodes in a separate process, so that their resource use is measured separately. Gets the paths of two
// kubeconfigs, MOCO's and the nodes', and the seconds of a termination; prints when it is ready, and runs until it is
// killed.

/** As in the demo: the delays of the stand-ins are not measured. */
const attentive = { notice: 5, healthyTrue: 20 };
/** Otherwise the API server would mostly be applying unchanged StatefulSets. */
const reconcileDelayMilliseconds = 500;
/** With 1,000 clusters a call waits more than 10 s for its connection; a timeout would waste that work. */
const timeoutMilliseconds = 120_000;

const [mocoKubeconfig = '', nodesKubeconfig = '', terminationSeconds = ''] = process.argv.slice(2);

const { client, world } = accessWith(mocoKubeconfig, { userAgent: 'moco-controller', timeoutMilliseconds });
const nodes = accessWith(nodesKubeconfig, { userAgent: 'nodes', timeoutMilliseconds });
await installMoco(client, world, await startMocoWebhookServer());
const moco = await startMoco({ client, world, clustering: attentive, reconcileDelayMilliseconds });
await startNodes({ ...nodes, databases: moco, settings: restartOf(Number(terminationSeconds)) });
console.log('the stand-ins run');
