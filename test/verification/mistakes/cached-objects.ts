import { ApiClient } from '../../../src/kube/api-client.ts';
import { connect } from '../../../src/kube/connection.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { Store, type Stored } from '../../../src/kube/store.ts';
import { FakeApiServer, things } from '../../kube/fake-api-server.ts';
import { FakeLog } from '../../kube/fake-log.ts';
import { FakeWorld } from '../../kube/fake-world.ts';

const pages = 3;

/** Answers as a proxy does that does not reach the API server. */
function answerWithPages(server: FakeApiServer): void {
  for (const queue of [server.watches, server.lists]) {
    for (let page = 0; page < pages; page++) {
      queue.push((_, response) => {
        response.writeHead(404, { 'content-type': 'text/html' });
        response.end('<html>404 page not found</html>');
      });
    }
  }
}

/**
 * Caches two objects of an optional kind, and then answers some watches and lists with a page that says 404. Resolves to
 * the names of the objects that the cache loses by that, although they exist all the time.
 */
export async function lostToPages(): Promise<readonly string[]> {
  const server = await FakeApiServer.start();
  const connection = connect({ kubeconfigPath: await server.front.kubeconfig() });
  const world = new FakeWorld(connection.exchange);
  const store = new Store<Stored>({});
  const lost = new Set<string>();
  store.subscribe((change) => {
    if (change.type === 'removed') lost.add(change.before.name);
  });
  const stop = new AbortController();
  const reflector = new Reflector({
    client: new ApiClient({ world, qps: 1000, burst: 1000 }),
    world,
    store,
    log: new FakeLog(),
    kind: things,
    project: (raw) => raw['metadata'] as Stored,
    onUnavailable: () => undefined,
  });
  for (const name of ['a', 'b']) server.put(name);
  const running = reflector.run(stop.signal);
  await world.until(() => reflector.hasSynced && server.openWatches === 1, 'a watch');
  answerWithPages(server);
  server.compact();
  server.breakWatches();
  await world.until(() => server.lists.length === 0 && server.openWatches === 1, 'a watch after the pages', 1_000);
  stop.abort();
  await running;
  await world.until(() => server.openWatches === 0, 'no watch');
  await connection.close();
  await world.until(() => server.front.sockets.size === 0, 'no connection');
  await server.front.close();
  return [...lost];
}
