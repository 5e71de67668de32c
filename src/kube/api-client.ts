import { backoffMilliseconds, delay } from '../base/delay.ts';
import { linesOf, mayHaveMoreValues, textOf } from '../base/text.ts';
import { TimeLimit } from '../base/time-limit.ts';
import type { ExchangeRequest, ExchangeResponse, World } from '../base/world.ts';
import { ApiError, errorOfAnswer, isTooLarge, type NoAnswerReason } from './api-error.ts';
import { mostBytesOfObject, mostValuesOfObject } from './object-limits.ts';
import { type Priority, type Reservation, TokenBucket } from './token-bucket.ts';

// The only way to the API server, with a rate limit, time limits, retries, and one type of error.

export type { Priority } from './token-bucket.ts';

const defaultTimeoutMilliseconds = 10_000;
const defaultRetries = 3;
const retryBackoff = { firstMilliseconds: 200, longestMilliseconds: 5_000 };
/** If the server asks for a longer wait than this, the call fails, and the caller decides when to retry. */
const longestRetryAfterSeconds = 10;
const refusals: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export type ContentType =
  | 'application/json'
  | 'application/merge-patch+json'
  | 'application/strategic-merge-patch+json'
  | 'application/json-patch+json'
  | 'application/apply-patch+yaml';

export interface CallOptions {
  readonly priority: Priority;
  readonly signal?: AbortSignal;
  readonly query?: Query;
  /** Number of retries; default 3. */
  readonly retries?: number;
  /** Tokens that were taken in advance for this call. If none is left, the call waits like any other call. */
  readonly reservation?: Reservation | undefined;
  /** Time limit of one attempt, from sending to the last byte of the answer. The default is the client's limit. */
  readonly timeoutMilliseconds?: number;
  /**
   * The response counts as unreadable and is not parsed if it contains more JSON values than this. The default is the
   * limit of one object, so a request for a list has to name its own limits.
   */
  readonly mostValues?: number;
  /**
   * The response counts as unreadable and is not read to its end if it is larger than this. The default is the limit of
   * one object.
   */
  readonly mostBytes?: number;
}

export interface Call extends CallOptions {
  readonly method: ExchangeRequest['method'];
  /** Path without the query, as `path()` makes it. */
  readonly path: string;
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: ContentType;
  /** Called immediately before each attempt is sent, because the call may have waited long. */
  readonly isStillWanted?: () => boolean;
}

export interface ApiClientOptions {
  readonly world: World;
  readonly qps: number;
  readonly burst: number;
  readonly userAgent?: string;
  readonly timeoutMilliseconds?: number;
  /** Called immediately before each attempt of a write is sent. By default, every attempt is allowed. */
  readonly mayWrite?: (priority: Priority) => boolean;
}

/**
 * Calls the API server, with a rate limit, time limits and one type of error. Objects go in and come out as plain JSON,
 * so that fields that this program does not know survive.
 *
 * A GET is retried after a missing answer, 429 and 5xx. A write is retried only if the server cannot have carried it
 * out: the connection was refused, or the server answered 429 or 503 with a Retry-After.
 */
export class ApiClient {
  readonly #world: World;
  readonly #bucket: TokenBucket;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMilliseconds: number;
  readonly #mayWrite: (priority: Priority) => boolean;

  constructor({ world, qps, burst, userAgent = 'moco-rollout', ...options }: ApiClientOptions) {
    this.#world = world;
    this.#bucket = new TokenBucket({ world, qps, burst });
    this.#headers = { accept: 'application/json', 'user-agent': userAgent };
    this.#timeoutMilliseconds = options.timeoutMilliseconds ?? defaultTimeoutMilliseconds;
    this.#mayWrite = options.mayWrite ?? (() => true);
  }

  /**
   * Takes the tokens for several calls in a namespace in advance. The caller must end the reservation. Resolves to
   * `null` if the signal is aborted first.
   */
  reserve(priority: Priority, calls: number, namespace: string, signal: AbortSignal): Promise<Reservation | null> {
    return this.#bucket.reserve(priority, calls, signal, namespace);
  }

  /** Resolves to the answer's body. Rejects with `ApiError` and nothing else. */
  async call<T>(call: Call): Promise<T> {
    const { priority, signal, reservation, retries = defaultRetries } = call;
    for (let failures = 0; ; ) {
      if (!reservation?.take() && !(await this.#bucket.take(priority, signal, namespaceOf(call))))
        throw aborted(call, signal);
      try {
        return await this.#once<T>(call);
      } catch (error) {
        failures += 1;
        const wait = error instanceof ApiError && failures <= retries ? this.#wait(call, error, failures) : null;
        if (wait === null) throw error;
        if (!(await delay(this.#world, wait, signal))) throw aborted(call, signal);
      }
    }
  }

  /**
   * Yields the lines of an endless response, such as a watch. Only the response header has a time limit; the reader
   * decides how long silence may last. Returns when the server ends the response; otherwise throws `ApiError`. If the
   * reader leaves the loop, the response is closed.
   */
  async *stream(requestPath: string, query: Query, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    const call: Call = { method: 'GET', path: requestPath, query, priority: 'read', signal };
    if (!(await this.#bucket.take('read', signal))) throw aborted(call, signal);
    const limit = new TimeLimit(this.#world, this.#timeoutMilliseconds, signal);
    try {
      const { body } = await this.#send(call, 'watch', limit);
      limit.lift();
      yield* linesOf(body);
    } catch (error) {
      throw noAnswer(call, error, limit);
    } finally {
      limit.end();
    }
  }

  async #once<T>(call: Call): Promise<T> {
    const limit = new TimeLimit(this.#world, call.timeoutMilliseconds ?? this.#timeoutMilliseconds, call.signal);
    try {
      const { body } = await this.#send(call, 'call', limit);
      return parsed(call, await textOf(body, call.mostBytes ?? mostBytesOfObject)) as T;
    } catch (error) {
      throw noAnswer(call, error, limit);
    } finally {
      limit.end();
    }
  }

  #assertMaySend(call: Call): void {
    if (call.isStillWanted?.() === false) {
      throw silent(
        call,
        'TooLate',
        'the rate limit delayed the request until its caller no longer wanted it, so nothing was sent',
        undefined,
      );
    }
    if (call.method !== 'GET' && !this.#mayWrite(call.priority)) {
      throw silent(call, 'NotLeading', 'this process does not lead, so nothing was sent', undefined);
    }
  }

  /** Resolves to the answer if its status is 2xx. Otherwise rejects. */
  async #send(call: Call, pool: ExchangeRequest['pool'], { signal }: TimeLimit): Promise<ExchangeResponse> {
    const { method, body, contentType = 'application/json' } = call;
    const response = await this.#world.exchange({
      method,
      path: withQuery(call.path, call.query),
      headers: body === undefined ? this.#headers : { ...this.#headers, 'content-type': contentType },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      assertMaySend: () => this.#assertMaySend(call),
      pool,
    });
    const { status, headers } = response;
    if (status >= 200 && status < 300) return response;
    throw errorOfAnswer(`${method} ${call.path}`, status, headers, await textOf(response.body, mostBytesOfObject));
  }

  #wait({ method }: Call, error: ApiError, failures: number): number | null {
    if (isTooLarge(error)) return null;
    const { status, reason, retryAfterSeconds } = error;
    const backoff = backoffMilliseconds(failures, retryBackoff, this.#world.random());
    if ((status === 429 || status === 503) && retryAfterSeconds !== null) {
      return retryAfterSeconds > longestRetryAfterSeconds ? null : Math.max(backoff, retryAfterSeconds * 1000);
    }
    const repeatable = method === 'GET' ? status === 0 || status === 429 || status >= 500 : notCarriedOut(reason);
    return repeatable ? backoff : null;
  }
}

/** The tenant of a call, because calls of different namespaces take turns. Empty for objects without a namespace. */
const namespaceOf = ({ path: requestPath }: Call): string => /\/namespaces\/([^/]+)\//.exec(requestPath)?.[1] ?? '';

function notCarriedOut(reason: string): boolean {
  const reasons: readonly NoAnswerReason[] = ['ConnectionRefused', 'CredentialsUnavailable'];
  return (reasons as readonly string[]).includes(reason);
}

function withQuery(requestPath: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? requestPath : `${requestPath}?${parameters.toString()}`;
}

/** Parses a response. Returns `undefined` for an empty body. */
function parsed(call: Call, text: string): unknown {
  if (text === '') return undefined;
  const { mostValues = mostValuesOfObject } = call;
  if (mostValues < text.length && mayHaveMoreValues(text, mostValues)) {
    throw new RangeError(`expected at most ${mostValues} values, got more`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw silent(call, 'UnreadableAnswer', `expected JSON, got ${text.slice(0, 80)}`, error);
  }
}

function noAnswer(call: Call, error: unknown, { passed }: Pick<TimeLimit, 'passed'>): ApiError {
  if (passed) return silent(call, 'TimedOut', 'no answer within the time limit', error);
  if (call.signal?.aborted) return aborted(call, call.signal);
  if (error instanceof ApiError) return error;
  if (error instanceof RangeError) return silent(call, 'UnreadableAnswer', error.message, error);
  const refused = codesOf(error).some((code) => refusals.includes(code));
  return silent(call, refused ? 'ConnectionRefused' : 'ConnectionLost', messageOf(error), error);
}

function aborted(call: Call, signal: AbortSignal | undefined): ApiError {
  return silent(call, 'Aborted', 'aborted by the caller', signal?.reason);
}

function silent({ method, path }: Call, reason: NoAnswerReason, message: string, cause: unknown): ApiError {
  return new ApiError({ status: 0, reason, message: `${method} ${path}: ${reason}: ${message}`, cause });
}

/**
 * The error codes of a failed request. Node tries every address of a host name, and then throws all errors as one
 * error.
 */
function codesOf(error: unknown): readonly string[] {
  if (error instanceof AggregateError) {
    const codes = error.errors.map((inner) => codesOf(inner)[0] ?? '');
    return codes.every((code) => refusals.includes(code)) ? codes : [];
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? [code] : [];
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
