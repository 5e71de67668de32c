import type { AuditEvent } from '../../../test/support/control-plane/audit-log.ts';

// Counts the requests to the API server by user and kind.

/** The users of the API server that the benchmark distinguishes. */
export const askers = ['controller', 'plain loop', 'MOCO', 'nodes', 'controller-manager', 'benchmark'] as const;
export type Asker = (typeof askers)[number];

/** The number of requests of each kind, without watches. */
export interface Requests {
  readonly reads: number;
  /** Requests that succeeded, except those for Events and leases. */
  readonly writes: number;
  readonly events: number;
  readonly leases: number;
  /** Responses with status 409 or 429; no other refusals count. */
  readonly refused: number;
}

export type RequestsByAsker = Readonly<Record<Asker, Requests>>;

const none: Requests = { reads: 0, writes: 0, events: 0, leases: 0, refused: 0 };
const reading: readonly string[] = ['get', 'list'];
const conflict = 409;
const tooManyRequests = 429;

/** Counts a stream of events by user and kind of request. */
export class RequestCount {
  readonly #counts = new Map<Asker, Requests>();
  /** Requests such as `create pods/eviction`, sent by the rival that is measured. */
  readonly #kinds = new Map<string, number>();
  #applies = 0;

  take({ user, verb, stage, objectRef, responseStatus }: AuditEvent): void {
    const asker = askerOf(user.username);
    if (asker === null || verb === 'watch' || stage !== 'ResponseComplete') return;
    const count = this.#counts.get(asker) ?? none;
    const refused = [conflict, tooManyRequests].includes(responseStatus?.code ?? 0);
    const sort = refused ? 'refused' : sortOf(verb, objectRef?.resource ?? '');
    this.#counts.set(asker, { ...count, [sort]: count[sort] + 1 });
    const { resource = '', subresource } = objectRef ?? {};
    if (asker === 'MOCO' && verb === 'patch' && resource === 'statefulsets' && subresource === undefined) {
      this.#applies += 1;
    }
    if (asker !== 'controller' && asker !== 'plain loop') return;
    const kind = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}${refused ? ' refused' : ''}`;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
  }

  /** How often MOCO has applied a StatefulSet. */
  get applies(): number {
    return this.#applies;
  }

  get byAsker(): RequestsByAsker {
    return Object.fromEntries(askers.map((asker) => [asker, this.#counts.get(asker) ?? none])) as RequestsByAsker;
  }

  get kinds(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#kinds].toSorted(([, a], [, b]) => b - a));
  }
}

function sortOf(verb: string, resource: string): keyof Requests {
  if (reading.includes(verb)) return 'reads';
  if (resource === 'events') return 'events';
  return resource === 'leases' ? 'leases' : 'writes';
}

/** `null` for other users, such as the API server's own loopback. */
function askerOf(user: string): Asker | null {
  switch (user) {
    case 'moco-controller':
      return 'MOCO';
    case 'nodes':
      return 'nodes';
    case 'benchmark':
    case 'admin':
      return 'benchmark';
    default:
      if (user.endsWith(':moco-rollout')) return 'controller';
      if (user.endsWith(':plain-loop')) return 'plain loop';
      return user.includes('controller') ? 'controller-manager' : null;
  }
}
