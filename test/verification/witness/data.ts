import { mysqldContainer } from '../../../src/moco/names.ts';
import type { Ability } from './ability.ts';
import type { Chronicle } from './chronicle.ts';
import { keepsRevisions, mayChangeNewPods } from './held-members.ts';
import { isTerminating, isUnreachable, replicasOf, revisionOf, updateRevisionOf } from './member.ts';
import { type Change, type Member, type Moment, ordinalOf } from './moment.ts';
import type { WitnessedPod } from './objects.ts';

/** So long the program has to react, if it can act. */
const reactsWithinMilliseconds = 5_000;

/** Of MOCO's pods. */
const graceMilliseconds = 300_000;

/** The newest mysqld that has started on the data of a member. */
interface Data {
  readonly image: string;
  readonly sinceMilliseconds: number;
  /** Of the last pod whose mysqld has started on them. Two revisions may have one image. */
  readonly revision: string;
}

/** The pod of a member, and when it was first seen going. */
interface Life {
  readonly uid: string;
  readonly goingSinceMilliseconds: number | null;
}

/**
 * No member comes back with a mysqld that is older than its data because the program lets new pods start at the
 * current revision. It judges the data of each member, whichever of its pods has made them newer, and whatever the
 * program has recorded. The program may keep revisions beside newer data only while another member is lost.
 */
export class DataOfMembers {
  readonly #ability: Ability;
  readonly #data = new Map<number, Data>();
  readonly #lives = new Map<number, Life>();
  #keptSinceMilliseconds: number | null = null;

  constructor(ability: Ability) {
    this.#ability = ability;
  }

  /** Its moment is the last one of the chronicle. Returns what is wrong with it. */
  observe(change: Change, chronicle: Chronicle): readonly string[] {
    const { latest } = chronicle;
    const { atMilliseconds: now } = latest;
    this.#keptSinceMilliseconds = keepsRevisions(latest) ? (this.#keptSinceMilliseconds ?? now) : null;
    const { metadata } = change.identity;
    const ordinal = ordinalOf(metadata.name);
    if (change.kind === 'PersistentVolumeClaim' && change.object === null) this.#data.delete(ordinal);
    if (change.kind !== 'Pod') return [];
    const before = this.#lives.get(ordinal);
    if (change.object === null) {
      if (before?.uid === metadata.uid)
        this.#lives.set(ordinal, { ...before, goingSinceMilliseconds: before.goingSinceMilliseconds ?? now });
      return [];
    }
    const pod = change.object as WitnessedPod;
    const isSame = before?.uid === metadata.uid;
    const wrong = isSame ? [] : this.#ofNewPod(ordinal, pod, before, chronicle);
    const isGoing = pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Failed';
    const known = isSame ? before.goingSinceMilliseconds : null;
    this.#lives.set(ordinal, { uid: metadata.uid, goingSinceMilliseconds: isGoing ? (known ?? now) : known });
    this.#note(ordinal, pod, now);
    return wrong;
  }

  /**
   * Whether new pods may start at the revision of the member's data: no pod is about to be created of a member with
   * data of another revision, and beside members with such data at work only while the pod of this one ends in its
   * time.
   */
  allowsKeeping(moment: Moment, ordinal: number, goingSinceMilliseconds: number): boolean {
    const own = this.#data.get(ordinal)?.revision;
    if (own === undefined) return false;
    const ordinals = Array.from({ length: replicasOf(moment) }, (_, other) => other);
    const isOther = (other: number): boolean => (this.#data.get(other)?.revision ?? own) !== own;
    const others = ordinals.filter((other) => other !== ordinal && isOther(other));
    const memberOf = (other: number): Member | undefined => moment.members.find((one) => one.ordinal === other);
    if (others.some((other) => isLost(memberOf(other)))) return false;
    const member = memberOf(ordinal);
    const isStuck = moment.atMilliseconds - goingSinceMilliseconds > graceMilliseconds;
    return others.length === 0 || member === undefined || !(isUnreachable(member) || isStuck);
  }

  /** An older mysqld that serves has opened the data: they are its own from then on. */
  #note(ordinal: number, pod: WitnessedPod, sinceMilliseconds: number): void {
    const mysqld = pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
    const hasStarted =
      (mysqld?.restartCount ?? 0) > 0 ||
      mysqld?.state?.running !== undefined ||
      mysqld?.state?.terminated !== undefined ||
      mysqld?.ready === true;
    const image = imageOf(pod);
    const revision = revisionOf(pod);
    const known = this.#data.get(ordinal);
    if (!hasStarted || known?.revision === revision) return;
    const isOlder = known !== undefined && compare(image, known.image) < 0;
    if (isOlder && mysqld?.ready !== true) return;
    const isSame = known?.image === image;
    this.#data.set(ordinal, {
      image,
      revision,
      sinceMilliseconds: isSame ? known.sinceMilliseconds : sinceMilliseconds,
    });
  }

  #ofNewPod(ordinal: number, pod: WitnessedPod, before: Life | undefined, chronicle: Chronicle): readonly string[] {
    const { latest } = chronicle;
    const data = this.#data.get(ordinal);
    const kept = this.#keptSinceMilliseconds;
    const image = imageOf(pod);
    if (data === undefined || kept === null || revisionOf(pod) === updateRevisionOf(latest)) return [];
    if (compare(image, data.image) >= 0 || !this.#isWrong(ordinal, before, data, kept, chronicle)) return [];
    return [`member ${ordinal} comes back with ${image}, and ${data.image} has started on its data`];
  }

  #isWrong(ordinal: number, before: Life | undefined, data: Data, kept: number, chronicle: Chronicle): boolean {
    const { atMilliseconds: now } = chronicle.latest;
    const from = Math.max(data.sinceMilliseconds, kept);
    const isBesideLost = (one: Moment): boolean => isSomebodyLost(one, ordinal);
    if (data.sinceMilliseconds < kept && !chronicle.during(kept - reactsWithinMilliseconds, kept).some(isBesideLost)) {
      return true;
    }
    const could = (since: number, until: number): boolean =>
      until - since >= reactsWithinMilliseconds &&
      this.#ability.isGiven(since, until) &&
      chronicle.during(since, until).every(mayChangeNewPods);
    const going = before?.goingSinceMilliseconds ?? now;
    if (could(Math.max(from, going), now)) return true;
    let alone = from;
    for (const moment of chronicle.during(from, now)) {
      const at = Math.max(from, moment.atMilliseconds);
      if (!isBesideLost(moment)) continue;
      if (could(alone, at)) return true;
      alone = at + 1;
    }
    return could(alone, now);
  }
}

/** Another member is going or has no pod, for whose sake new pods may start at the current revision. */
function isSomebodyLost(moment: Moment, ordinal: number): boolean {
  const others = moment.members.filter((one) => one.ordinal !== ordinal);
  return others.length < replicasOf(moment) - 1 || others.some(isLost);
}

const isLost = (one: Member | undefined): boolean =>
  one === undefined || isTerminating(one) || isUnreachable(one) || one.pod.status?.phase === 'Failed';

const imageOf = (pod: WitnessedPod): string =>
  pod.spec.containers.find(({ name }) => name === mysqldContainer)?.image ?? '';

/** Below 0 if the first image is that of an older mysqld, by the numbers of its tag. */
function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((image) => (/:(\d+(?:\.\d+)*)/.exec(image)?.[1] ?? '').split('.').map(Number));
  for (let index = 0; index < Math.max(left?.length ?? 0, right?.length ?? 0); index++) {
    const difference = (left?.[index] ?? 0) - (right?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
