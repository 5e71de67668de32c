import type { IncomingMessage } from 'node:http';

// Reads the bodies of requests. All requests share one budget of bytes.

/** The overhead of each chunk that arrives, because each chunk is kept in a separate object. */
const pieceOverheadBytes = 256;

/** The share of the budget that one request uses. */
export interface Share {
  /**
   * Counts a chunk of this many bytes that has arrived. Calls `refused` if the budget requires that this request is
   * given up.
   */
  take(bytes: number): void;
  end(): void;
}

/**
 * The number of bytes that the bodies of all requests may have together. If they exceed this number, the request with
 * the largest body is given up. A real AdmissionReview is small, so it is read even if there are many large requests or
 * a slow one.
 */
export class BodyBudget {
  readonly #limitBytes: number;
  /** The number of bytes of each request. The key is the function that gives the request up. */
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
  /** The bodies of all requests together exceeded the limit. */
  | { readonly kind: 'overloaded' };

/**
 * Reads a request's body, up to the limit of one body and the budget of all requests. If the body exceeds either, the
 * promise resolves at once, if possible from the header alone. The rest of the body is discarded, because a client that
 * is cut off while sending may never read the answer. Rejects if the client goes away.
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
    const onClose = (): void =>
      onError(new Error('Expected the whole body, but the client disconnected before it had sent all of it'));
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
    // The listener for errors is never removed, because otherwise nothing would handle an error after the answer.
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}
