import { connect } from '../../../../src/kube/connection.ts';
import { realWorld } from '../../../../src/kube/world.ts';
import { ObjectClient } from '../../../../test/support/object-client.ts';
import { PlainLoop } from './plain-loop.ts';

// The program to compare with: evicts stale members, with one task for each cluster, and does nothing else. Gets the
// path of a kubeconfig, and runs until it is killed.

/** Far above what one machine can do. */
const unlimited = { qps: 100_000, burst: 100_000 };
const [kubeconfigPath = ''] = process.argv.slice(2);

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields: object, message: string) => console.error(message, fields),
  error: (fields: object, message: string) => console.error(message, fields),
};
const world = realWorld(connect({ kubeconfigPath }).exchange);
const client = new ObjectClient({ world, ...unlimited, userAgent: 'plain-loop' });
const loop = new PlainLoop(client, world, log);
await loop.start();
console.log('the plain loop runs');
