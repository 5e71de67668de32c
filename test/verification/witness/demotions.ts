import {
  annotationOn,
  clusteringStoppedAnnotation,
  demoteAnnotation,
  demotedForAnnotation,
  forceRollingUpdateAnnotation,
  reconciliationStoppedAnnotation,
} from '../../../src/moco/names.ts';
import { isToBeMoved } from './leaving-nodes.ts';
import { isPrimary, isTerminating, isUpdated, updateRevisionOf } from './member.ts';
import type { Member, Moment } from './moment.ts';

/** A demotion that was left on a pod after its reason had ended. */
export interface Outlived {
  readonly podName: string;
  /** Why it should have been cancelled. */
  readonly why: string;
  readonly forMilliseconds: number;
}

interface Asked {
  readonly atMilliseconds: number;
  readonly ended: { readonly why: string; readonly sinceMilliseconds: number } | null;
}

const defaultSwitchoverTimeoutSeconds = 90;
/** The mark of a demotion that moves the primary off a node. */
const forNode = 'node-leaving';

/**
 * Invariant I12 of the design over time: a demotion with the program's annotation is cancelled, by it or by MOCO,
 * within the allowance after its reason has ended: its switchover, the member's update, the user's consent, or its
 * timeout. Time in which no process could have cancelled it doesn't count.
 */
export class Demotions {
  readonly #allowanceMilliseconds: number;
  readonly #asked = new Map<string, Asked>();
  #impededUntil = 0;

  constructor(allowanceMilliseconds: number) {
    this.#allowanceMilliseconds = allowanceMilliseconds;
  }

  /** Until then something keeps the program from seeing or writing. */
  impede(untilMilliseconds: number): void {
    this.#impededUntil = Math.max(this.#impededUntil, untilMilliseconds);
  }

  /** Demotions that have remained too long up to this moment; each is reported once. */
  observe(moment: Moment): readonly Outlived[] {
    const { cluster, statefulSet, atMilliseconds } = moment;
    const found: Outlived[] = [];
    for (const member of moment.members) {
      const { uid, name, annotations } = member.pod.metadata;
      const known = this.#asked.get(uid);
      if (known?.ended) {
        const since = Math.max(known.ended.sinceMilliseconds, this.#impededUntil);
        const forMilliseconds = atMilliseconds - since;
        if (forMilliseconds > this.#allowanceMilliseconds) {
          found.push({ podName: name, why: known.ended.why, forMilliseconds });
          this.#asked.set(uid, { ...known, ended: { ...known.ended, sinceMilliseconds: Number.POSITIVE_INFINITY } });
          continue;
        }
      }
      const isDemoted = annotations?.[demoteAnnotation] === annotationOn && demotedForAnnotation in annotations;
      // Without a primary to switch away from no cleanup is required.
      const isMoot =
        isTerminating(member) ||
        cluster === null ||
        cluster.metadata.deletionTimestamp !== undefined ||
        statefulSet === null ||
        statefulSet.metadata.deletionTimestamp !== undefined;
      if (!isDemoted || isMoot) {
        this.#asked.delete(uid);
        continue;
      }
      const began = known?.atMilliseconds ?? atMilliseconds;
      const why = reasonEnded(moment, member, began);
      const sinceMilliseconds = known?.ended?.sinceMilliseconds ?? atMilliseconds;
      this.#asked.set(uid, { atMilliseconds: began, ended: why === null ? null : { why, sinceMilliseconds } });
    }
    return found;
  }
}

/** Why a demotion has no reason any more; `null` if it still has one. */
function reasonEnded(moment: Moment, member: Member, askedAtMilliseconds: number): string | null {
  const { cluster, statefulSet, settings, atMilliseconds } = moment;
  const { paused = false, switchoverTimeoutSeconds = defaultSwitchoverTimeoutSeconds } = settings?.spec ?? {};
  if (!isPrimary(moment, member)) return 'it was no longer primary';
  const isForNode = member.pod.metadata.annotations?.[demotedForAnnotation] === forNode;
  const notNeeded = isForNode ? notLeaving(moment, member) : notDue(moment, member);
  if (notNeeded !== null) return notNeeded;
  if (paused) return 'the user had paused';
  const annotations = cluster?.metadata.annotations ?? {};
  const stopped = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation];
  if (stopped.some((name) => annotations[name] === annotationOn)) return 'MOCO was told to leave the cluster alone';
  if (statefulSet?.metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn)
    return 'Kubernetes was to roll';
  if (cluster?.spec.offline === true) return 'the cluster was taken offline';
  if (atMilliseconds - askedAtMilliseconds > switchoverTimeoutSeconds * 1000) return 'its time was over';
  return null;
}

const notLeaving = (moment: Moment, member: Member): string | null =>
  isToBeMoved(moment, member) ? null : 'its node was to stay';

function notDue(moment: Moment, member: Member): string | null {
  if (!isDue(moment, member)) return 'it was no longer due';
  if (member.pod.metadata.annotations?.[demotedForAnnotation] !== updateRevisionOf(moment)) {
    return 'another revision was wanted';
  }
  const isBefore = (other: Member): boolean => other !== member && !isTerminating(other) && isDue(moment, other);
  return moment.members.some(isBefore) ? 'another member was due' : null;
}

function isDue(moment: Moment, member: Member): boolean {
  const { partition = 0, pinnedMembers = [] } = moment.settings?.spec ?? {};
  return (
    !isUpdated(moment, member) &&
    member.ordinal >= partition &&
    !pinnedMembers.some(({ ordinal }) => ordinal === member.ordinal)
  );
}
