import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below Linux' range for outgoing connections (32768 and up), so that a restarted server doesn't find its port in use
// by a connection.
const lowestPort = 20_000;
const endPort = 32_000;
const tries = 100;

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A port from `lowest` up to below `end` that is free on 127.0.0.1 at this moment. The caller has to cope with losing
 * the race for it.
 */
export async function freePort(lowest = lowestPort, end = endPort): Promise<number> {
  for (let tried = 0; tried < tries; tried++) {
    const port = randomInt(lowest, end);
    if (await canListen(port)) {
      return port;
    }
  }
  throw new Error(`Expected a free port from ${lowest} up to below ${end}, found none in ${tries} tries`);
}
