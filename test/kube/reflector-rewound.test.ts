import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { Reflector, RewoundError } from '../../src/kube/reflector.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import { things } from './fake-api-server.ts';
import { FakeLog } from './fake-log.ts';
import { FakeWorld } from './fake-world.ts';

/** What the server sends before it falls silent. */
interface Watched {
  readonly lines: readonly object[];
}

const endOfList = (resourceVersion: string): Watched => ({ lines: [bookmark(resourceVersion, true)] });

function bookmark(resourceVersion: string, endsList = false): object {
  const annotations = endsList ? { 'k8s.io/initial-events-end': 'true' } : {};
  return { type: 'BOOKMARK', object: { kind: 'Thing', metadata: { resourceVersion, annotations } } };
}

function added(name: string, resourceVersion: string): object {
  const metadata = { namespace: 'default', name, uid: name, resourceVersion };
  return { type: 'ADDED', object: { kind: things.kind, metadata } };
}

describe('a reflector of a server that says nothing', () => {
  let asked: string[];
  let world: FakeWorld;
  let store: Store<Stored>;
  let log: FakeLog;
  let ended: unknown;
  let stop: AbortController;
  let running: Promise<void>;

  function start(answers: readonly Watched[], endsWhenRewound = true): void {
    asked = [];
    ended = null;
    const left = [...answers];
    world = new FakeWorld(async ({ path, signal }) => {
      const query = new URL(path, 'http://server').searchParams;
      asked.push(query.has('sendInitialEvents') ? 'list' : `watch from ${query.get('resourceVersion')}`);
      const { lines } = left.shift() ?? { lines: [] };
      const body = async function* (): AsyncGenerator<Uint8Array> {
        for (const line of lines) yield Buffer.from(`${JSON.stringify(line)}\n`);
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        await promise;
      };
      return { status: 200, headers: {}, body: body() };
    });
    store = new Store<Stored>({});
    log = new FakeLog();
    stop = new AbortController();
    const client = new ApiClient({ world, qps: 1000, burst: 1000 });
    const project = (raw: unknown) => (raw as { readonly metadata: Stored }).metadata;
    const reflector = new Reflector({
      client,
      world,
      log,
      kind: things,
      store,
      project,
      streamsLists: true,
      endsWhenRewound,
    });
    running = reflector.run(stop.signal).catch((error: unknown) => {
      ended = error;
    });
  }

  afterEach(async () => {
    stop.abort();
    await world.advance(20_000);
    await running;
  });

  it('watches once more, and then lists again', async () => {
    start([endOfList('900')]);
    await world.until(() => asked.length === 3, 'three requests', 1_000);
    expect(asked).to.deep.equal(['list', 'watch from 900', 'list']);
  });

  it('counts silent watches in a row: a bookmark between them begins anew', async () => {
    start([endOfList('900'), { lines: [bookmark('901')] }]);
    await world.until(() => asked.length === 4, 'four requests', 1_000);
    expect(asked).to.deep.equal(['list', 'watch from 900', 'watch from 901', 'list']);
  });

  const restored: readonly Watched[] = [
    { lines: [added('a', '800'), bookmark('900', true)] },
    { lines: [] },
    { lines: [added('b', '400'), bookmark('500', true)] },
  ];

  it('ends where the objects are older than before: etcd was restored', async () => {
    start(restored);
    await world.until(() => ended !== null, 'its end', 1_000);
    expect(ended).to.be.instanceOf(RewoundError);
    expect((ended as Error).message).to.contain('from resourceVersion 900 on, got 500');
    expect(store.values().map(({ name }) => name)).to.deep.equal(['a']);
  });

  it('continues with the older objects if it must not end', async () => {
    start(restored, false);
    await world.until(() => store.get('default', 'b') !== undefined, 'the older object', 1_000);
    expect(store.get('default', 'a')).to.equal(undefined);
    expect(log.lines.some(({ message }) => message.startsWith('List returned objects older than those'))).to.equal(
      true,
    );
    expect(ended).to.equal(null);
  });

  it('does not end where the objects are as before', async () => {
    start([endOfList('900'), { lines: [] }, endOfList('900')]);
    await world.until(() => asked.length === 4, 'another watch', 1_000);
    expect(ended).to.equal(null);
  });
});
