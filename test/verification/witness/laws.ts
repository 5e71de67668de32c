import {
  annotationOn,
  clusteringStoppedAnnotation,
  forceRollingUpdateAnnotation,
  preventDeleteAnnotation,
  reconciliationStoppedAnnotation,
} from '../../../src/moco/names.ts';
import { budgetOf } from './budget.ts';
import type { Disruption } from './disruption.ts';
import { isAdopted, keepsRevisions } from './held-members.ts';
import { type Case, type Law, others, participating, taking, takingOrResizing, takingPods } from './law.ts';
import { lawsInPlace } from './laws-in-place.ts';
import { lawsOfPrimaries } from './laws-of-primaries.ts';
import { lawsOfRestoring } from './laws-of-restoring.ts';
import { lawsOfLeavingNodes, movesOff } from './leaving-nodes.ts';
import { isOpen } from './maintenance.ts';
import {
  awaitsItsNode,
  behindMilliseconds,
  canAcknowledge,
  contradictsItself,
  hasResourcesOf,
  hasRole,
  isPrimary,
  isSettled,
  isTerminating,
  isUpdated,
  isWell,
  majorityOf,
  participates,
  replicasOf,
  wasReady,
} from './member.ts';
import type { Member, Moment } from './moment.ts';
import type { WitnessedJob } from './objects.ts';

/**
 * How long MOCO may take to fail over before running members may be disrupted all the same. A process that starts later
 * has only the timestamps of objects, which are truncated to whole seconds.
 */
const failoverGraceMilliseconds = 179_000;
const progressDeadlineMilliseconds = 599_000;

/** The pod goes, and only the author of the request decides which one. */
const byPod = ({ verb }: Disruption): boolean => verb === 'delete' || verb === 'evict';
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
    name: 'I25',
    sentence: 'the pod was taken although its claim was being deleted: that destroyed the data of the member',
    of: takingPods,
    // Which rule is overridden until when is not judged.
    holds: ({ moment: { endingClaims, settings }, target }) =>
      (settings?.spec?.overrides ?? []).length > 0 ||
      ![...endingClaims].some((claim) => claim.endsWith(`-${target.pod.metadata.name}`)),
  },
  {
    name: 'I2b',
    sentence: 'fewer than a majority could go on acknowledging commits',
    holds: (given) => {
      const { moment, target } = given;
      if (participates(moment, target) || !canAcknowledge(moment, target) || replicasOf(moment) < 3) return true;
      if (nobodyCameBack(moment)) return true;
      const long = behindMilliseconds(moment, target) >= failoverGraceMilliseconds;
      if (long && hasNeverFollowed(moment, target)) return true;
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
    name: 'I4',
    sentence: 'a member at work was deleted, not evicted',
    holds: ({ moment, target, disruption }) => disruption.verb !== 'delete' || !isWell(moment, target),
  },
  {
    name: 'I5',
    sentence: 'the member was updated already',
    of: takingOrResizing,
    // One whose resize was taken back has the label alone.
    holds: ({ moment, target, disruption }) =>
      !isUpdated(moment, target) ||
      !hasResourcesOf(moment.statefulSet?.spec.template, target) ||
      movesOff(moment, target, disruption),
  },
  {
    name: 'terminating',
    sentence: 'the member was on its way out already',
    of: [...takingOrResizing, 'restore'],
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
    of: [...taking, 'restore'],
    holds: ({ target }) => target.pod.metadata.annotations?.[preventDeleteAnnotation] !== annotationOn,
  },
  {
    name: 'setting',
    sentence: 'the user wanted nothing to be done, or that member to be kept',
    of: takingOrResizing,
    holds: ({ moment, target, disruption }) => {
      const {
        paused = false,
        repairWhilePaused = false,
        partition = 0,
        pinnedMembers = [],
      } = moment.settings?.spec ?? {};
      const isPaused = paused || moment.freezes.size > 0;
      const mayGo = !isPaused || (repairWhilePaused && !participates(moment, target));
      const isKept = target.ordinal < partition || pinnedMembers.some(({ ordinal }) => ordinal === target.ordinal);
      return mayGo && (!isKept || movesOff(moment, target, disruption));
    },
  },
  {
    name: 'maintenance',
    sentence: 'a member at work was taken outside of the maintenance windows',
    of: takingOrResizing,
    holds: ({ moment, target, disruption, confirmedAtMilliseconds }) => {
      if (movesOff(moment, target, disruption)) return true;
      const windows = moment.settings?.spec?.maintenanceWindows ?? [];
      const primary = moment.members.find((member) => isPrimary(moment, member));
      const repairs = !isWell(moment, target) || primary === undefined || !participates(moment, primary);
      return windows.length === 0 || repairs || windows.some((window) => isOpen(window, confirmedAtMilliseconds));
    },
  },
  {
    name: 'awaited',
    sentence: 'a held member that waited for its node was replaced',
    of: ['delete'],
    holds: ({ moment, target, confirmedAtMilliseconds }) => {
      if (!isAdopted(moment) || isUpdated(moment, target) || !awaitsItsNode(target)) return true;
      const windows = moment.settings?.spec?.maintenanceWindows ?? [];
      return windows.length === 0 || windows.some((window) => isOpen(window, confirmedAtMilliseconds));
    },
  },
  {
    name: 'backup',
    sentence: 'a member at work was taken while a backup ran',
    holds: ({ moment, target }) => !isWell(moment, target) || moment.jobs.every(isOver),
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
  {
    name: 'contradiction',
    sentence: 'the pod is Ready, and nothing is reported of its mysqld, or that it is not',
    of: [...takingOrResizing, 'restore'],
    holds: ({ target }) => isTerminating(target) || !contradictsItself(target),
  },
  {
    name: 'I24',
    sentence: 'a member was taken while new pods came up at the current revision',
    of: takingPods,
    holds: ({ moment, target, disruption }) => !keepsRevisions(moment) || movesOff(moment, target, disruption),
  },
  ...lawsInPlace,
  ...lawsOfRestoring,
  ...lawsOfPrimaries,
  ...lawsOfLeavingNodes,
];

const isOver = ({ status }: WitnessedJob): boolean =>
  (status?.conditions ?? []).some((one) => one.status === 'True' && (one.type === 'Complete' || one.type === 'Failed'));

/** MOCO has given it no role, or its mysqld has not been ready since it started, for so long that its label says nothing. */
function hasNeverFollowed(moment: Moment, target: Member): boolean {
  const isOld = !wasReady(target) && behindMilliseconds(moment, target) >= progressDeadlineMilliseconds;
  return !hasRole(target) || isOld;
}

/** The primary has been unavailable for longer than a failover may take. */
function nobodyCameBack({ primaryUnavailableSince, atMilliseconds }: Moment): boolean {
  return primaryUnavailableSince !== null && atMilliseconds - primaryUnavailableSince >= failoverGraceMilliseconds;
}
