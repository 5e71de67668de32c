import type { Ability } from './ability.ts';
import { heldBecause } from './held-members.ts';
import { type Case, takingPods } from './law.ts';
import { isOnLeavingNode, movesOff } from './leaving-nodes.ts';
import { isUpdated, isWell, participates, updateRevisionOf } from './member.ts';
import type { Moment } from './moment.ts';

/** How long rollouts wait after the last node, minus 2 s: timestamps of objects have whole seconds. */
const pauseMilliseconds = 598_000;
/** By then the program knows that a node is cordoned. */
const knownMilliseconds = 60_000;

/** A restart by the program. */
interface Restart {
  /** The update revision then: another one needs another restart. */
  readonly revision: string;
  /** Why the restart was avoidable, as a sentence; `null` if it was necessary. */
  readonly needless: string | null;
}

interface Options {
  readonly ability: Ability;
  readonly epochMilliseconds: number;
}

/**
 * With `nodeMaintenance: Evacuate` and `rolloutsDuringMaintenance: Wait`, a maintenance of nodes and a rollout beside
 * it restart each member once, because its update moves it off its node. So no member is updated on a node that stays
 * and moved later, or moved at its old revision and updated later, if its update could have moved it. A member that the
 * scheduler has put on a node that is upgraded later may be moved once more.
 */
export class SecondRestarts {
  readonly #options: Options;
  /** By ordinal: the last one of this maintenance. */
  readonly #restarts = new Map<number, Restart>();
  #isUnderWay = false;
  /** When a member was last on a node that is being taken out of service. */
  #lastMilliseconds = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
  }

  observe(moment: Moment): void {
    const isUnderWay = moment.members.some((member) => isOnLeavingNode(moment, member));
    if (isUnderWay && !this.#isMaintenance(moment)) this.#restarts.clear();
    if (isUnderWay || this.#isUnderWay) this.#lastMilliseconds = moment.atMilliseconds;
    this.#isUnderWay = isUnderWay;
  }

  /** A sentence if this restart of a member is a second one. `cases`: at every moment since the confirmation began. */
  took(cases: readonly Case[]): string | null {
    const last = cases.at(-1);
    if (last === undefined || !takingPods.includes(last.disruption.verb)) return null;
    const { moment, target } = last;
    const revision = updateRevisionOf(moment);
    const before = this.#restarts.get(target.ordinal);
    this.#restarts.set(target.ordinal, { revision, needless: this.#needless(cases) });
    if (before?.revision !== revision || before.needless === null) return null;
    return cases.every((one) => isWanted(one) && isWell(one.moment, one.target)) ? before.needless : null;
  }

  #needless(cases: readonly Case[]): string | null {
    const now = cases.at(-1)?.disruption.atMilliseconds ?? 0;
    const isKnown = this.#options.ability.isGiven(now - knownMilliseconds, now);
    if (!isKnown || !cases.every((one) => isWanted(one) && isWell(one.moment, one.target))) return null;
    if (cases.every((one) => this.#couldUpdate(one)))
      return 'it was moved at its old revision, and could have been updated';
    const isOnNodeThatStays = ({ moment, target }: Case): boolean => !isOnLeavingNode(moment, target);
    const isUpdate = cases.every((one) => isOnNodeThatStays(one) && !isUpdated(one.moment, one.target));
    return isUpdate && cases.every(({ moment }) => this.#isMaintenance(moment))
      ? 'it was updated before on a node that stayed, and could have waited for the nodes'
      : null;
  }

  /** It is moved at its old revision, and the objects show nothing that holds its update. */
  #couldUpdate({ moment, target, disruption, confirmedAtMilliseconds }: Case): boolean {
    if (isUpdated(moment, target) || !movesOff(moment, target, disruption)) return false;
    const isFailing = moment.members.some((one) => isUpdated(moment, one) && !participates(moment, one));
    const times = [confirmedAtMilliseconds, this.#options.epochMilliseconds + disruption.atMilliseconds];
    return !isFailing && times.every((at) => heldBecause(moment, target.ordinal, at) === null);
  }

  /** Nodes are being taken out of service, or the next one may follow. */
  #isMaintenance({ atMilliseconds }: Moment): boolean {
    return this.#isUnderWay || atMilliseconds - this.#lastMilliseconds < pauseMilliseconds;
  }
}

/** The user wants members moved and rollouts to wait, and nothing that the objects don't show may hold an update. */
function isWanted({ moment: { settings } }: Case): boolean {
  const { nodeMaintenance, rolloutsDuringMaintenance, overrides = [], checks = [], preflight } = settings?.spec ?? {};
  const isKnown = overrides.length === 0 && checks.length === 0 && preflight === undefined;
  return nodeMaintenance === 'Evacuate' && rolloutsDuringMaintenance === 'Wait' && isKnown;
}
