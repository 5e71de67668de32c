import type { ExchangeRequest } from '../../../src/base/world.ts';
import { usualLease } from '../../../src/moco/lease-place.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';

/** What can happen to a request on its way. */
export type Mishap =
  /** The server, or a proxy in front of it, refuses. */
  | { readonly kind: 'error'; readonly code: number; readonly retryAfterSeconds: number | null }
  /** It is carried out, and the connection breaks before the answer. */
  | { readonly kind: 'lost' }
  /** The connection breaks before it has arrived. */
  | { readonly kind: 'reset' }
  /** Nobody listens. */
  | { readonly kind: 'refused' }
  /** It arrives, and the answer is lost. */
  | { readonly kind: 'silent' }
  /** The request or its answer is delayed. */
  | { readonly kind: 'slow'; readonly thereMilliseconds: number; readonly backMilliseconds: number };

/** The Lease of this program, and that of MOCO, which this program only reads. */
type LeaseKind = 'ownLease' | 'mocoLease';

export type RequestKind = 'read' | 'confirm' | 'pod' | 'status' | LeaseKind | 'any';

/** For a while, some of the requests meet with a mishap. */
export interface Trouble {
  readonly mishap: Mishap;
  readonly requests: RequestKind;
  readonly probability: number;
  readonly untilMilliseconds: number;
  /** The number of the process that sends them; `null` for all. */
  readonly process: number | null;
}

const mocoLeasePath = `/namespaces/${usualLease.namespace}/leases/${usualLease.name}`;

/** Whose Lease the request is about; `null` for a request about something else. */
function leaseOf(path: string): LeaseKind | null {
  if (!path.includes('/leases')) return null;
  return path.endsWith(mocoLeasePath) ? 'mocoLease' : 'ownLease';
}

export function kindOf({ method, path, pool }: ExchangeRequest): Exclude<RequestKind, 'any'> {
  const lease = leaseOf(path);
  if (lease !== null) return lease;
  if (method === 'GET') return pool === 'watch' || path.includes('?') ? 'read' : 'confirm';
  return path.includes('/pods/') ? 'pod' : 'status';
}

/** Where requests go wrong, the Leases apart. */
export const requestVerbs = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'evict',
  'ownLease',
  'mocoLease',
] as const;
export type RequestVerb = (typeof requestVerbs)[number];

/** What requests meet with, each of them on each kind of request. */
export const mishapSentences: Readonly<Record<Mishap['kind'], string>> = {
  error: 'answered with 429, 500, 503 or 504',
  lost: 'carried out, the connection broken before the answer',
  reset: 'the connection broken before it arrived',
  refused: 'no process listened',
  silent: 'carried out and never answered',
  slow: 'seconds on its way, or its answer',
};

export function verbOf({ method, path }: ExchangeRequest): RequestVerb {
  const [place = '', query = ''] = path.split('?');
  const lease = leaseOf(place);
  if (lease !== null) return lease;
  if (place.endsWith('/eviction')) return 'evict';
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    case 'GET':
      if (query.includes('watch=true')) return 'watch';
      return resourceAt(place)?.name === null ? 'list' : 'get';
  }
}
