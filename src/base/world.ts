/**
 * Time, randomness and the network, in one object. `kube/` and `controller/` only use them through a `World`, so that a
 * simulation can run the same code with its own clock, seed and API server.
 */
export interface World {
  /** Milliseconds since an arbitrary moment. This clock never steps back. Used for every age, deadline and delay. */
  monotonic(): number;
  /**
   * Milliseconds since 1970. This clock may jump. Used only to write timestamps, and to compare timestamps with the
   * present.
   */
  wall(): number;
  /**
   * Calls back once after `delayMilliseconds`. Returns a function that cancels the timer; calling it twice is harmless.
   */
  timer(delayMilliseconds: number, callback: () => void): () => void;
  /** A random number from 0 (inclusive) to 1 (exclusive). It is for jitter, never for anything secret. */
  random(): number;
  /** The only access to the network: a request to the API server as bytes, and the response as a stream of bytes. */
  exchange: Exchange;
}

/** Sends one request. Rejects only if no response header arrives (connection, TLS, time, abort). */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeResponse>;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path and the query, such as `/api/v1/pods?limit=100`. The implementation knows the server's address. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /**
   * Called each time right before the first byte is sent. A new connection or a credential plugin may take long, and
   * the process may be suspended in the meantime. If the function throws, nothing is sent, and the exchange rejects
   * with that error.
   */
  readonly assertMaySend?: () => void;
  /** Watches and calls have separate connections, so that neither can starve the other. */
  readonly pool: 'watch' | 'call';
}

export interface ExchangeResponse {
  readonly status: number;
  /** The names of the headers are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives. Leaving the iteration closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The log of this layer, such as a pino logger. Each call takes the fields first, then the message. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/* oxlint-disable no-restricted-globals, no-restricted-properties -- the only place with the real clocks and timers */

/** The longest delay of a Node timer; a timer with a longer delay fires at once. */
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
