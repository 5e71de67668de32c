/**
 * Everything that is time, chance or network, in one object. `kube/` and `controller/` reach these through a
 * `World` and through nothing else, so that a simulation can put its own clock, seed and API server underneath the
 * very same code.
 */
export interface World {
  /** Milliseconds since an arbitrary moment. Never steps back. For every age, deadline and delay. */
  monotonic(): number;
  /** Milliseconds since 1970. May step. Only for timestamps that are written, and for reading other people's. */
  wall(): number;
  /** Calls back once after `delayMilliseconds`. Returns a function that cancels it; calling that twice is harmless. */
  timer(delayMilliseconds: number, callback: () => void): () => void;
  /** From 0 (inclusive) to 1 (exclusive). For jitter, never for anything secret. */
  random(): number;
  /** The one network seam: a request to the API server as bytes out and a stream of bytes in. */
  exchange: Exchange;
}

/** Sends one request. Rejects only when no answer's head could be had (connection, TLS, time, abort). */
export type Exchange = (request: ExchangeRequest) => Promise<ExchangeResponse>;

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, such as `/api/v1/pods?limit=100`. The server's address is the exchange's own business. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /**
   * Called when the first byte is about to go out, each time that it is: a new connection or a credential plugin may
   * take long, and a stopped process wakes up in the middle of either. Where it throws, nothing is sent, and the
   * exchange rejects with what it threw.
   */
  readonly assertMaySend?: () => void;
  /** Watches and calls have connections of their own, so that one kind can't starve the other. */
  readonly pool: 'watch' | 'call';
}

export interface ExchangeResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives. Breaking out of the iteration gives the connection up. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Where this layer writes what happens to it; pino's loggers are such. Fields first, then a sentence. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/* oxlint-disable no-restricted-globals, no-restricted-properties -- the one place where the real ones come in */

/** The longest delay that a Node timer takes; more than that fires at once. */
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
