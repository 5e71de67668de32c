import type { IncomingMessage } from 'node:http';

/** Every piece that arrives is kept in an object of its own, however short it is. */
const pieceOverheadBytes = 256;

/** The part of the budget that one request has taken. */
export interface Share {
  /** Another piece of so many bytes has arrived. `refused` is called when the request is one to give up for it. */
  take(bytes: number): void;
  /** Returns all of it. */
  end(): void;
}

interface Taken {
  bytes: number;
  readonly refused: () => void;
}

/**
 * How many bytes of bodies all requests together may keep. Where they want more, the largest body is given up: a real
 * AdmissionReview is small, so that neither a crowd of large ones nor a slow one keeps it from being read.
 */
export class BodyBudget {
  readonly #limitBytes: number;
  readonly #taken = new Set<Taken>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** For a body that begins. */
  begin(refused: () => void): Share {
    const taken: Taken = { bytes: 0, refused };
    this.#taken.add(taken);
    return {
      take: (bytes) => {
        if (!this.#taken.has(taken)) return;
        taken.bytes += bytes + pieceOverheadBytes;
        this.#bytes += bytes + pieceOverheadBytes;
        while (this.#bytes > this.#limitBytes) this.#refuseLargest();
      },
      end: () => this.#end(taken),
    };
  }

  #refuseLargest(): void {
    const largest = [...this.#taken].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    this.#end(largest);
    largest.refused();
  }

  #end(taken: Taken): void {
    if (this.#taken.delete(taken)) this.#bytes -= taken.bytes;
  }
}

export type BodyRead =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** All requests together had more than they may. */
  | { readonly kind: 'overloaded' };

/**
 * Reads a request's body up to a limit of its own and as far as the budget of all goes. Beyond either the answer comes
 * at once, beyond the former by the header if there is one; what still arrives is let go by, since a client that is cut
 * off while it sends may never read the answer. Rejects when the client goes away.
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
    const onClose = (): void => onError(new Error('Expected the whole body, the client went away before its end'));
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
    // The one for errors stays: one that comes after the answer is nobody's.
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError);
  });
}
