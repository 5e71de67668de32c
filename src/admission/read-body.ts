import type { IncomingMessage } from 'node:http';
import type { BodyBudget } from './body-budget.ts';

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
