import type { ExchangeRequest } from '../../src/kube/world.ts';

/** What can happen to a request on its way. */
export type Mishap =
  /** The server, or something before it, says no. */
  | { readonly kind: 'error'; readonly code: number; readonly retryAfterSeconds: number | null }
  /** It is carried out, and the connection breaks before the answer. */
  | { readonly kind: 'lost' }
  /** The connection breaks before it has arrived. */
  | { readonly kind: 'reset' }
  /** Nobody listens. */
  | { readonly kind: 'refused' }
  /** It arrives, and no answer ever comes. */
  | { readonly kind: 'silent' }
  /** It takes longer on its way there, or back. */
  | { readonly kind: 'slow'; readonly thereMilliseconds: number; readonly backMilliseconds: number };

export type RequestKind = 'read' | 'confirm' | 'pod' | 'status' | 'lease' | 'any';

/** For a while, some of the requests meet with a mishap. */
export interface Trouble {
  readonly mishap: Mishap;
  readonly requests: RequestKind;
  readonly probability: number;
  readonly untilMilliseconds: number;
  /** The number of the process whose requests they are, `null` for all. */
  readonly process: number | null;
}

export function kindOf({ method, path, pool }: ExchangeRequest): Exclude<RequestKind, 'any'> {
  if (path.includes('/leases')) return 'lease';
  if (method === 'GET') return pool === 'watch' || path.includes('?') ? 'read' : 'confirm';
  return path.includes('/pods/') ? 'pod' : 'status';
}
