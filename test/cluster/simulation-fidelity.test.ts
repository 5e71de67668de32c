import { expect } from 'chai';
import { realWorld } from '../../src/base/world.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { pods } from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { ObjectClient } from '../support/object-client.ts';
import { patienceMilliseconds } from '../support/patience.ts';
import type { Ground, PodVersion, SeenPod } from '../verification/simulation/fidelity/ground.ts';
import { play } from '../verification/simulation/fidelity/play.ts';
import { scripts } from '../verification/simulation/fidelity/script.ts';
import { simulatedGround } from '../verification/simulation/fidelity/simulated-ground.ts';
import { freshNamespace, useOwnControlPlane } from './control-plane-fixture.ts';

const pollMilliseconds = 50;

interface Seen extends Stored {
  readonly pod: SeenPod;
}

describe('the simulation’s model of Kubernetes', () => {
  const controlPlane = useOwnControlPlane();
  const stopping = new AbortController();
  let connection: Connection | null = null;

  after(async () => {
    stopping.abort();
    await connection?.close();
  });

  async function realGround(): Promise<Ground> {
    connection ??= connect({ kubeconfigPath: controlPlane().adminKubeconfig });
    const world = realWorld(connection.exchange);
    const client = new ObjectClient({ world, qps: 1000, burst: 1000 });
    const namespace = await freshNamespace(controlPlane(), 'fidelity');
    const versions: PodVersion[] = [];
    const store = new Store<Seen>({});
    store.subscribe(({ before, after }) => {
      const { name, uid } = after ?? before ?? { name: '', uid: '' };
      versions.push({ name, uid, pod: after?.pod ?? null });
    });
    const reflector = new Reflector<Seen>({
      client,
      world,
      log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
      kind: pods,
      namespace,
      store,
      project: (raw) => seen(raw as unknown as Seen['pod'] & { metadata: Stored }),
    });
    void reflector.run(stopping.signal);
    await reflector.synced;
    return { client, namespace, pods: () => versions, settle };
  }

  for (const [name, script] of Object.entries(scripts)) {
    it(`matches Kubernetes: ${name}`, async () => {
      const simulated = await play(simulatedGround(false), script, null);
      const real = await play(await realGround(), script, simulated);
      expect(real.deeds).to.deep.equal(simulated.deeds);
      expect(real.pods).to.deep.equal(simulated.pods);
      expect(real.departures).to.deep.equal(simulated.departures);
    });
  }
});

function ignore(): void {}

function seen(pod: SeenPod & { readonly metadata: Stored }): Seen {
  const { namespace, name, uid, resourceVersion } = pod.metadata;
  return { namespace, name, uid, resourceVersion, pod };
}

/** Until it is as expected, or there is no more hope of that. */
async function settle(look: () => Promise<string>, expected: string | null): Promise<string> {
  const deadline = performance.now() + patienceMilliseconds;
  for (;;) {
    const found = await look();
    if (found === expected || performance.now() > deadline) return found;
    await new Promise((resolve) => {
      setTimeout(resolve, pollMilliseconds);
    });
  }
}
