import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below Linux' range for outgoing connections (32768 and up), so that a restarted server doesn't find its port in use
// by a connection.
const firstPort = 20_000;
const portsOfProcess = 1000;
const processes = 12;
// Test files run side by side, and what a port is for may begin to listen seconds later: each process has its own ports, and
// gives none twice.
const lowestPort = firstPort + (process.pid % processes) * portsOfProcess;
const given = new Set<number>();
const tries = 100;

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A port that is free on 127.0.0.1 at this moment, and that this process has not been given before. The caller has to cope
 * with losing the race for it to another program.
 */
export async function freePort(): Promise<number> {
  const port = await freePortFrom(lowestPort, lowestPort + portsOfProcess);
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

/** One from `lowest` up to below `end` that is free on 127.0.0.1 at this moment. */
export async function freePortFrom(lowest: number, end: number): Promise<number> {
  for (let tried = 0; tried < tries; tried++) {
    const port = randomInt(lowest, end);
    if (await canListen(port)) return port;
  }
  throw new Error(`Expected a free port from ${lowest} up to below ${end}, found none in ${tries} tries`);
}
