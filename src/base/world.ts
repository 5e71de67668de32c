/**
 * Time, chance and the network, in one object. `kube/` and `controller/` reach them only through a `World`, so that a
 * simulation can run the same code with its own clock, seed and API server.
 */
export interface World {
  /** Milliseconds since an arbitrary moment. Never steps back. For every age, deadline and delay. */
  monotonic(): number;
  /** Milliseconds since 1970. May jump. Only for timestamps that are written, and for reading those of others. */
  wall(): number;
  /** Calls back once after `delayMilliseconds`. Returns a function that cancels it; calling that twice is harmless. */
  timer(delayMilliseconds: number, callback: () => void): () => void;
  /** From 0 (inclusive) to 1 (exclusive). For jitter, never for anything secret. */
  random(): number;
  /** The only access to the network: a request to the API server as bytes, and the response as a stream of bytes. */
  exchange: Exchange;
}

/** Sends one request. Rejects only if there is no response header (connection, TLS, time, abort). */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeResponse>;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, such as `/api/v1/pods?limit=100`. The implementation knows the server's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /**
   * Called each time the first byte is about to be sent: a new connection or a credential plugin may take long, and a
   * suspended process may resume in the middle of either. If it throws, nothing is sent, and the exchange rejects with
   * that error.
   */
  readonly assertMaySend?: () => void;
  /** Watches and calls have separate connections, so that one kind can't starve the other. */
  readonly pool: 'watch' | 'call';
}

export interface ExchangeResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives. Leaving the iteration closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Where this layer logs; pino's loggers fit. Fields come first, then a sentence. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/* oxlint-disable no-restricted-globals, no-restricted-properties -- the one place where the real ones come in */

/** The longest delay of a Node timer; a longer one fires at once. */
const longestTimerMilliseconds = 2 ** 31 - 1;

/** This process's own clocks and timers, and a real API server behind `exchange`. */
export function realWorld(exchange: Exchange): World {
  return {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    timer(delayMilliseconds, callback) {
      const timeout = setTimeout(callback, Math.min(Math.max(0, delayMilliseconds), longestTimerMilliseconds));
      return () => clearTimeout(timeout);
    },
    random: () => Math.random(),
    exchange,
  };
}
