import type { Server, Socket } from 'node:net';

// What clients may take of the one thread that everything shares. Anybody who can reach a port is a client.

/**
 * Keeps a server to so many connections. One more replaces the one that has been quiet for longest: a client that
 * connects and says nothing, or sends a body byte by byte, keeps no other client out.
 */
export function limitConnections(server: Server, limit: number): void {
  /** The one that has been quiet for longest first. */
  const open = new Map<string, Socket>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    const [quietest] = open.values();
    if (open.size >= limit) quietest?.destroy();
    open.set(key, socket);
    socket.once('close', () => {
      if (open.get(key) === socket) open.delete(key);
    });
  });
  server.on('request', ({ socket }: { readonly socket: Socket }) => {
    const key = keyOf(socket);
    const one = open.get(key);
    if (one === undefined) return;
    open.delete(key);
    open.set(key, one);
  });
}

export interface Rate {
  readonly perSecond: number;
  /** How many may come at once after a pause. */
  readonly burst: number;
}

interface Client {
  /** How many requests it may send now. Below zero it waits for longer. */
  tokens: number;
  countedAtMilliseconds: number;
}

/** How many addresses are remembered; the one that was quiet for longest is forgotten first. */
const mostAddresses = 1024;

/** How often each address may send something. */
export class ClientRates {
  readonly #clock: () => number;
  readonly #rate: Rate;
  readonly #clients = new Map<string, Client>();

  /** @param clock milliseconds since an arbitrary moment */
  constructor(clock: () => number, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Whether an address may send one more, which is counted. */
  allows(address: string): boolean {
    const client = this.#client(address);
    if (client.tokens < 1) return false;
    client.tokens -= 1;
    return true;
  }

  /** Lets an address wait until a whole burst and one more request would be allowed again. */
  exhaust(address: string): void {
    this.#client(address).tokens = -this.#rate.burst;
  }

  #client(address: string): Client {
    const { perSecond, burst } = this.#rate;
    const now = this.#clock();
    const known = this.#clients.get(address) ?? { tokens: burst, countedAtMilliseconds: now };
    known.tokens = Math.min(burst, known.tokens + ((now - known.countedAtMilliseconds) / 1000) * perSecond);
    known.countedAtMilliseconds = now;
    this.#clients.delete(address);
    this.#clients.set(address, known);
    const [quietest] = this.#clients.keys();
    if (this.#clients.size > mostAddresses && quietest !== undefined) this.#clients.delete(quietest);
    return known;
  }
}
