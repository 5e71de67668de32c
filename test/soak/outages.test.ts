import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { realWorld } from '../../src/base/world.ts';
import { isGone } from '../../src/kube/api-error.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { configMaps } from '../support/config-maps.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { CuttingProxy } from '../support/control-plane/cutting-proxy.ts';
import { until } from '../support/control-plane/until.ts';
import { ObjectClient } from '../support/object-client.ts';
import { Stage } from '../support/stage/stage.ts';

const definitions = ['../../config/crd', '../support/moco/crd'].map((folder) =>
  fileURLToPath(new URL(folder, import.meta.url)),
);

interface ListedObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

describe('an unreliable API server', function () {
  let controlPlane: ControlPlane;
  let stage: Stage;
  let proxy: CuttingProxy;

  before(async () => {
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
        kind: configMaps,
        ...place,
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
      const got = (): string => String(proxy.connections.count);
      await until('no connection is left over', () => proxy.connections.count === 0, { got });
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
        { priority: 'disrupt' },
      );

    /** The cache is what the API server has at this moment: every object, of that uid, in that version. */
    async function inSync(): Promise<void> {
      await until(
        'the cache equals the server',
        async () => {
          const { items } = await stage.client.list<{ items: readonly ListedObject[] }>(configMaps, place, {
            priority: 'read',
          });
          const there = items.map(({ metadata }) => identity(metadata)).toSorted();
          return store.values().map(identity).toSorted().join() === there.join();
        },
        { got: () => changes.join(', ') },
      );
    }

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
});

const identity = ({ name, uid, resourceVersion }: ListedObject['metadata']): string =>
  `${name} ${uid}@${resourceVersion}`;

function projected(raw: Json): Stored {
  const { namespace, name, uid, resourceVersion } = raw['metadata'] as Stored;
  return { namespace, name, uid, resourceVersion };
}
