import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { isGone } from '../../src/kube/api-error.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import type { Json } from '../../src/kube/raw-object.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { path, type ResourceKind } from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { realWorld } from '../../src/kube/world.ts';
import { demoteAnnotation } from '../../src/moco/names.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { CuttingProxy } from '../support/control-plane/cutting-proxy.ts';
import { until } from '../support/control-plane/until.ts';
import { ObjectClient } from '../support/object-client.ts';
import { Stage } from '../support/stage/stage.ts';
import { RolloutCluster } from './rollout-cluster.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags } from './rollout-fixture.ts';
import { History } from './rollout-history.ts';

const startDeadlineMilliseconds = 30 * 60_000;
const syncDeadlineMilliseconds = 180_000;
const definitions = ['../../config/crd', '../support/moco/crd'].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);
const configMaps: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

interface ListedObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

describe('an unreliable API server', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let stage: Stage;
  let proxy: CuttingProxy;

  before(async function start() {
    this.timeout(startDeadlineMilliseconds);
    controlPlane = await startControlPlane({ manifests: definitions });
    stage = await Stage.open(controlPlane);
    proxy = await CuttingProxy.start(controlPlane.server);
  });

  after(async () => {
    await stage?.close();
    await proxy?.close();
    await controlPlane?.stop();
  });

  describe('is followed by a reflector', () => {
    const namespace = 'outages';
    const place = { namespace };
    const changes: string[] = [];
    const failures: unknown[] = [];
    const stop = new AbortController();
    let lists = 0;
    let store: Store<Stored>;
    let connection: Connection;
    let running: Promise<void>;

    before(async () => {
      await stage.createNamespace(namespace);
      await Promise.all(Array.from({ length: 50 }, (_, index) => make(`old-${index}`)));
      connection = connect({ kubeconfigPath: await proxy.kubeconfig(await controlPlane.kubeconfigForUser('reader')) });
      const world = realWorld(connection.exchange);
      store = new Store<Stored>({});
      store.subscribe(({ type, before: was, after: is }) => changes.push(`${type} ${(is ?? was)?.name}`));
      const reflector = new Reflector<Stored>({
        client: new ObjectClient({ world, qps: 1000, burst: 1000 }),
        world,
        store,
        log: new FakeLog(),
        path: path(configMaps, place),
        kind: configMaps.kind,
        streamsLists: true,
        project: projected,
        observer: { listed: () => (lists += 1), failed: (error) => failures.push(error) },
      });
      running = reflector.run(stop.signal);
      await inSync();
    });

    after(async () => {
      stop.abort();
      await running;
      await connection?.close();
      await until(
        () => (proxy.connections.count === 0 ? true : undefined),
        syncDeadlineMilliseconds,
        () => `Expected no connection left over, got ${proxy.connections.count}`,
      );
    });

    const make = (name: string): Promise<unknown> =>
      stage.client.create(configMaps, place, { metadata: { name } }, { priority: 'disrupt' });
    const remove = (name: string): Promise<unknown> =>
      stage.client.remove(configMaps, { ...place, name }, {}, { priority: 'disrupt' });
    const change = (name: string, value: string): Promise<unknown> =>
      stage.client.patch(
        configMaps,
        { ...place, name },
        'application/merge-patch+json',
        { data: { value } },
        {
          priority: 'disrupt',
        },
      );

    /** The cache is what the API server has at this moment: every object, of that uid, in that version. */
    async function inSync(): Promise<void> {
      await until(
        async () => {
          const { items } = await stage.client.list<{ items: readonly ListedObject[] }>(configMaps, place, {
            priority: 'read',
          });
          const cached = store.values().map(identity).toSorted();
          return cached.join() ===
            items
              .map(({ metadata }) => identity(metadata))
              .toSorted()
              .join()
            ? true
            : undefined;
        },
        syncDeadlineMilliseconds,
        () => `Expected the cache to equal the server within ${syncDeadlineMilliseconds} ms, got ${changes.join(', ')}`,
      );
    }

    it('through connections that are cut in the middle of a watch, without another list', async () => {
      for (let cut = 0; cut < 5; cut += 1) {
        const writes = [make(`new-${cut}`), change(`old-${cut}`, 'again'), remove(`old-${cut + 10}`)];
        proxy.connections.cut();
        await Promise.all(writes);
      }
      await inSync();
      expect(failures.length).to.be.greaterThan(0);
      expect(lists).to.equal(1);
    });

    it('through a crash and a restart, and sees objects created afterwards', async () => {
      await controlPlane.killApiServer();
      await controlPlane.startApiServer();
      await make('after-the-restart');
      await remove('old-20');
      await inSync();
      expect(changes).to.include.members(['added after-the-restart', 'removed old-20']);
    });

    it('through a compaction of missed changes: 410, and another list that shows the difference', async () => {
      const [listsBefore, failuresBefore, changesBefore] = [lists, failures.length, changes.length];
      proxy.connections.sever();
      await Promise.all([make('missed'), remove('old-30'), remove('old-31'), change('old-32', 'missed')]);
      await make('old-31');
      await controlPlane.compactEtcd();
      await controlPlane.restartApiServer();
      proxy.connections.mend();
      await inSync();
      expect(failures.slice(failuresBefore).some(isGone), 'a 410').to.equal(true);
      expect(lists).to.equal(listsBefore + 1);
      expect(changes.slice(changesBefore)).to.have.members([
        'added missed',
        'removed old-30',
        'removed old-31',
        'added old-31',
        'updated old-32',
      ]);
    });
  });

  describe('does not prevent rollouts', () => {
    let history: History;

    before(async () => {
      history = await History.start(stage.client, stage.world);
      const kubeconfig = await controlPlane.kubeconfigFor({ namespace: 'moco-rollout-system', name: 'moco-rollout' });
      await stage.startController([...sharedFlags, `--kubeconfig=${await proxy.kubeconfig(kubeconfig)}`]);
    });

    after(() => history?.stop());

    /** A rollout, in the middle of which something happens, and what it came to. */
    async function rolled(cluster: RolloutCluster, meanwhile: () => Promise<void>): Promise<void> {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      await meanwhile();
      await cluster.completes();
      // What was about to be done when the connection broke is made void first, and then done.
      const steps = (await cluster.stepsAndLostOnes()).filter((step) => !step.startsWith('invalidate'));
      expect(steps.filter((step, index) => step !== steps[index - 1])).to.deep.equal(wholeRollout);
      expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
    }

    const leaves = (cluster: RolloutCluster, ordinal: number): Promise<unknown> =>
      cluster.pod(ordinal, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);

    it('if the controller’s connections are cut at every step, and interrupted for a while', async () => {
      const cluster = new RolloutCluster(stage, history, 'cut');
      const { accepted } = proxy;
      await judged(cluster, () =>
        rolled(cluster, async () => {
          proxy.connections.cut();
          await cluster.until('a step is written down', ({ rollout }) => rollout?.status?.intent !== undefined);
          proxy.connections.cut();
          await leaves(cluster, 2);
          proxy.connections.sever();
          await cluster.pod(2, 'is new', ({ metadata }) => metadata.deletionTimestamp === undefined);
          proxy.connections.mend();
          await leaves(cluster, 1);
          proxy.connections.cut();
          await cluster.pod(0, 'is to hand on its role', ({ metadata }) => {
            return demoteAnnotation in (metadata.annotations ?? {});
          });
          proxy.connections.cut();
        }),
      );
      expect(proxy.accepted - accepted, 'connections made anew').to.be.greaterThan(10);
    });

    it('if it crashes in the middle of a step, and etcd is compacted before it restarts', async () => {
      const cluster = new RolloutCluster(stage, history, 'restarted');
      try {
        await rolled(cluster, async () => {
          cluster.slowNodes({ stopMilliseconds: 2_000 });
          await leaves(cluster, 2);
          // Else the budget counts the new pod as the evicted one, which has its name, for two minutes.
          await cluster.until('kube-controller-manager has counted the eviction', ({ budgets }) =>
            budgets.every((budget) => !('disruptedPods' in ((budget as { status?: object }).status ?? {}))),
          );
          await controlPlane.killApiServer();
          await controlPlane.compactEtcd();
          await controlPlane.startApiServer();
        });
      } catch (error) {
        throw new Error(`${String(error)}\n${await cluster.report()}`, { cause: error });
      }
      // Nobody's watch has seen what went on while it was away: its own record has to do.
      const deeds = (await cluster.story()).filter(({ code }) => code < 300).map(({ text }) => text);
      expect(deeds.filter((deed) => /^(evict|ready)/.test(deed))).to.deep.equal([
        'evict 2',
        'ready 2',
        'evict 1',
        'ready 1',
        'evict 0',
        'ready 0',
      ]);
      const logged = stage.controllers.map(({ log }) => log).join('\n');
      expect(logged, 'a 410 to the controller').to.match(/"reason":"(Expired|Gone)"/);
    });
  });
});

const identity = ({ name, uid, resourceVersion }: ListedObject['metadata']): string =>
  `${name} ${uid}@${resourceVersion}`;

function projected(raw: Json): Stored {
  const { namespace, name, uid, resourceVersion } = raw['metadata'] as Stored;
  return { namespace, name, uid, resourceVersion };
}
