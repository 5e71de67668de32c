import { mysqldContainer } from '../../../src/moco/names.ts';
import type { Ability } from './ability.ts';
import type { Chronicle } from './chronicle.ts';
import type { DataOfMembers } from './data.ts';
import type { Disruption } from './disruption.ts';
import { heldBecause, keepsRevisions, mayChangeNewPods } from './held-members.ts';
import { isTerminating, isUnreachable, replicasOf, revisionOf, updateRevisionOf } from './member.ts';
import { type Change, type Member, type Moment, ordinalOf } from './moment.ts';
import type { WitnessedContainer, WitnessedPod } from './objects.ts';
import type { Verification } from './verification.ts';

/** So long the program has to react, if it can act: from when a pod is first seen going until its successor is created. */
const reactsWithinMilliseconds = 5_000;

/** An opening that ends sooner has no room for a step. */
const roomMilliseconds: readonly number[] = [0, 15_000, 30_000, 45_000, 60_000, 90_000, 120_000];

/** A member that was held when another client took its pod, and what came of it. */
export interface LostMember {
  readonly ordinal: number;
  /** Why it was held. */
  readonly because: string;
  /** `kept`: it has come back at another revision than the update revision. `late`: its pod was created too soon. */
  readonly outcome: 'kept' | 'late' | 'violation';
  /** From when its pod was first seen going until its successor was created. */
  readonly afterMilliseconds: number;
  /** When its successor was created. */
  readonly atMilliseconds: number;
  /** A member went beside it that may have worked at the update revision, and comes first. */
  readonly isBesideWorking: boolean;
}

/** One pod of a member. */
interface Life {
  readonly uid: string;
  readonly revision: string;
  /** Its mysqld has run. */
  readonly hasStarted: boolean;
  readonly loss: Loss | null;
}

/** When the pod was first seen going. */
interface Loss {
  readonly atMilliseconds: number;
  readonly updateRevision: string;
  readonly because: string | null;
  /** The program was about to take it. */
  readonly isIntended: boolean;
  /** The uid of the MySQLRollout, which alone says who has taken it. */
  readonly rollout: string | null;
}

interface LostMembersOptions {
  readonly ability: Ability;
  readonly verification: Verification;
  readonly data: DataOfMembers;
  readonly epochMilliseconds: number;
}

/**
 * Invariant I24 of the design over time. A member from which the program holds the update revision does not come back at
 * it, and one that has worked at a verified update revision does not come back at an older one by the program's doing:
 * unless its pod was created again before the program could act.
 */
export class LostMembers {
  readonly #options: LostMembersOptions;
  readonly #lives = new Map<number, Life>();
  /** Pods that the program has taken, and those among them that were to come back as what they were. */
  readonly #taken = new Set<string>();
  readonly #restoredPods = new Set<string>();
  readonly #lost: LostMember[] = [];
  #restored = 0;
  /** Some member that may have worked at the update revision is going: now, and when that was so last. */
  #isSetBack = false;
  #setBackAt = Number.NEGATIVE_INFINITY;

  constructor(options: LostMembersOptions) {
    this.#options = options;
  }

  get lost(): readonly LostMember[] {
    return this.#lost;
  }

  /** Members that have come back at the revision that they had, since the program has deleted their updated pods. */
  get restored(): number {
    return this.#restored;
  }

  /** By the program: no member whose pod another client deletes. */
  took({ uid, verb }: Disruption): void {
    if (verb === 'demote' || verb === 'resize' || verb === 'restartInPlace') return;
    this.#taken.add(uid);
    if (verb === 'restore') this.#restoredPods.add(uid);
  }

  /** Why a member that is to be restored has to keep its revision; `null` if nothing shows that. */
  heldBecause(moment: Moment, ordinal: number): string | null {
    const { ability, verification, epochMilliseconds } = this.#options;
    const at = moment.atMilliseconds;
    const isVerified = verification.isSure(moment, at, (from, until) => ability.isGiven(from, until));
    const says = (milliseconds: number): string | null =>
      heldBecause(moment, ordinal, epochMilliseconds + milliseconds);
    const soon = roomMilliseconds.map((milliseconds) => says(at + milliseconds)).find((one) => one !== null);
    return soon ?? (isVerified ? null : 'not verified');
  }

  /** Its moment is the last one of the chronicle. Returns what is wrong with it. */
  observe(change: Change, chronicle: Chronicle): readonly string[] {
    const { latest } = chronicle;
    if (this.#isSetBack) this.#setBackAt = latest.atMilliseconds;
    const wrong = change.kind === 'Pod' ? this.#ofPod(change, chronicle) : [];
    this.#isSetBack = this.#wouldSetBack(latest);
    if (this.#isSetBack) this.#setBackAt = latest.atMilliseconds;
    return wrong;
  }

  #ofPod({ object, identity }: Change, chronicle: Chronicle): readonly string[] {
    const { latest } = chronicle;
    const ordinal = ordinalOf(identity.metadata.name);
    const { uid } = identity.metadata;
    const before = this.#lives.get(ordinal);
    if (object === null) {
      if (before?.uid === uid)
        this.#lives.set(ordinal, { ...before, loss: before.loss ?? this.#lossOf(latest, ordinal, uid) });
      return [];
    }
    const pod = object as WitnessedPod;
    const isSame = before?.uid === uid;
    const isLost = pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed';
    const known = isSame ? before.loss : null;
    this.#lives.set(ordinal, {
      uid,
      revision: revisionOf(pod),
      hasStarted: (isSame && before.hasStarted) || hasStarted(pod),
      loss: isLost ? (known ?? this.#lossOf(latest, ordinal, uid)) : known,
    });
    if (isSame || before === undefined || before.loss === null) return [];
    return this.#judge(ordinal, { ...before, loss: before.loss }, revisionOf(pod), chronicle);
  }

  #lossOf(moment: Moment, ordinal: number, uid: string): Loss {
    const { atMilliseconds, settings } = moment;
    const { step = '', pods = [] } = settings?.status?.intent ?? {};
    const isIntended = step !== 'demote' && pods.some((one) => one.uid === uid);
    const because = this.#because(moment, ordinal, atMilliseconds);
    const rollout = settings?.metadata.uid ?? null;
    return { atMilliseconds, updateRevision: updateRevisionOf(moment), because, isIntended, rollout };
  }

  /** Why the member may not be updated, of that only which the program can't see otherwise. */
  #because(moment: Moment, ordinal: number, atMilliseconds: number): string | null {
    const { epochMilliseconds, verification } = this.#options;
    if (!verification.mayBe(atMilliseconds)) return 'not verified';
    return heldBecause(moment, ordinal, epochMilliseconds + atMilliseconds);
  }

  #judge(ordinal: number, before: Life & { loss: Loss }, revision: string, chronicle: Chronicle): readonly string[] {
    const { latest } = chronicle;
    const updateRevision = updateRevisionOf(latest);
    const now = latest.atMilliseconds;
    const isUpdated = revision === updateRevision;
    const after = now - before.loss.atMilliseconds;
    const seconds = (after / 1000).toFixed(1);
    if (this.#restoredPods.has(before.uid)) {
      this.#restored += isUpdated ? 0 : 1;
      return [];
    }
    if (before.revision === updateRevision) {
      const isWrong =
        !isUpdated &&
        before.hasStarted &&
        keepsRevisions(latest) &&
        this.#couldSee(before, chronicle) &&
        this.#couldUpdate(chronicle);
      return isWrong
        ? [
            `member ${ordinal} had worked at the verified update revision, and has come back at an older one after ${seconds} s`,
          ]
        : [];
    }
    if (this.#taken.has(before.uid)) {
      const isRecorded = latest.settings?.metadata.uid === before.loss.rollout;
      const isSame = isRecorded && before.loss.updateRevision === updateRevision;
      const isWrong = !isUpdated && isSame && keepsRevisions(latest) && isAlone(ordinal, before.loss, chronicle);
      return isWrong ? [`a step had taken member ${ordinal}, and it has come back as what it was`] : [];
    }
    const because = this.#because(latest, ordinal, now);
    if (before.loss.isIntended || before.loss.because === null || because === null || !mayChangeNewPods(latest))
      return [];
    if (wasOffline(before.loss, chronicle)) return [];
    const isWrong =
      isUpdated &&
      !keepsRevisions(latest) &&
      this.#couldSee(before, chronicle) &&
      this.#couldKeep(ordinal, before.loss, chronicle);
    const outcome = isWrong ? 'violation' : isUpdated ? 'late' : 'kept';
    const isBesideWorking = this.#isSetBack || this.#setBackAt > before.loss.atMilliseconds;
    this.#lost.push({ ordinal, because, outcome, afterMilliseconds: after, atMilliseconds: now, isBesideWorking });
    return isWrong ? [`member ${ordinal} was held (${because}), and has come back updated after ${seconds} s`] : [];
  }

  /** The pod was seen going for long enough, in which the program could change what its successor starts at. */
  #couldSee({ loss }: { readonly loss: Loss }, chronicle: Chronicle): boolean {
    const { atMilliseconds: now } = chronicle.latest;
    const from = now - reactsWithinMilliseconds;
    const revision = updateRevisionOf(chronicle.latest);
    return (
      loss.atMilliseconds <= from &&
      this.#options.ability.isGiven(from, now) &&
      chronicle.during(from, now).every((moment) => mayChangeNewPods(moment) && updateRevisionOf(moment) === revision)
    );
  }

  #couldKeep(ordinal: number, loss: Loss, chronicle: Chronicle): boolean {
    const { atMilliseconds: now } = chronicle.latest;
    const from = now - reactsWithinMilliseconds;
    if (this.#isSetBack || this.#setBackAt > from || this.#wouldSetBack(chronicle.latest)) return false;
    const moments = chronicle.during(from, now);
    return moments.every((moment, index) => {
      const begins = Math.max(from, moment.atMilliseconds);
      const ends = moments[index + 1]?.atMilliseconds ?? now;
      const isHeld = [begins, ends].every((at) => this.#because(moment, ordinal, at) !== null);
      return (
        isHeld && this.#options.data.allowsKeeping({ ...moment, atMilliseconds: ends }, ordinal, loss.atMilliseconds)
      );
    });
  }

  #couldUpdate(chronicle: Chronicle): boolean {
    const { ability, verification } = this.#options;
    const from = chronicle.latest.atMilliseconds - reactsWithinMilliseconds;
    return chronicle
      .during(from, chronicle.latest.atMilliseconds)
      .every((moment) => verification.isSure(moment, from, (one, other) => ability.isGiven(one, other)));
  }

  /** A pod is going, or does not exist, that may be that of a member that has worked at the update revision. */
  #wouldSetBack(moment: Moment): boolean {
    if (!this.#options.verification.mayBe(moment.atMilliseconds)) return false;
    const revision = updateRevisionOf(moment);
    for (let ordinal = 0; ordinal < replicasOf(moment); ordinal++) {
      const life = this.#lives.get(ordinal);
      const member = moment.members.find((one) => one.ordinal === ordinal);
      if (life === undefined) {
        if (member === undefined) return true;
        continue;
      }
      const isGoing = life.loss !== null || (member !== undefined && isUnreachable(member));
      const isTaken = this.#taken.has(life.uid) || life.loss?.isIntended === true;
      if (isGoing && (life.revision === revision || isTaken)) return true;
    }
    return false;
  }
}

/** Of the members of a cluster no other one was going, or away, since the pod was first seen going. */
function isAlone(ordinal: number, { atMilliseconds }: Loss, chronicle: Chronicle): boolean {
  const { latest } = chronicle;
  return chronicle.during(atMilliseconds, latest.atMilliseconds).every((moment) => {
    const others = moment.members.filter((one) => one.ordinal !== ordinal);
    const isGoing = (one: Member): boolean =>
      isTerminating(one) || isUnreachable(one) || one.pod.status?.phase === 'Failed';
    return others.length >= replicasOf(moment) - 1 && !others.some(isGoing);
  });
}

/** Since the pod was first seen going, a person has asked for the cluster to have no pods: no other client took it. */
function wasOffline({ atMilliseconds }: Loss, chronicle: Chronicle): boolean {
  const moments = chronicle.during(atMilliseconds, chronicle.latest.atMilliseconds);
  return moments.some(({ cluster }) => cluster?.spec.offline === true);
}

function mysqldOf({ status }: WitnessedPod): WitnessedContainer | undefined {
  return status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
}

/** It runs or has run, as far as the kubelet has reported. */
function hasStarted(pod: WitnessedPod): boolean {
  const mysqld = mysqldOf(pod);
  return (
    (mysqld?.restartCount ?? 0) > 0 || mysqld?.state?.running !== undefined || mysqld?.state?.terminated !== undefined
  );
}

/** Whether a member's mysqld has started in its present pod. */
export const hasWorked = ({ pod, readyAtRestart }: Member): boolean =>
  hasStarted(pod) || readyAtRestart.has(mysqldContainer);
