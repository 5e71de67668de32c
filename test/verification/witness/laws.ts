import {
  agentContainer,
  annotationOn,
  clusteringStoppedAnnotation,
  forceRollingUpdateAnnotation,
  mysqldContainer,
  preventDeleteAnnotation,
  reconciliationStoppedAnnotation,
} from '../../../src/moco/names.ts';
import { budgetOf } from './budget.ts';
import type { Disruption, Verb } from './disruption.ts';
import { isOpen } from './maintenance.ts';
import {
  behindMilliseconds,
  canAcknowledge,
  crashes,
  hasRole,
  isPrimary,
  isResizeRefused,
  isSettled,
  isTerminating,
  isUpdated,
  isWell,
  majorityOf,
  participates,
  replicasOf,
  runs,
  updateRevisionOf,
} from './member.ts';
import type { Member, Moment } from './moment.ts';
import { isServed } from './observed-effects.ts';

/** A disrupted member, at one moment. */
export interface Case {
  /** Its time is that of its end, or of the deed. */
  readonly moment: Moment;
  readonly target: Member;
  readonly disruption: Disruption;
  /** When the confirmation began, since 1970. */
  readonly confirmedAtMilliseconds: number;
}

export interface Law {
  readonly name: string;
  /** What it means that the law was broken. */
  readonly sentence: string;
  readonly holds: (given: Case) => boolean;
  /** What it is asked of: what takes members, if absent. */
  readonly of?: readonly Verb[];
  /** It rests on the actor's clock, which may be wrong. */
  readonly isByTheClock?: true;
}

/**
 * How long MOCO may take to fail over before running members may be disrupted all the same. A process that starts later
 * has only the timestamps of objects, which are truncated to whole seconds.
 */
const failoverGraceMilliseconds = 179_000;

const taking: readonly Verb[] = ['delete', 'evict', 'setPartition', 'restartInPlace'];
/** What takes a member, and what runs something of the update revision in a running one. */
const takingOrResizing: readonly Verb[] = [...taking, 'resize'];
const defaultMinReadySeconds = 5;
/** Timestamps of objects have whole seconds. */
const inexactMilliseconds = 1_000;
/** A resize that the kubelet does not make keeps no other member for longer. */
const resizeLimitMilliseconds = 299_000;

/** Whether a law is asked of a step. */
export const isAskedOf = ({ of = taking }: Law, { verb }: Disruption): boolean => of.includes(verb);

/** The pod goes, and nobody but its author decides which. */
const byPod = ({ verb }: Disruption): boolean => verb === 'delete' || verb === 'evict';
const others = ({ moment, target }: Case): readonly Member[] => moment.members.filter((member) => member !== target);
const participating = (given: Case): readonly Member[] =>
  others(given).filter((member) => participates(given.moment, member));
/** Members that MOCO must have settled: a missing one counts only if at most one may be unavailable. */
const unfinished = (given: Case): readonly Member[] =>
  budgetOf(given.moment) === 1 ? others(given) : participating(given);

/** The invariants of the design that one disruption can break, each asked of the objects as the store had them. */
export const laws: readonly Law[] = [
  {
    name: 'I2',
    sentence: 'fewer than a majority went on participating',
    holds: (given) =>
      replicasOf(given.moment) < 3 ||
      !participates(given.moment, given.target) ||
      participating(given).length >= majorityOf(given.moment),
  },
  {
    name: 'I2b',
    sentence: 'fewer than a majority could go on acknowledging commits',
    holds: (given) => {
      const { moment, target } = given;
      if (participates(moment, target) || !canAcknowledge(moment, target) || replicasOf(moment) < 3) return true;
      if (nobodyCameBack(moment)) return true;
      const long = behindMilliseconds(moment, target) >= failoverGraceMilliseconds;
      if (long && !hasRole(target)) return true;
      const known = others(given).filter(
        (member) => canAcknowledge(moment, member) && (participates(moment, member) || (long && hasRole(member))),
      );
      return known.length >= majorityOf(moment);
    },
  },
  {
    name: 'I3',
    sentence: 'a primary at work was disrupted, not switched away from',
    holds: ({ moment, target, disruption }) =>
      !byPod(disruption) || replicasOf(moment) < 2 || !isPrimary(moment, target) || !isWell(moment, target),
  },
  {
    name: 'I10',
    sentence: 'a member of partition mode was deleted while another one participated, and its next pod could be stale',
    holds: (given) => {
      const { moment, target, disruption } = given;
      const { spec, status } = moment.statefulSet ?? {};
      if (disruption.verb !== 'delete' || spec?.updateStrategy?.type !== 'RollingUpdate') return true;
      const comesUpUpdated = status?.currentRevision === status?.updateRevision;
      return !participates(moment, target) && (comesUpUpdated || participating(given).length === 0);
    },
  },
  {
    name: 'I17',
    sentence:
      'containers restarted in place where the member did not work, another one was away, or the primary had to move',
    holds: (given) => {
      const { moment, target, disruption } = given;
      if (disruption.verb !== 'restartInPlace') return true;
      const agent = disruption.containers?.includes(agentContainer) === true;
      const mayStayPrimary = !agent || moment.settings?.spec?.inPlace?.primary === 'InPlace';
      const moves = replicasOf(moment) > 1 && isPrimary(moment, target) && !mayStayPrimary;
      return (
        disruption.containers?.includes(mysqldContainer) !== true &&
        isWell(moment, target) &&
        participating(given).length === replicasOf(moment) - 1 &&
        !moves
      );
    },
  },
  {
    name: 'I17',
    sentence: 'a member was resized while another one was, or had just been',
    of: ['resize'],
    holds: (given) => {
      const { minReadySeconds = defaultMinReadySeconds } = given.moment.settings?.spec ?? {};
      const { atMilliseconds: now } = given.moment;
      const pause = minReadySeconds * 1000 - inexactMilliseconds;
      return others(given).every(
        (member) =>
          (!isBeingResized(member, now) || isResizeRefused(member)) &&
          (member.resizedAt === null || now - member.resizedAt >= pause),
      );
    },
  },
  {
    name: 'I20',
    sentence: 'a running replica was restarted while nobody served as primary',
    of: ['delete', 'evict', 'setPartition'],
    holds: ({ moment, target }) =>
      replicasOf(moment) < 2 || isPrimary(moment, target) || !runs(target) || crashes(target) || isServed(moment),
  },
  {
    name: 'I21',
    sentence: 'a container of a primary was restarted in place, and its Service had no endpoint meanwhile',
    of: ['restartInPlace'],
    holds: ({ moment, target }) =>
      replicasOf(moment) < 2 || !isPrimary(moment, target) || moment.settings?.spec?.inPlace?.primary === 'InPlace',
  },
  {
    name: 'I22',
    sentence: 'a primary at work was taken without approval, or beside a replica that is pinned to an older revision',
    of: ['delete', 'evict', 'setPartition'],
    holds: (given) => {
      const { moment, target } = given;
      if (replicasOf(moment) < 2 || !isPrimary(moment, target) || !participates(moment, target)) return true;
      const { partition = 0, pinnedMembers = [] } = moment.settings?.spec ?? {};
      const older = others(given).filter((one) => !isUpdated(moment, one) && one.ordinal >= partition);
      return isApproved(moment) && !older.some((one) => pinnedMembers.some(({ ordinal }) => ordinal === one.ordinal));
    },
  },
  {
    name: 'I4',
    sentence: 'a member at work was deleted, not evicted',
    holds: ({ moment, target, disruption }) => disruption.verb !== 'delete' || !isWell(moment, target),
  },
  {
    name: 'I5',
    sentence: 'the member was updated already',
    of: takingOrResizing,
    holds: ({ moment, target }) => !isUpdated(moment, target),
  },
  {
    name: 'terminating',
    sentence: 'the member was on its way out already',
    of: takingOrResizing,
    holds: ({ target }) => !isTerminating(target),
  },
  {
    name: 'budget',
    sentence: 'a member at work was taken while as many as may be were away',
    holds: (given) =>
      !isWell(given.moment, given.target) ||
      participating(given).length >= replicasOf(given.moment) - budgetOf(given.moment),
  },
  {
    name: 'settled',
    sentence: 'a member at work was taken before MOCO had finished with another',
    holds: (given) =>
      !isWell(given.moment, given.target) || unfinished(given).every((member) => isSettled(given.moment, member)),
  },
  {
    name: 'protected',
    sentence: 'the member was protected by MOCO',
    holds: ({ target }) => target.pod.metadata.annotations?.[preventDeleteAnnotation] !== annotationOn,
  },
  {
    name: 'setting',
    sentence: 'the user wanted nothing to be done, or that member to be kept',
    of: takingOrResizing,
    holds: ({ moment, target }) => {
      const {
        paused = false,
        repairWhilePaused = false,
        partition = 0,
        pinnedMembers = [],
      } = moment.settings?.spec ?? {};
      const mayGo = !paused || (repairWhilePaused && !participates(moment, target));
      return mayGo && target.ordinal >= partition && !pinnedMembers.some(({ ordinal }) => ordinal === target.ordinal);
    },
  },
  {
    name: 'maintenance',
    sentence: 'a member at work was taken outside of the maintenance windows',
    of: takingOrResizing,
    isByTheClock: true,
    holds: ({ moment, target, confirmedAtMilliseconds }) => {
      const windows = moment.settings?.spec?.maintenanceWindows ?? [];
      const primary = moment.members.find((member) => isPrimary(moment, member));
      const repairs = !isWell(moment, target) || primary === undefined || !participates(moment, primary);
      return windows.length === 0 || repairs || windows.some((window) => isOpen(window, confirmedAtMilliseconds));
    },
  },
  {
    name: 'stopped',
    sentence: 'MOCO was told to leave the cluster alone, or the cluster was going',
    of: takingOrResizing,
    holds: ({ moment: { cluster, statefulSet } }) => {
      const annotations = cluster?.metadata.annotations ?? {};
      const names = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation];
      return (
        cluster !== null &&
        cluster.metadata.deletionTimestamp === undefined &&
        cluster.spec.offline !== true &&
        statefulSet !== null &&
        statefulSet.metadata.deletionTimestamp === undefined &&
        statefulSet.metadata.annotations?.[forceRollingUpdateAnnotation] !== annotationOn &&
        names.every((name) => annotations[name] !== annotationOn)
      );
    },
  },
];

/** The primary has been unavailable for longer than a failover may take. */
function nobodyCameBack({ primaryUnavailableSince, atMilliseconds }: Moment): boolean {
  return primaryUnavailableSince !== null && atMilliseconds - primaryUnavailableSince >= failoverGraceMilliseconds;
}

/** By the full name of the revision, or by the hash at its end. */
function isApproved(moment: Moment): boolean {
  const { primaryUpdatePolicy, approvedRevision = '' } = moment.settings?.spec ?? {};
  const revision = updateRevisionOf(moment);
  const names = [revision, revision.slice(revision.lastIndexOf('-') + 1)];
  return primaryUpdatePolicy !== 'Manual' || names.includes(approvedRevision);
}

const isBeingResized = ({ resizingSince }: Member, now: number): boolean =>
  resizingSince !== null && now - resizingSince < resizeLimitMilliseconds;
