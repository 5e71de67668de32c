import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { ClientRates, limitConnections, type Rate } from './clients.ts';

// A small server for probes and metrics that no client can exhaust.

interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
}

/** Answers a GET. `verbose` is true for `?verbose`, as Kubernetes' health endpoints take it. */
export type HttpHandler = (request: { readonly verbose: boolean }) => HttpAnswer | Promise<HttpAnswer>;

interface HttpServerOptions {
  readonly address: BindAddress;
  /** The flag with the address, for error messages. */
  readonly flag: string;
  /** By path. */
  readonly handlers: Readonly<Record<string, HttpHandler>>;
  /** Called when a handler throws; the client gets a 500 without details. */
  readonly onError: (path: string, error: unknown) => void;
  /** Milliseconds since an arbitrary moment, for the rates of clients; the process's own if absent. */
  readonly clock?: () => number;
}

export interface RunningHttpServer {
  /** With the actual port. */
  readonly address: BindAddress;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

/** The limit for each of these: the headers of a request, the request, and a client that does not read its answer. */
const timeoutMilliseconds = 10_000;
const headerLimitBytes = 8 * 1024;
/** Far more than the kubelets and every scraping Prometheus need. */
const mostConnections = 64;
/** For one address; a connection counts as a request. The kubelet and a Prometheus send one every few seconds. */
const clientRate: Rate = { perSecond: 20, burst: 50 };

/**
 * Serves a few paths over plain HTTP, for probes and for Prometheus. Rejects with a `ListenError`. A connection has one
 * request at a time: a client that sends the next one before it has its answer is disconnected, and so is one that
 * connects too often. One that requests too often gets 429.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningHttpServer> {
  const rates = new ClientRates(options.clock ?? (() => performance.now()), clientRate);
  /** Connections whose request is not answered yet. */
  const busy = new WeakSet<Socket>();
  const server = createServer(
    {
      maxHeaderSize: headerLimitBytes,
      headersTimeout: timeoutMilliseconds,
      requestTimeout: timeoutMilliseconds,
      connectionsCheckingInterval: 1000,
    },
    (request, response) => {
      const { socket } = request;
      const address = socket.remoteAddress ?? '';
      if (socket.destroyed) return;
      if (busy.has(socket)) {
        rates.exhaust(address);
        socket.destroy();
        return;
      }
      busy.add(socket);
      response.once('close', () => busy.delete(socket));
      const answered = rates.allows(address) ? answer(request, options) : Promise.resolve(tooMany);
      void answered.then((one) => send(request, response, one));
    },
  );
  server.timeout = timeoutMilliseconds;
  limitConnections(server, mostConnections);
  server.on('connection', (socket) => {
    if (!rates.allows(socket.remoteAddress ?? '')) socket.destroy();
  });
  const address = await listen(server, options.address, options.flag);
  return { address, close: () => close(server, 0) };
}

/** Stops listening, and ends requests after the grace period. */
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

/** How long one answer serves every request. */
const sharedMilliseconds = 1000;

/**
 * A handler with an expensive answer, called at most once a second: requests in that time share the answer, and its
 * bytes.
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

/** `null` when all is well, otherwise what is wrong, in words. */
export type HealthCheck = () => string | null;

/**
 * A handler for `/healthz` or `/readyz` in Kubernetes' manner: `ok` while every check passes, otherwise 500 with a line
 * for each check. `?verbose` shows the lines in either case.
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
  /** `null`: every address of the machine, of either family. */
  readonly host: string | null;
  /** 0 lets the system choose a free one. */
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
 * Starts listening and returns the address, with the actual port if port 0 was requested. `flag` is the flag with the
 * address, for the sentence of the `ListenError`.
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
