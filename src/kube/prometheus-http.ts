import { readFile } from 'node:fs/promises';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { jsonOf, shortened } from '../base/text.ts';
import type { World } from '../base/world.ts';
import { ConfigurationError } from './kubeconfig-files.ts';
import { answerTo, inTime, type PlainAnswer } from './plain-http.ts';

// Queries Prometheus for the checks that users define.

export interface PrometheusSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** A value in Prometheus' notation: a number, `NaN`, `+Inf` or `-Inf`. */
  readonly value: string;
}

/** Evaluates a query at the current time. Rejects with an `Error` that has a human-readable message. */
export type PrometheusQuery = (query: string) => Promise<readonly PrometheusSeries[]>;

export interface PrometheusOptions {
  /** The address of Prometheus: `http` or `https`, without a trailing slash. It may contain a path prefix. */
  readonly url: string;
  /** PEM file with the CA that signed the server's certificate. `null` stands for Node's own CAs. */
  readonly caFile: string | null;
  /** File with a bearer token; `null` for none. */
  readonly tokenFile: string | null;
  /** File with `user:password`, used instead of a token; `null` for none. */
  readonly basicAuthFile: string | null;
  /** File with additional headers, one `Name: value` on each line; `null` for none. */
  readonly headersFile: string | null;
  /** `http` or `https` address of a proxy; `null` for no proxy. */
  readonly proxyUrl: string | null;
}

/** Time limit of a whole query: connection, header and body. */
export const queryTimeoutMilliseconds = 5000;
/** The maximum number of series to read. It is enough to identify the failing series. */
const mostSeries = 100;
const connectMilliseconds = 2000;
const mostConnections = 128;
const longestMessage = 300;

/** Headers that the request sets itself. Users cannot set them. */
const ownHeaders: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const mostHeaders = 32;

/** Follows no redirect and uses no proxy except the given one, so credentials reach only this address. */
export class PrometheusHttp {
  readonly #options: PrometheusOptions;
  readonly #world: World;
  readonly #timeoutMilliseconds: number;
  readonly #endpoint: URL;
  #connected: { readonly ca: string | null; readonly agent: Dispatcher } | null = null;

  constructor(options: PrometheusOptions, world: World, timeoutMilliseconds = queryTimeoutMilliseconds) {
    this.#options = options;
    this.#world = world;
    this.#timeoutMilliseconds = timeoutMilliseconds;
    this.#endpoint = new URL(`${options.url}/api/v1/query`);
  }

  readonly query: PrometheusQuery = (query) =>
    inTime(this.#world, this.#timeoutMilliseconds, this.#endpoint.origin, async (signal) =>
      prometheusSeries(await this.#post(query, signal)),
    );

  async checkFiles(): Promise<void> {
    await Promise.all([this.#ca(), this.#headers()]);
  }

  /** Aborts requests in progress. */
  async close(): Promise<void> {
    await this.#connected?.agent.destroy();
  }

  async #post(query: string, signal: AbortSignal): Promise<PlainAnswer> {
    const [agent, headers] = await Promise.all([this.#agent(), this.#headers()]);
    const timeout = `${this.#timeoutMilliseconds}ms`;
    const request = {
      origin: this.#endpoint.origin,
      path: this.#endpoint.pathname,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({ query, timeout, limit: String(mostSeries) }).toString(),
    } as const;
    return answerTo(agent, request, signal);
  }

  /** A changed CA takes effect with the next connection. */
  async #agent(): Promise<Dispatcher> {
    const ca = await this.#ca();
    if (this.#connected?.ca !== ca) {
      void this.#connected?.agent.close();
      this.#connected = null;
    }
    this.#connected ??= {
      ca,
      agent: this.#dispatcher({ timeout: connectMilliseconds, ...(ca !== null && { ca }) }),
    };
    return this.#connected.agent;
  }

  #dispatcher(connect: { readonly timeout: number; readonly ca?: string }): Dispatcher {
    const common = { connections: mostConnections, maxHeaderSize: 16 * 1024 };
    const { proxyUrl } = this.#options;
    if (proxyUrl === null) return new Agent({ ...common, connect });
    // A proxy forwards unencrypted requests without a tunnel, and many proxies refuse tunnels to ports other than 443.
    const proxyTunnel = this.#endpoint.protocol === 'https:';
    return new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect, proxyTunnel });
  }

  async #ca(): Promise<string | null> {
    const { caFile } = this.#options;
    if (caFile === null) return null;
    const pem = await contentOf(caFile, '--prometheus-ca-file', 'certificates in PEM');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
    throw new ConfigurationError(
      `expected certificates in PEM at ${caFile} (--prometheus-ca-file), but it contains none`,
    );
  }

  /** Reads the files again for every query, because the kubelet replaces mounted files in place. */
  async #headers(): Promise<Readonly<Record<string, string>>> {
    const { headersFile } = this.#options;
    const others =
      headersFile === null
        ? {}
        : headersOf(await contentOf(headersFile, '--prometheus-headers-file', 'headers'), headersFile);
    return { ...others, ...(await this.#authorization()) };
  }

  async #authorization(): Promise<{ readonly authorization?: string }> {
    const { tokenFile, basicAuthFile } = this.#options;
    if (basicAuthFile !== null) {
      const pair = (await contentOf(basicAuthFile, '--prometheus-basic-auth-file', 'user:password')).trim();
      if (!/^[^:\s][^:\r\n]*:[^\r\n]*$/.test(pair)) {
        throw new ConfigurationError(
          `expected user:password at ${basicAuthFile} (--prometheus-basic-auth-file), got something else`,
        );
      }
      return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
    }
    if (tokenFile === null) return {};
    const token = (await contentOf(tokenFile, '--prometheus-token-file', 'a bearer token')).trim();
    if (!/^[\x21-\x7e]+$/.test(token)) {
      throw new ConfigurationError(
        `expected a bearer token at ${tokenFile} (--prometheus-token-file), got something else`,
      );
    }
    return { authorization: `Bearer ${token}` };
  }
}

/** Parses headers. Messages never contain the values, because they may be secret. */
function headersOf(text: string, file: string): Readonly<Record<string, string>> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const wrong = (what: string): ConfigurationError =>
    new ConfigurationError(`expected headers at ${file} (--prometheus-headers-file), got ${what}`);
  if (lines.length > mostHeaders) throw wrong(`more than ${mostHeaders}`);
  return Object.fromEntries(
    lines.map((line, index) => {
      const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\x20-\x7e\t]*)$/.exec(line) ?? [];
      const content = value.trim();
      if (name === '' || content === '') throw wrong(`something else in line ${index + 1}`);
      if (ownHeaders.has(name.toLowerCase()))
        throw wrong(`${name} in line ${index + 1}, which the request sets itself`);
      return [name.toLowerCase(), content];
    }),
  );
}

async function contentOf(file: string, flag: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    const came = code === 'ENOENT' ? 'no such file' : code;
    throw new ConfigurationError(`expected ${what} at ${file} (${flag}), got ${came}`, { cause: error });
  }
}

interface QueryAnswer {
  readonly status?: unknown;
  readonly error?: unknown;
  readonly warnings?: unknown;
  readonly data?: { readonly resultType?: unknown; readonly result?: unknown } | null;
}

/**
 * Accepts what Prometheus accepts for an alerting rule. A scalar becomes a series without labels. Any other type is an
 * error.
 */
function prometheusSeries({ status, body }: PlainAnswer): readonly PrometheusSeries[] {
  const answer = jsonOf(body) as QueryAnswer | null | undefined;
  if (status !== 200 || answer?.status !== 'success') {
    const error = typeof answer?.error === 'string' ? `: ${shortened(answer.error, longestMessage)}` : '';
    throw new Error(`expected an answer to the query, got HTTP ${status}${error}`);
  }
  const { resultType, result } = answer.data ?? {};
  if (resultType === 'scalar') return [{ labels: {}, value: valueOf(result) }];
  if (resultType !== 'vector' || !Array.isArray(result)) {
    throw new Error(`expected the query to return a vector, got ${shortened(String(resultType), longestMessage)}`);
  }
  const [warning] = Array.isArray(answer.warnings) ? answer.warnings : [];
  // Series may be missing, for example because one Prometheus could not reach another.
  if (result.length === 0 && warning !== undefined) {
    throw new Error(`expected a complete answer, got a warning: ${shortened(String(warning), longestMessage)}`);
  }
  return result.map((one: { metric?: unknown; value?: unknown } | null) => ({
    labels: labelsOf(one?.metric),
    value: valueOf(one?.value),
  }));
}

function labelsOf(metric: unknown): Readonly<Record<string, string>> {
  if (typeof metric === 'object' && metric !== null) {
    const labels = Object.entries(metric);
    if (labels.every(([, value]) => typeof value === 'string')) return Object.fromEntries(labels);
  }
  throw new Error('expected series with labels, got something else');
}

function valueOf(sample: unknown): string {
  const value: unknown = Array.isArray(sample) ? sample[1] : undefined;
  if (typeof value !== 'string') throw new Error('expected series with a value, got something else');
  return value;
}
