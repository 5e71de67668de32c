import type { ExchangeRequest } from '../../../src/base/world.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind, preflightLabel } from '../../../src/moco/names.ts';
import { type ResourcePath, resourceAt } from '../../support/api-server/resource-path.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Witness } from '../witness/witness.ts';
import type { VirtualClock } from './clock.ts';
import type { Sent } from './network.ts';
import { clusterName } from './simulation.ts';

/** So long after it has sent a write a process may go by what it reads. */
const patienceMilliseconds = 30_000;

interface Process {
  /** When it last requested a pod's disruption, by the request's path. */
  readonly asked: Map<string, number>;
  /** Disrupted pods whose end no watch has shown it yet, by uid, with the time of the request. */
  readonly taken: Map<string, number>;
  /** Pods whose end it has seen; a watch may be faster than the answer. */
  readonly ended: Set<string>;
  /** What it has read last, of what a confirmation consists of. */
  lastRead: 'cluster' | 'statefulSet' | 'pod' | null;
  /** A read to check completion, not to confirm: it reads the MySQLCluster first. */
  looksOn: boolean;
}

/**
 * Checks that no process begins a step before its watches show the previous one. A step begins with a read of the
 * StatefulSet by name; a check of completion reads the MySQLCluster before that.
 */
export class Expectations {
  readonly #clock: VirtualClock;
  readonly #witness: Witness;
  /** By actor and namespace. */
  readonly #processes = new Map<string, Process>();

  constructor(clock: VirtualClock, witness: Witness) {
    this.#clock = clock;
    this.#witness = witness;
  }

  sent({ actor, method, path, atMilliseconds }: Sent): void {
    const target = resourceAt(path);
    if (target === null || target.name === null) return;
    const process = this.#of(actor, target.namespace);
    if (takes(method, target)) {
      process.asked.set(path, atMilliseconds);
      // The confirmation is over: what is read next belongs to something else.
      process.lastRead = null;
    }
    if (method !== 'GET') return;
    switch (target.kind) {
      case clusterKind:
        if (process.lastRead !== 'pod') process.looksOn = true;
        process.lastRead = 'cluster';
        return;
      case pods:
        process.lastRead = 'pod';
        return;
      case statefulSets:
        if (!process.looksOn) this.#judge(actor, process);
        process.looksOn = false;
        process.lastRead = 'statefulSet';
        return;
      default:
    }
  }

  answered(actor: string, { method, path, body }: ExchangeRequest, code: number): void {
    const [asked = '', query = ''] = path.split('?');
    const target = resourceAt(asked);
    // A list shows every end as well, but for that of pods that fetch images.
    const isOfMembers = !query.includes(encodeURIComponent(preflightLabel));
    if (isOfMembers && method === 'GET' && target?.kind === pods && target.name === null) this.#listed(actor, target);
    if (target === null || !takes(method, target) || code >= 300) return;
    const options = record(JSON.parse(body ?? '{}'));
    const { uid } = record(options['preconditions'] ?? record(options['deleteOptions'])['preconditions']);
    const process = this.#of(actor, target.namespace);
    if (typeof uid !== 'string' || process.ended.has(uid)) return;
    // An answer may be long on its way: what the process counts from is its own asking.
    process.taken.set(uid, process.asked.get(asked) ?? this.#clock.nowMilliseconds);
  }

  reported(actor: string, object: StoredObject, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    const { uid, namespace = '', deletionTimestamp } = object.metadata;
    if (type !== 'DELETED' && deletionTimestamp === undefined) return;
    const { taken, ended } = this.#of(actor, namespace);
    taken.delete(uid);
    ended.add(uid);
  }

  #judge(actor: string, { taken }: Process): void {
    for (const [uid, since] of taken) {
      if (this.#clock.nowMilliseconds - since > patienceMilliseconds) taken.delete(uid);
      else {
        const text = `${actor} began anew before its watch had shown the end of ${uid}`;
        this.#witness.object('I1', text, this.#clock.nowMilliseconds);
      }
    }
  }

  /** Of one namespace, or of all. */
  #listed(actor: string, { namespace }: ResourcePath): void {
    for (const [key, { taken }] of this.#processes) {
      if (namespace === '' ? key.startsWith(`${actor} `) : key === keyOf(actor, namespace)) taken.clear();
    }
  }

  #of(actor: string, namespace: string): Process {
    const key = keyOf(actor, namespace);
    const known = this.#processes.get(key);
    if (known !== undefined) return known;
    const fresh: Process = { asked: new Map(), taken: new Map(), ended: new Set(), lastRead: null, looksOn: false };
    this.#processes.set(key, fresh);
    return fresh;
  }
}

const keyOf = (actor: string, namespace: string): string => `${actor} ${namespace}`;

function takes(method: ExchangeRequest['method'], target: ResourcePath): boolean {
  const isMember = target.kind === pods && target.name?.startsWith(`moco-${clusterName}-`) === true;
  return isMember && (method === 'DELETE' || target.subresource === 'eviction');
}
