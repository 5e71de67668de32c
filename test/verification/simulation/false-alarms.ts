import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods } from '../../../src/kube/resource.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Ability } from '../witness/ability.ts';
import type { Witness } from '../witness/witness.ts';
import { isMember } from './members.ts';

/** Objects have whole seconds, and the program sees a change a moment later. */
const inexactMilliseconds = 2_000;
/** What a kubelet may need past the grace period. The hold waits longer, because watches may be late. */
const marginMilliseconds = 10_000;
/** The maximal delay of a status: the program may be frozen or cut off in between. */
const lateMilliseconds = 600_000;

/** How long a pod has been terminating. */
interface Termination {
  readonly requestedAt: number;
  readonly graceMilliseconds: number;
  /** Since when its grace period has been 0. */
  readonly endedAt: number | null;
  readonly goneAt: number | null;
}

/** Objects if the program alarms about a pod that terminates normally, unless it could not see its end. */
export class FalseAlarms {
  readonly #witness: Witness;
  readonly #ability: Ability;
  readonly #terminations = new Map<string, Termination>();

  constructor(witness: Witness, ability: Ability) {
    this.#witness = witness;
    this.#ability = ability;
  }

  changed({ kind, object, before, type }: StoreChange, atMilliseconds: number): void {
    if (kind === pods && isMember(object)) this.#follow(object, type === 'DELETED', atMilliseconds);
    if (kind !== rolloutKind || type === 'DELETED') return;
    const hold = holdOf(object);
    if (hold['rule'] !== 'MemberStuckTerminating' || holdOf(before)['rule'] === hold['rule']) return;
    if ([...this.#terminations.values()].some((one) => this.#seemsStuck(one, atMilliseconds))) return;
    const text = `called a member stuck though every pod went within its time: ${String(hold['message'])}`;
    this.#witness.object('alarm', text, atMilliseconds);
  }

  /** Longer than the grace period it was first given, or than its end. */
  #seemsStuck({ requestedAt, graceMilliseconds, endedAt, goneAt }: Termination, now: number): boolean {
    const couldSee = goneAt !== null && this.#ability.isGiven(Math.max(goneAt, now - marginMilliseconds), now);
    const until = (couldSee ? goneAt : now) + inexactMilliseconds - marginMilliseconds;
    return until - requestedAt >= graceMilliseconds || (endedAt !== null && until >= endedAt);
  }

  #follow({ metadata }: StoredObject, gone: boolean, now: number): void {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
    const known = this.#terminations.get(uid);
    if (deletionTimestamp === undefined) return;
    const began = { requestedAt: now, graceMilliseconds: deletionGracePeriodSeconds * 1000 };
    const endedAt = deletionGracePeriodSeconds === 0 ? (known?.endedAt ?? now) : null;
    this.#terminations.set(uid, { ...began, ...known, endedAt, goneAt: gone ? now : null });
    for (const [other, { goneAt }] of this.#terminations) {
      if (goneAt !== null && now - goneAt > lateMilliseconds) this.#terminations.delete(other);
    }
  }
}

function holdOf(rollout: StoredObject | null): ReturnType<typeof record> {
  return record(record(rollout?.['status'])['hold']);
}
