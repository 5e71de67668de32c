import type { IncomingMessage } from 'node:http';

// Reads the bodies of requests within one budget for all of them.

/** The overhead of each chunk that arrives, since it is kept in a separate object. */
const pieceOverheadBytes = 256;

/** The part of the budget that one request uses. */
export interface Share {
  /** Another chunk of this many bytes has arrived. `refused` is called if this request has to be given up. */
  take(bytes: number): void;
  end(): void;
}

/**
 * How many bytes of bodies all requests together may keep. If they exceed that, the largest body is given up. A real
 * AdmissionReview is small, so neither many large requests nor a slow one prevents it from being read.
 */
export class BodyBudget {
  readonly #limitBytes: number;
  /** The bytes of each request, by the function that gives it up. */
  readonly #taken = new Map<() => void, number>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return [...this.#taken.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  begin(refused: () => void): Share {
    this.#taken.set(refused, 0);
    return {
      take: (bytes) => {
        const before = this.#taken.get(refused);
        if (before === undefined) return;
        this.#taken.set(refused, before + bytes + pieceOverheadBytes);
        while (this.bytes > this.#limitBytes) this.#refuseLargest();
      },
      end: () => void this.#taken.delete(refused),
    };
  }

  #refuseLargest(): void {
    const [refused] = [...this.#taken].reduce((one, other) => (other[1] > one[1] ? other : one));
    this.#taken.delete(refused);
    refused();
  }
}

export type BodyRead =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** All requests together exceeded their limit. */
  | { readonly kind: 'overloaded' };

/**
 * Reads a request's body up to its own limit and the budget of all requests. Beyond either limit the answer comes at
 * once, if possible from the header. The rest of the body is discarded, because a client that is cut off while it sends
 * may never read the answer. Rejects when the client goes away.
 */
export function readBody(request: IncomingMessage, limitBytes: number, budget: BodyBudget): Promise<BodyRead> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) {
    request.resume();
    return Promise.resolve({ kind: 'too-large' });
  }
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limitBytes) return giveUp('too-large');
      chunks.push(chunk);
      share.take(chunk.length);
    };
    const onEnd = (): void => {
      finish();
      resolve({ kind: 'body', bytes: Buffer.concat(chunks) });
    };
    const onError = (error: Error): void => {
      finish();
      reject(error);
    };
    const onClose = (): void => onError(new Error('Expected the whole body, but the client went away before its end'));
    const finish = (): void => {
      share.end();
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    };
    const giveUp = (kind: 'too-large' | 'overloaded'): void => {
      finish();
      chunks = [];
      request.resume();
      resolve({ kind });
    };
    const share = budget.begin(() => giveUp('overloaded'));
    // The listener for errors stays: otherwise nothing would handle an error after the answer.
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}
