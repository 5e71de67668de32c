import { setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { DispatcherOptions } from '@kubernetes/client-node';
import { Agent, type buildConnector, type Dispatcher, ProxyAgent } from 'undici';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../base/world.ts';
import { ApiError } from './api-error.ts';
import { type Credentials, Kubeconfig, type KubeconfigChoice } from './kubeconfig.ts';

// The connection to the API server: connection pools, credentials, proxies, and certificates that are rotated.

export { ConfigurationError } from './kubeconfig-files.ts';

/**
 * Shorter than the idle limits of most load balancers, and shorter than the 90 s after which an API server closes an
 * idle connection.
 */
const keepAliveMilliseconds = 30_000;
const mostCallConnections = 16;
/**
 * For TCP keep-alive: the kernel probes a peer that has been silent for this long, and closes the connection if the
 * peer does not answer.
 */
const probing = { allowH2: false, keepAlive: true, keepAliveInitialDelay: 30_000 };
const unauthorized = 401;
/** Turns the time limits of undici off, because the World sets time limits. */
const noTimeLimits = { headersTimeout: 0, bodyTimeout: 0 };

interface Pools {
  readonly options: DispatcherOptions;
  readonly watch: Dispatcher;
  readonly call: Dispatcher;
}

/**
 * Creates a connection without opening it. Throws `ConfigurationError` if the configuration lacks an address or a user.
 */
export const connect = (choice: KubeconfigChoice): Connection => new Connection(choice);

export class Connection {
  readonly exchange: Exchange = (request) => unlessAborted(this.#exchange(request), request.signal);
  readonly #choice: KubeconfigChoice;
  readonly #retired = new Set<Dispatcher>();
  #kubeconfig: Kubeconfig;
  #pools: Pools | null = null;
  /** Ends connections that are still being opened, which would keep the process alive. undici would wait for them. */
  readonly #closing = new AbortController();
  #closed = false;

  constructor(choice: KubeconfigChoice) {
    this.#choice = choice;
    this.#kubeconfig = Kubeconfig.load(choice);
    // Each open connection listens to it.
    setMaxListeners(0, this.#closing.signal);
  }

  get server(): string {
    return this.#kubeconfig.server;
  }

  /** The namespace of the kubeconfig's current context. */
  get namespace(): string {
    return this.#kubeconfig.namespace;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort();
    const open = new Set([...this.#retired, ...(this.#pools ? [this.#pools.watch, this.#pools.call] : [])]);
    this.#pools = null;
    await Promise.all([...open].map((dispatcher) => dispatcher.destroy()));
  }

  async #exchange(request: ExchangeRequest): Promise<ExchangeResponse> {
    const kubeconfig = this.#kubeconfig;
    const credentials = await credentialsOf(kubeconfig);
    const response = await this.#send(request, credentials);
    if (response.status !== unauthorized) return response;
    const renewed = await this.#renew(kubeconfig);
    if (renewed === null || isDeepStrictEqual({ ...renewed, socks: null }, { ...credentials, socks: null }))
      return response;
    for await (const _ of response.body);
    return this.#send(request, renewed);
  }

  /**
   * Reads the configuration again, because the token may have been rotated or the kubeconfig rewritten. Resolves to
   * `null` if that fails.
   */
  async #renew(refused: Kubeconfig): Promise<Credentials | null> {
    try {
      if (this.#kubeconfig === refused) this.#kubeconfig = Kubeconfig.load(this.#choice);
      return await this.#kubeconfig.credentials();
    } catch {
      return null;
    }
  }

  async #send(request: ExchangeRequest, credentials: Credentials): Promise<ExchangeResponse> {
    if (this.#closed) throw new Error('the connection is closed');
    const { origin, pathname } = new URL(this.server);
    const pool = this.#pool(request.pool, credentials).compose(asking(request.assertMaySend));
    const response = await pool.request({
      origin,
      path: pathname === '/' ? request.path : `${pathname}${request.path}`,
      method: request.method,
      headers: { ...request.headers, ...credentials.headers },
      body: request.body ?? null,
      signal: request.signal,
      ...noTimeLimits,
    });
    // The reader of the body receives its errors. This listener handles an error that occurs before there is a reader.
    response.body.on('error', () => {});
    return { status: response.statusCode, headers: flat(response.headers), body: response.body };
  }

  /**
   * Opens new connections if the certificates have changed. Watches that are running may stay on the old connections
   * until they end.
   */
  #pool(which: ExchangeRequest['pool'], { tls: options, socks }: Credentials): Dispatcher {
    if (this.#pools === null || !isDeepStrictEqual(this.#pools.options, options)) {
      if (this.#pools) this.#retire(this.#pools);
      const { signal } = this.#closing;
      this.#pools = {
        options,
        watch: socks ?? dispatcher(options, null, signal),
        call: socks ?? dispatcher(options, mostCallConnections, signal),
      };
    }
    return this.#pools[which];
  }

  #retire({ watch, call }: Pools): void {
    for (const old of new Set([watch, call])) {
      this.#retired.add(old);
      void old.close().then(() => this.#retired.delete(old));
    }
  }
}

/** Rejects as soon as the signal is aborted. undici notices an abort only once it has a connection. */
async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function credentialsOf(kubeconfig: Kubeconfig): Promise<Credentials> {
  try {
    return await kubeconfig.credentials();
  } catch (error) {
    const message = `expected credentials for ${kubeconfig.server}, got: ${error instanceof Error ? error.message : String(error)}`;
    throw new ApiError({ status: 0, reason: 'CredentialsUnavailable', message, cause: error });
  }
}

/**
 * undici starts a request as soon as it has a connection. An error that is thrown at that moment ends the request, not
 * the connection.
 */
function asking(assertMaySend = (): void => {}): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      assertMaySend();
      start?.(controller, context);
    };
    return dispatch(options, handler);
  };
}

/**
 * Uses HTTP/1.1 with one request at a time on each connection, so that a lost packet or a slow body does not delay
 * other requests.
 */
function dispatcher(options: DispatcherOptions, connections: number | null, signal: AbortSignal): Dispatcher {
  const common = {
    connections,
    allowH2: false,
    keepAliveTimeout: keepAliveMilliseconds,
    keepAliveMaxTimeout: keepAliveMilliseconds,
  };
  switch (options.type) {
    case 'proxy':
      return new ProxyAgent({
        ...common,
        uri: options.uri,
        requestTls: { ...(options.requestTls as buildConnector.BuildOptions), ...probing },
      });
    case 'agent':
      return new Agent({
        ...common,
        connect: { ...(options.connect as buildConnector.BuildOptions), ...probing, signal },
      });
    case 'socks':
      throw new TypeError(`expected a dispatcher for the proxy ${options.uri} from client-node, got none`);
    case 'none':
      return new Agent({ ...common, connect: { ...probing, signal } });
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
