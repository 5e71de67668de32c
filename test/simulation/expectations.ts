import { pods, statefulSets } from '../../src/kube/resource.ts';
import type { ExchangeRequest } from '../../src/kube/world.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { Witness } from '../witness/witness.ts';
import type { VirtualClock } from './clock.ts';
import type { Sent } from './network.ts';
import { resourceAt } from './resource-path.ts';
import { record, type StoredObject } from './stored-object.ts';

/** After so long a process may go by what it reads. */
const patienceMilliseconds = 30_000;

interface Process {
  /** Pods that it took and whose end no watch has told it yet, by uid: since when. */
  readonly taken: Map<string, number>;
  /** Those whose end it knows; a watch may be quicker than the answer. */
  readonly ended: Set<string>;
  /** What it has read last, of what a confirmation consists of. */
  lastRead: 'cluster' | 'statefulSet' | 'pod' | null;
  /** It reads to see whether it is done, not to confirm: the MySQLCluster comes first then. */
  looksOn: boolean;
}

/**
 * Holds every process to the rule that nothing is begun while its watches don't show what it has just done. A step
 * begins with a read of the StatefulSet by name; what only looks whether a rollout is complete reads the MySQLCluster
 * before that.
 */
export class Expectations {
  readonly #clock: VirtualClock;
  readonly #witness: Witness;
  readonly #processes = new Map<string, Process>();

  constructor(clock: VirtualClock, witness: Witness) {
    this.#clock = clock;
    this.#witness = witness;
  }

  sent({ actor, method, path }: Sent): void {
    const target = resourceAt(path);
    if (method !== 'GET' || target === null || target.name === null) return;
    const process = this.#of(actor);
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
    const target = resourceAt(path.split('?')[0] ?? '');
    // A list tells of every end as well.
    if (method === 'GET' && target?.kind === pods && target.name === null) this.#of(actor).taken.clear();
    const takes = method === 'DELETE' || target?.subresource === 'eviction';
    if (!takes || code >= 300 || target?.kind !== pods) return;
    const options = record(JSON.parse(body ?? '{}'));
    const { uid } = record(options['preconditions'] ?? record(options['deleteOptions'])['preconditions']);
    const process = this.#of(actor);
    if (typeof uid === 'string' && !process.ended.has(uid)) process.taken.set(uid, this.#clock.nowMilliseconds);
  }

  told(actor: string, object: StoredObject, type: 'ADDED' | 'MODIFIED' | 'DELETED'): void {
    const { uid, deletionTimestamp } = object.metadata;
    if (type !== 'DELETED' && deletionTimestamp === undefined) return;
    const { taken, ended } = this.#of(actor);
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

  #of(actor: string): Process {
    const known = this.#processes.get(actor);
    if (known !== undefined) return known;
    const fresh: Process = { taken: new Map(), ended: new Set(), lastRead: null, looksOn: false };
    this.#processes.set(actor, fresh);
    return fresh;
  }
}
