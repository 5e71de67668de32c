import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

// Limits how much of the single thread clients may use. A client is any program that can reach a port.

/** What the clients of a server may use. */
interface ClientLimits {
  readonly connections: number;
  /** The rates of each address. Both may be the same object. */
  readonly connecting: ClientRates;
  readonly requesting: ClientRates;
}

/**
 * Limits the clients of a server. A connection beyond the limit replaces the one that has been quiet for longest. So a
 * client that connects and sends nothing, or that sends a body byte by byte, cannot keep other clients out. A client
 * that connects too often is disconnected. If a client sends a request before it has the previous answer, all
 * connections from its address are closed.
 *
 * @param serve is called for each request. `isWithinRate` is false if the client sends requests too often.
 */
export function limitClients(
  server: Server,
  { connections, connecting, requesting }: ClientLimits,
  serve: (request: IncomingMessage, response: ServerResponse, isWithinRate: boolean) => void,
): void {
  /** The connection that has been quiet for longest is the first entry. */
  const open = new Map<string, Socket>();
  /** Connections with a request that is not answered yet. */
  const busy = new WeakSet<Socket>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    if (!connecting.allows(socket.remoteAddress ?? '')) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    const [quietest] = open.values();
    if (open.size >= connections) quietest?.destroy();
    open.set(key, socket);
    socket.once('close', () => {
      if (open.get(key) === socket) open.delete(key);
    });
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const address = socket.remoteAddress ?? '';
    if (busy.has(socket)) {
      connecting.exhaust(address);
      socket.destroy();
      // Node parses all requests that a socket has received, so each of these connections could block the thread for
      // milliseconds.
      for (const other of open.values()) if (other.remoteAddress === address) other.destroy();
      return;
    }
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
    const key = keyOf(socket);
    const one = open.get(key);
    if (one !== undefined) {
      open.delete(key);
      open.set(key, one);
    }
    serve(request, response, requesting.allows(address));
  });
}

export interface Rate {
  readonly perSecond: number;
  /** How many requests may arrive at once after a pause. */
  readonly burst: number;
}

interface Client {
  /** How many requests the address may send now. If this is below zero, the address has to wait. */
  tokens: number;
  countedAtMilliseconds: number;
}

/** How many addresses are remembered. The address that was quiet for longest is forgotten first. */
const mostAddresses = 1024;

/** Limits how often each address may send a request. */
export class ClientRates {
  readonly #clock: () => number;
  readonly #rate: Rate;
  readonly #clients = new Map<string, Client>();

  /** @param clock milliseconds since an arbitrary moment */
  constructor(clock: () => number, rate: Rate) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Whether an address may send another request. If it may, the request is counted. */
  allows(address: string): boolean {
    const client = this.#client(address);
    if (client.tokens < 1) return false;
    client.tokens -= 1;
    return true;
  }

  /**
   * Makes an address wait until it could have sent the requests of one second and one more. The wait is short because
   * other clients may share the address, such as API servers behind a proxy.
   */
  exhaust(address: string): void {
    this.#client(address).tokens = -this.#rate.perSecond;
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
