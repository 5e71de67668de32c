import { createServer } from 'node:net';
import { mysqlAdminPort } from './mysql-servers.ts';

const networks = { first: 1, last: 254 };

/** A second byte of loopback addresses that nothing else on this machine has a mysqld in. */
export async function freeNetwork(): Promise<number> {
  const { first, last } = networks;
  const from = first + (process.pid % (last - first + 1));
  for (let tried = 0; tried <= last - first; tried++) {
    const network = first + ((from - first + tried) % (last - first + 1));
    if (await reserve(`127.${network}.0.1`)) return network;
  }
  throw new Error('Expected a network of loopback addresses that no process uses, found none');
}

/** Pinned until this process ends. */
function reserve(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host, port: mysqlAdminPort, exclusive: true }, () => {
      server.unref();
      resolve(true);
    });
  });
}
