import { Cache } from '../../../../src/controller/observe/cache.ts';
import { Watches } from '../../../../src/controller/observe/watches.ts';
import { ApiClient } from '../../../../src/kube/api-client.ts';
import { connect } from '../../../../src/kube/connection.ts';
import type { Log } from '../../../../src/kube/log.ts';
import { realWorld } from '../../../../src/kube/real-world.ts';
import { WorkQueue } from '../../../../src/kube/work-queue.ts';
import { now, sentAtLabel } from '../fleet-server.ts';

// The program from the connection to the work queue, without reconciling: in place of a reconciliation it reports how
// long ago the server sent the event that triggered it.

const [kubeconfigPath = '', concurrency = ''] = process.argv.slice(2);
const sink = (fields: object, message: string): void =>
  void process.stdout.write(`${JSON.stringify(fields)} ${message}\n`);
const log: Log = { debug: () => undefined, info: sink, warn: sink, error: sink };

const connection = connect({ kubeconfigPath });
const world = realWorld(connection.exchange);
const client = new ApiClient({ world, qps: 100, burst: 200 });
const cache = new Cache();
const watches = new Watches(cache, client, world, log, []);
/** Of each cluster that waits: when the first event that it waits for was sent. */
const sentAt = new Map<string, number>();
const latencies: number[] = [];

const queue = new WorkQueue({
  name: 'clusters',
  world,
  concurrency: Number(concurrency),
  process: (key) => {
    const sent = sentAt.get(key);
    if (sent !== undefined) latencies.push(now() - sent);
    sentAt.delete(key);
    return Promise.resolve();
  },
  onError: (key, error) => sink({ key, error: String(error) }, 'a pass failed'),
});
cache.pods.subscribe(({ after }) => {
  const sent = after?.labels[sentAtLabel];
  const key = after && `${after.namespace}/${after.clusterName}`;
  if (key && sent !== undefined && !sentAt.has(key)) sentAt.set(key, Number(sent));
});
cache.onChange((key) => queue.add(key));

const stop = new AbortController();
process.once('SIGTERM', () => {
  stop.abort();
  // For the parent process, which waits for the program's end.
  sink({ latencies }, 'latencies');
});
sink({}, '"starting"');
const running = watches.run(stop.signal);
await watches.synced();
sentAt.clear();
queue.start();
sink({ pods: cache.pods.size }, 'the cache is in sync');
await running;
await queue.drain(1000);
await connection.close();
