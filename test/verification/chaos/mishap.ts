/** What befalls one request, or the process that has sent it. Times are milliseconds. */
export type Mishap =
  /** kill -9. Before: the request never arrives. After: the answer is lost. */
  | { readonly kind: 'kill' }
  /** kill -9, and the request arrives all the same, later. */
  | { readonly kind: 'killAndArrive'; readonly afterMilliseconds: number }
  /** SIGSTOP, then SIGCONT. The request arrives halfway between them. */
  | { readonly kind: 'freeze'; readonly forMilliseconds: number }
  /** The connection breaks. */
  | { readonly kind: 'reset' }
  /** An answer that the API server did not send; after: the request was executed. */
  | { readonly kind: 'answer'; readonly status: 429 | 500 | 503; readonly retryAfterSeconds: number | null }
  | { readonly kind: 'slow'; readonly byMilliseconds: number };

export type Side = 'before' | 'after';

export function mishapInWords(mishap: Mishap): string {
  switch (mishap.kind) {
    case 'kill':
      return 'kill -9';
    case 'killAndArrive':
      return `kill -9, and it arrives ${seconds(mishap.afterMilliseconds)} later`;
    case 'freeze':
      return `SIGSTOP for ${seconds(mishap.forMilliseconds)}`;
    case 'reset':
      return 'the connection breaks';
    case 'answer':
      return `answered ${mishap.status}`;
    case 'slow':
      return `slow by ${seconds(mishap.byMilliseconds)}`;
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
