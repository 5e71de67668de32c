import { readFileSync } from 'node:fs';
import { type ConnectionCounts, FleetServer } from '../fleet-server.ts';

// The fleet's API server as a process of its own, so that its work is not its client's.

/** From the parent process: send events; what has been on the connections? */
export type Order =
  | { readonly what: 'events'; readonly perSecond: number; readonly seconds: number }
  | { readonly what: 'connections' };

/** To the parent process, one an order and one at the start. */
export interface Report {
  readonly url?: string;
  readonly sent?: number;
  readonly connections?: ConnectionCounts;
}

const [certificate = '', key = '', clusters = '', namespaces = ''] = process.argv.slice(2);
const server = new FleetServer({ cert: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') });
await server.fill(Number(clusters), Number(namespaces));
const report = (one: Report): void => void process.send?.(one);
process.on('message', (order: Order) => {
  void carryOut(order);
});
report({ url: await server.listen() });

async function carryOut(order: Order): Promise<void> {
  if (order.what === 'connections') report({ connections: server.connections });
  else report({ sent: await server.sendEvents(order.perSecond, order.seconds) });
}
