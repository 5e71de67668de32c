import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { ClientRates, limitClients, type Rate } from './clients.ts';

// A small server for probes and metrics that no client can exhaust.

interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** Answers a GET. `verbose` is true if the query contains `verbose`, as for Kubernetes' health endpoints. */
export type HttpHandler = (request: { readonly verbose: boolean }) => HttpAnswer | Promise<HttpAnswer>;

interface HttpServerOptions {
  readonly address: BindAddress;
  /** The flag that sets the address, for error messages. */
  readonly flag: string;
  /** The handlers by their paths. */
  readonly handlers: Readonly<Record<string, HttpHandler>>;
  /** Called when a handler throws; the client gets a 500 without details. */
  readonly onError: (path: string, error: unknown) => void;
  /** A clock in milliseconds since an arbitrary moment, for the rates of clients; by default the process's own. */
  readonly clock?: () => number;
}

export interface RunningHttpServer {
  /** The address with the actual port. */
  readonly address: BindAddress;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

/**
 * The time limit for the headers of a request, for the whole request, and for a client that does not read its answer.
 */
const timeoutMilliseconds = 10_000;
const headerLimitBytes = 8 * 1024;
/** Far more connections than all kubelets and Prometheus servers need. */
const mostConnections = 64;
/**
 * The rate for one address; a new connection counts as a request. The kubelet and a Prometheus send a request every few
 * seconds.
 */
const clientRate: Rate = { perSecond: 20, burst: 50 };

/**
 * Serves a few paths over plain HTTP, for probes and for Prometheus. Rejects with a `ListenError`. A connection has one
 * request at a time: a client that sends its next request before it has the previous answer is disconnected, and so is
 * a client that connects too often. A client that requests too often gets status 429.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const rates = new ClientRates(options.clock ?? (() => performance.now()), clientRate);
  const server = createServer({
    maxHeaderSize: headerLimitBytes,
    headersTimeout: timeoutMilliseconds,
    requestTimeout: timeoutMilliseconds,
    connectionsCheckingInterval: 1000,
  });
  server.timeout = timeoutMilliseconds;
  const limits = { connections: mostConnections, connecting: rates, requesting: rates };
  limitClients(server, limits, (request, response, isWithinRate) => {
    const answered = isWithinRate ? answer(request, options) : Promise.resolve(tooMany);
    void answered.then((one) => send(request, response, one));
  });
  const address = await listen(server, options.address, options.flag);
  return { address, close: () => close(server, 0) };
}

/** Stops listening, and cuts the remaining connections after the grace period. */
export async function close(server: HttpServer, graceMilliseconds: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  await closed;
  clearTimeout(cut);
}

async function answer(request: IncomingMessage, { handlers, onError }: HttpServerOptions): Promise<HttpAnswer> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
  if (handler === undefined) return plainText(404, `Expected one of ${Object.keys(handlers).join(', ')}, got ${path}.`);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead) return plainText(405, `Expected GET or HEAD, got ${request.method}.`);
  try {
    return await handler({ verbose: new URLSearchParams(query).has('verbose') });
  } catch (error) {
    onError(path, error);
    return plainText(500, 'An internal error occurred; see the log.');
  }
}

const tooMany = plainText(
  429,
  `Expected at most ${clientRate.perSecond} requests per second from one address, got more.`,
);

function send(request: IncomingMessage, response: ServerResponse, { status, contentType, body }: HttpAnswer): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
    ...(status === 429 ? { 'Retry-After': '1', Connection: 'close' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

export function plainText(status: number, sentence: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

/** For how long all requests share one answer. */
const sharedMilliseconds = 1000;

/**
 * A handler for an answer that is expensive to make. The answer is made at most once a second; all requests in that
 * second share it.
 *
 * @param clock milliseconds since an arbitrary moment
 */
export function shared(handler: () => Promise<HttpAnswer>, clock: () => number): () => Promise<HttpAnswer> {
  let last: { readonly atMilliseconds: number; readonly answer: Promise<HttpAnswer> } | null = null;
  return () => {
    const now = clock();
    if (last !== null && now - last.atMilliseconds < sharedMilliseconds) return last.answer;
    const answer = handler().then(({ body, ...rest }) => ({ ...rest, body: Buffer.from(body) }));
    last = { atMilliseconds: now, answer };
    return answer;
  };
}

/** Returns `null` when all is well, otherwise a text that says what is wrong. */
export type HealthCheck = () => string | null;

/**
 * A handler for `/healthz` or `/readyz`, as in Kubernetes: `ok` while every check passes, otherwise 500 with a line for
 * each check. `?verbose` shows the lines in either case.
 */
export function healthHandler(endpoint: string, checks: Readonly<Record<string, HealthCheck>>): HttpHandler {
  return ({ verbose }) => {
    const results = Object.entries(checks).map(([name, check]) => ({ name, problem: check() }));
    const healthy = results.every(({ problem }) => problem === null);
    if (healthy && !verbose) return plainText(200, 'ok');
    const lines = results.map(({ name, problem }) =>
      problem === null ? `[+]${name} ok` : `[-]${name} failed: ${problem}`,
    );
    return plainText(healthy ? 200 : 500, [...lines, `${endpoint} check ${healthy ? 'passed' : 'failed'}`].join('\n'));
  };
}

export interface BindAddress {
  /** `null` stands for every address of the machine, IPv4 and IPv6. */
  readonly host: string | null;
  /** 0 lets the system choose a free port. */
  readonly port: number;
}

const highestPort = 65_535;
const pattern = /^(?:\[(?<six>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^:[\]\s]*)):(?<port>\d{1,5})$/;

/** Reads `HOST:PORT`, `[IPv6]:PORT` or `:PORT`, like Go's net package; `null` for anything else. */
export function parseBindAddress(text: string): BindAddress | null {
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined) return null;
  const port = Number(groups['port']);
  if (port > highestPort) return null;
  const host = groups['six'] ?? groups['host'] ?? '';
  return { host: host === '' ? null : host, port };
}

/** The address in the format of `parseBindAddress`. */
export function showBindAddress({ host, port }: BindAddress): string {
  if (host === null) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A server can't listen on its address. The message is a sentence for the person who configured it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Starts listening and returns the address, with the actual port if port 0 was requested. The message of a
 * `ListenError` names `flag`, the flag that sets the address.
 */
export async function listen(server: Server, address: BindAddress, flag: string): Promise<BindAddress> {
  server.listen({ port: address.port, ...(address.host !== null && { host: address.host }) });
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new ListenError(whyNotListening(error, address, flag));
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') {
    throw new ListenError(`Expected ${flag} to become a TCP port, got ${String(bound)}.`);
  }
  return { host: address.host, port: bound.port };
}

function whyNotListening(error: NodeJS.ErrnoException, address: BindAddress, flag: string): string {
  const shown = showBindAddress(address);
  switch (error.code) {
    case 'EADDRINUSE':
      return `Expected ${flag} to be a free address, but something else listens on ${shown}; choose another one.`;
    case 'EACCES':
      return `Expected to be allowed to listen on ${shown}, but the system refuses; choose a port above 1023 for ${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `Expected ${flag} to name an address of this machine, got ${shown}; leave the host out to listen on all.`;
    default:
      return `Expected to listen on ${shown} (${flag}), but got: ${error.message}.`;
  }
}
