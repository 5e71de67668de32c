import { statefulSets } from '../../../src/kube/resource.ts';
import { newPodsAtCurrentRevision, newPodsLabel } from '../../../src/moco/names.ts';
import { type ApiRequest, isDryRun } from '../../support/api-server/api-answer.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { LostMember } from '../witness/lost-members.ts';
import type { Situation } from './situations.ts';

/** A pod that is deleted by force has its successor sooner. */
const atOnceMilliseconds = 1_000;
/** From the write of the label until its author dies. */
const flipMilliseconds = 100;

const keeps = (set: StoredObject | null): boolean => set?.metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision;

/** Finds what befalls a cluster while new pods start at the current revision. */
export class KeptRevisions {
  readonly #find: (situation: Situation) => void;
  #flippedBy = '';
  #flippedAt = Number.NEGATIVE_INFINITY;

  constructor(find: (situation: Situation) => void) {
    this.#find = find;
  }

  changed({ kind, object, before, type }: StoreChange): void {
    if (kind !== statefulSets || !keeps(before)) return;
    if (type === 'DELETED') {
      this.#find('recreatedWhileKept');
      return;
    }
    const [now, then] = [object, before].map((one) => record(one?.['spec']));
    if (now?.['replicas'] !== then?.['replicas']) this.#find('scaledWhileKept');
    const [revision, earlier] = [object, before].map((one) => record(one?.['status'])['updateRevision']);
    if (revision !== earlier) this.#find('templateChangesWhileKept');
  }

  answered(request: ApiRequest, now: number): void {
    const { method, path, actor, body } = request;
    if (method !== 'PATCH' || isDryRun(request) || resourceAt(path)?.kind !== statefulSets) return;
    if (!(newPodsLabel in record(record(record(body)['metadata'])['labels']))) return;
    this.#flippedBy = actor;
    this.#flippedAt = now;
  }

  died(actor: string, now: number): void {
    if (actor === this.#flippedBy && now - this.#flippedAt < flipMilliseconds) this.#find('diesInTheFlip');
  }

  /** At the end of a history. */
  ended(
    { lost, restored }: { readonly lost: readonly LostMember[]; readonly restored: number },
    replicas: number,
  ): void {
    if (restored > 0) this.#find('restored');
    const kept = lost.filter(({ outcome }) => outcome === 'kept');
    for (const one of lost) {
      const isAtOnce = one.afterMilliseconds < atOnceMilliseconds;
      if (one.outcome === 'kept') this.#find(isAtOnce ? 'keptAtRest' : 'keptInTime');
      else this.#find(one.isBesideWorking ? 'sparesWorking' : 'updatedTooLate');
    }
    if (kept.length > 0 && replicas === 1) this.#find('keptAlone');
    const began = ({ atMilliseconds, afterMilliseconds }: LostMember): number => atMilliseconds - afterMilliseconds;
    const isBeside = (one: LostMember, other: LostMember): boolean =>
      one.ordinal !== other.ordinal && began(one) < other.atMilliseconds && began(other) < one.atMilliseconds;
    if (kept.some((one) => kept.some((other) => isBeside(one, other)))) this.#find('keptTwo');
  }
}
