import type { ExchangeRequest, ExchangeResponse } from '../../../src/base/world.ts';
import { usualLease } from '../../../src/moco/lease-place.ts';
import { type ApiAnswer, type ApiRequest, refusal } from '../../support/api-server/api-answer.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { once, parse, responseOf } from '../../support/api-server/exchange.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';
import type { Strike } from './faults.ts';
import { kindOf, type Mishap, type Trouble, verbOf } from './trouble.ts';
import { WatchStream } from './watch-stream.ts';

/** A process as the network knows it. */
export interface Client {
  readonly process: number;
  readonly actor: string;
  /** Runs what reaches it: at once, later, or never. */
  readonly deliver: (callback: () => void) => void;
  /** Called before a write is sent and after it was executed; returns whether the process dies there. */
  readonly writes: (to: 'pod' | 'any', when: 'before' | 'onItsWay' | 'after') => void;
  readonly isAlive: () => boolean;
  /** A version of an object has reached it, by a watch or a list. */
  readonly onReported: (object: StoredObject, type: StoreChange['type']) => void;
  /** The answer to a request has reached it. */
  readonly onAnswered: (request: ExchangeRequest, code: number) => void;
}

/** A request as sent, with the time. */
export interface Sent {
  readonly actor: string;
  readonly method: ExchangeRequest['method'];
  readonly path: string;
  readonly revision: number;
  readonly atMilliseconds: number;
}

interface Latency {
  readonly fromMilliseconds: number;
  readonly toMilliseconds: number;
}

export interface NetworkOptions {
  readonly clock: VirtualClock;
  /** The clock of the API server, in milliseconds since 1970. */
  readonly wall: () => number;
  /** When moco-controller last renewed its Lease. It is not kept: it would be written every two seconds. */
  readonly renewal: () => string;
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly onSent: (sent: Sent) => void;
  readonly onStrike: (strike: Strike) => void;
}

const mocoLeasePath = `/apis/coordination.k8s.io/v1/namespaces/${usualLease.namespace}/leases/${usualLease.name}`;
const encoder = new TextEncoder();
const usual: Latency = { fromMilliseconds: 1, toMilliseconds: 6 };
/** A request that its author has given up may arrive all the same. */
const arrivesAfterAbort = 0.5;
const lateBetweenWrites = 0.5;

/** The network between the processes and the API server: bytes are delayed, split or lost. */
export class Network {
  readonly #clock: VirtualClock;
  readonly #wall: () => number;
  readonly #renewal: () => string;
  readonly #chance: Chance;
  readonly #server: ApiServer;
  readonly #watches = new Set<{ readonly client: Client; readonly stream: WatchStream }>();
  readonly #onSent: (sent: Sent) => void;
  readonly #onStrike: (strike: Strike) => void;
  /** By process: the newest revision that it has received of each kind. */
  readonly #reportedOf = new Map<string, Map<string, number>>();
  /** The maximal delay of each kind's watches, by plural; default: `lagMilliseconds`. */
  readonly lagOf = new Map<string, number>();
  lagMilliseconds = 30;
  /** Watches from before this revision are answered with 410. */
  oldestRevision = 0;
  #troubles: readonly Trouble[] = [];

  constructor({ clock, wall, renewal, chance, server, onSent, onStrike }: NetworkOptions) {
    this.#clock = clock;
    this.#wall = wall;
    this.#renewal = renewal;
    this.#chance = chance;
    this.#server = server;
    this.#onSent = onSent;
    this.#onStrike = onStrike;
  }

  add(trouble: Trouble): void {
    this.#troubles = [...this.#troubles, trouble].filter(
      ({ untilMilliseconds }) => untilMilliseconds > this.#clock.nowMilliseconds,
    );
  }

  heal(): void {
    this.#troubles = [];
  }

  /** The open watches of a process, of all of them, of one kind. */
  watches(process: number | null, plural: string | null): readonly WatchStream[] {
    return [...this.#watches]
      .filter(({ client }) => client.isAlive() && (process === null || client.process === process))
      .map(({ stream }) => stream)
      .filter(({ target }) => plural === null || target.kind.plural === plural);
  }

  exchange(client: Client, request: ExchangeRequest): Promise<ExchangeResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ExchangeResponse>();
    const fail = (code: string): void => client.deliver(() => reject(Object.assign(new Error(code), { code })));
    request.signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true });
    if (!client.isAlive()) return promise;
    try {
      request.assertMaySend?.();
    } catch (error) {
      reject(error);
      return promise;
    }
    const isWrite = request.method !== 'GET' && kindOf(request) !== 'ownLease' && !request.path.includes('/events');
    const to = kindOf(request) === 'pod' ? 'pod' : 'any';
    if (isWrite) client.writes(to, 'before');
    if (!client.isAlive()) return promise;
    const parsed = parse(request, client.actor);
    const { actor, method, path } = parsed;
    this.#onSent({
      actor,
      method,
      path,
      revision: this.#server.store.revision,
      atMilliseconds: this.#clock.nowMilliseconds,
    });
    const mishap = this.#mishapOf(client, request);
    if (mishap !== null) this.#onStrike(`${mishap.kind} ${verbOf(request)}`);
    // A process that dies now can't cancel it any more.
    if (isWrite) client.writes(to, 'onItsWay');
    // The server may be slow between the two writes of an eviction.
    const isInTwo = parsed.path.endsWith('/eviction');
    const lateMilliseconds = mishap?.kind === 'slow' ? mishap.thereMilliseconds : 0;
    const isLateWithin = isInTwo && lateMilliseconds > 0 && this.#chance.happens(lateBetweenWrites);
    const there = this.#latency() + (isLateWithin ? 0 : lateMilliseconds);
    const between = isInTwo ? this.#latency() + (isLateWithin ? lateMilliseconds : 0) : 0;
    const back = this.#latency() + (mishap?.kind === 'slow' ? mishap.backMilliseconds : 0);
    if (mishap?.kind === 'reset' || mishap?.kind === 'refused') {
      this.#clock.after(there, () => fail(mishap.kind === 'reset' ? 'ECONNRESET' : 'ECONNREFUSED'));
      return promise;
    }
    this.#clock.after(there, () => {
      if (request.signal.aborted) {
        if (!this.#chance.happens(arrivesAfterAbort)) return;
        this.#onStrike('lateRequest');
      }
      const respond = (response: ExchangeResponse): void => {
        if (isWrite) client.writes(to, 'after');
        if (mishap?.kind === 'silent') return;
        if (mishap?.kind === 'lost') fail('ECONNRESET');
        else {
          const arrive = (): void => {
            // Nobody learns from an answer that he has given up waiting for.
            if (!request.signal.aborted) client.onAnswered(request, response.status);
            resolve(response);
          };
          this.#clock.after(back, () => client.deliver(arrive));
        }
      };
      if (mishap?.kind === 'error') respond(inTrouble(mishap));
      else this.#carryOut(client, parsed, request, between, respond);
    });
    return promise;
  }

  #latency(): number {
    return this.#chance.between(usual.fromMilliseconds, usual.toMilliseconds);
  }

  #mishapOf(client: Client, request: ExchangeRequest): Mishap | null {
    const now = this.#clock.nowMilliseconds;
    for (const { mishap, requests, probability, untilMilliseconds, process } of this.#troubles) {
      if (untilMilliseconds <= now || (process !== null && process !== client.process)) continue;
      if (requests !== 'any' && requests !== kindOf(request)) continue;
      if (this.#chance.happens(probability)) return mishap;
    }
    return null;
  }

  #noteOrder({ actor }: Client, plural: string, revision: number): void {
    const reported = this.#reportedOf.get(actor) ?? new Map<string, number>();
    this.#reportedOf.set(actor, reported);
    for (const [other, newest] of reported) {
      if (other !== plural && newest > revision) {
        this.#onStrike('reordered');
        break;
      }
    }
    reported.set(plural, Math.max(revision, reported.get(plural) ?? 0));
  }

  #carryOut(
    client: Client,
    parsed: ApiRequest,
    request: ExchangeRequest,
    betweenMilliseconds: number,
    respond: (response: ExchangeResponse) => void,
  ): void {
    const dated = ({ headers, ...response }: ExchangeResponse): ExchangeResponse => ({
      ...response,
      headers: { ...headers, date: new Date(this.#wall()).toUTCString() },
    });
    if (parsed.query?.get('watch') === 'true') {
      respond(dated(this.#watch(client, parsed, request)));
      return;
    }
    const given = (answer: ApiAnswer): void => {
      if (answer.code === 409) this.#onStrike('conflict');
      respond(dated(responseOf(answer)));
    };
    if (parsed.path === mocoLeasePath) {
      const renewTime = this.#renewal();
      const metadata = { namespace: usualLease.namespace, name: usualLease.name, uid: 'lease', resourceVersion: '1' };
      const spec = { holderIdentity: 'moco-controller', leaseDurationSeconds: 15, renewTime };
      given({ code: 200, body: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } });
      return;
    }
    const begun = this.#server.begin(parsed);
    if (typeof begun === 'function') this.#clock.after(betweenMilliseconds, () => given(begun()));
    else given(begun);
  }

  #watch(
    client: Client,
    { path, query = new URLSearchParams() }: ApiRequest,
    request: ExchangeRequest,
  ): ExchangeResponse {
    const target = resourceAt(path);
    if (target === null) throw new Error(`expected a kind to watch at ${path}, found none`);
    if (query.has('sendInitialEvents') && !this.#server.lists.areStreamed) return responseOf(listsNotStreamed);
    const stream = new WatchStream({
      clock: this.#clock,
      chance: this.#chance,
      server: this.#server,
      target,
      query,
      lag: () => this.#chance.between(1, this.lagOf.get(target.kind.plural) ?? this.lagMilliseconds),
      deliver: client.deliver,
      onReported: (object, type) => {
        this.#noteOrder(client, target.kind.plural, Number(object.metadata.resourceVersion));
        client.onReported(object, type);
      },
      oldestRevision: this.oldestRevision,
    });
    const open = { client, stream };
    this.#watches.add(open);
    request.signal.addEventListener(
      'abort',
      () => {
        stream.body.close(new DOMException('aborted', 'AbortError'));
        this.#watches.delete(open);
      },
      { once: true },
    );
    return { status: 200, headers: {}, body: stream.body };
  }
}

const listsNotStreamed = refusal(
  422,
  'Invalid',
  'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
);

function inTrouble({ code, retryAfterSeconds }: Extract<Mishap, { kind: 'error' }>): ExchangeResponse {
  const headers = retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) };
  return { status: code, headers, body: once(encoder.encode('trouble on the way')) };
}
