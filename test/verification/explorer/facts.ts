import { budgetMaxUnavailable } from '../../support/moco/decisions.ts';
import * as c from './cells.ts';
import { membersBeforeScaling, type World } from './world.ts';

// What is true of one state. All of it in the words of the design; nothing here decides.

const { Health } = c;

export const healthOf = (cells: c.Cells, ordinal: number): number => cells[c.HEALTH + ordinal] as number;

/** `spec.replicas` of the MySQLCluster. */
export function replicasOf(cells: c.Cells, world: World): number {
  return cells[c.SCALE] === c.Scale.Before ? membersBeforeScaling(world) : world.replicas;
}

/** `spec.replicas` of the StatefulSet, which MOCO changes after the MySQLCluster's. */
export function podsWanted(cells: c.Cells, world: World): number {
  return cells[c.SCALE] === c.Scale.Done ? world.replicas : membersBeforeScaling(world);
}

export function isErrant(cells: c.Cells, ordinal: number): boolean {
  return ((cells[c.ERRANT] as number) & (1 << ordinal)) !== 0;
}

/** Nobody has applied what this replica has received, and its threads run. */
export function holdsTopRelayLog(cells: c.Cells, ordinal: number): boolean {
  return cells[c.TOP] === ordinal + 1 && cells[c.HALTED] === 0;
}

/** Its mysqld has run without a break since MOCO told it whom to follow, or may have. */
export function runsThreads(cells: c.Cells, ordinal: number): boolean {
  switch (healthOf(cells, ordinal)) {
    case Health.Lagging:
    case Health.Severed:
    case Health.Young:
    case Health.Serving:
    case Health.Impaired:
    case Health.Terminating:
    case Health.Unreachable:
      return true;
    default:
      return false;
  }
}

/** Its node never comes back. */
export const isGone = (cells: c.Cells, ordinal: number): boolean => ((cells[c.GONE] as number) & (1 << ordinal)) !== 0;

/** Nobody answers its probes until its pod is another one. */
export const isAgentless = (cells: c.Cells, ordinal: number): boolean =>
  ((cells[c.AGENTLESS] as number) & (1 << ordinal)) !== 0;

/** The lowest replica that answers and that MOCO fails to configure, or `null`. It goes no further in that pass. */
export function unconfigurable(cells: c.Cells, replicas: number): number | null {
  if (cells[c.BROKEN] === 0) return null;
  for (let ordinal = 0; ordinal < replicas; ordinal++) {
    if (isUnconfigurable(cells, ordinal) && ordinal !== cells[c.INDEX] && answers(cells, ordinal)) return ordinal;
  }
  return null;
}

export const isUnconfigurable = (cells: c.Cells, ordinal: number): boolean =>
  ((cells[c.BROKEN] as number) & (1 << ordinal)) !== 0;

/** The kubelet has still to restart a container of it, whose image an update in place has changed. */
export function restarts(cells: c.Cells, ordinal: number): boolean {
  return ((cells[c.RESTARTING] as number) & (1 << ordinal)) !== 0;
}

/** Its containers have been given other resources, and the kubelet has neither made nor refused that. */
export function isResizing(cells: c.Cells, ordinal: number): boolean {
  const resize = cells[c.RESIZE + ordinal];
  return resize === c.Resize.Pending || resize === c.Resize.Overdue;
}

/** The API server refuses every DELETE of its pod, that of the kubelet which ends an eviction too. */
export function isProtected(cells: c.Cells, ordinal: number): boolean {
  return ((cells[c.PREVENT] as number) & (1 << ordinal)) !== 0;
}

/** Container mysqld is ready, or leads while its upstream is away, and no condition speaks against the pod. */
export function participates(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  const ready = health === Health.Serving || health === Health.Young || health === Health.Impaired;
  return (ready || leadsFromElsewhere(cells, ordinal)) && !isErrant(cells, ordinal);
}

/** The primary of a cluster that replicates from elsewhere, not ready: its replicas follow it all the same. */
export function leadsFromElsewhere(cells: c.Cells, ordinal: number): boolean {
  if (cells[c.UPSTREAM] === c.Upstream.None || ordinal !== cells[c.INDEX]) return false;
  const health = healthOf(cells, ordinal);
  return (health === Health.Lagging || health === Health.Retrying) && cells[c.SETTLED + ordinal] === 1;
}

/** Participates, and no container of it fails. */
export function isWell(cells: c.Cells, ordinal: number): boolean {
  return participates(cells, ordinal) && healthOf(cells, ordinal) !== Health.Impaired;
}

/** Its condition Ready is True. */
export function isReady(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  return health === Health.Serving || health === Health.Young || health === Health.Terminating;
}

/** MOCO and the other members get an answer from its mysqld. */
export function answers(cells: c.Cells, ordinal: number): boolean {
  switch (healthOf(cells, ordinal)) {
    case Health.Up:
    case Health.Lagging:
    case Health.Severed:
    case Health.Young:
    case Health.Serving:
    case Health.Terminating:
    case Health.Impaired:
      return true;
    case Health.Retrying:
      return !isBad(cells, ordinal);
    default:
      return false;
  }
}

export const isTerminating = (cells: c.Cells, ordinal: number): boolean => {
  const health = healthOf(cells, ordinal);
  return health === Health.Terminating || health === Health.Ending;
};

export const isMissing = (cells: c.Cells, ordinal: number): boolean => healthOf(cells, ordinal) === Health.Missing;

export const isUpdated = (cells: c.Cells, ordinal: number): boolean =>
  cells[c.REVISION + ordinal] === cells[c.TARGET] && !isHalfResized(cells, ordinal);

/** Its label says nothing about its resources. */
export const isHalfResized = (cells: c.Cells, ordinal: number): boolean =>
  cells[c.RESIZE + ordinal] === c.Resize.ForAnother;

/** The revision never starts. */
export const isBadRevision = (cells: c.Cells, revision: number): boolean =>
  revision > 0 && ((cells[c.BAD] as number) & c.bit(revision - 1)) !== 0;

/** Its revision is one that never starts. */
export function isBad(cells: c.Cells, ordinal: number): boolean {
  return cells[c.BAD] !== 0 && isBadRevision(cells, cells[c.REVISION + ordinal] as number);
}

/** Crash-looping. One that is only slow to start is not. */
export function isBroken(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  return health === Health.Crashed || health === Health.Retrying;
}

/** mysqld has started again, and its startup probe has not passed. */
export function recovers(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  return health === Health.Recovering || health === Health.Hanging;
}

/**
 * Its I/O thread takes what the primary commits, or it is the primary: the truth, which is not visible outside MySQL.
 */
export function acknowledges(cells: c.Cells, ordinal: number): boolean {
  if (participates(cells, ordinal)) return true;
  // One that is updated may, and is never to be counted on before it participates.
  return healthOf(cells, ordinal) === Health.Lagging && !isErrant(cells, ordinal) && !isUpdated(cells, ordinal);
}

/** mysqld runs, is not ready, and looks alike whether it acknowledges or not. */
export function isBehind(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  const runs = health === Health.Up || health === Health.Lagging || health === Health.Severed;
  return runs && !isErrant(cells, ordinal) && !leadsFromElsewhere(cells, ordinal);
}

/** Its pod is about to go, or has gone, for any reason. */
export function isGoing(cells: c.Cells, ordinal: number): boolean {
  const health = healthOf(cells, ordinal);
  const lost = health === Health.Unreachable || health === Health.Failed;
  return lost || isMissing(cells, ordinal) || isTerminating(cells, ordinal);
}

/**
 * The revision of the newest mysqld that has started on the data of a member. `null` of an updated one in which none has,
 * where the template may have changed more than once.
 */
export function dataOf(cells: c.Cells, ordinal: number, { families }: World): number | null {
  if (!isUpdated(cells, ordinal) || has(cells[c.RAN], ordinal)) return cells[c.REVISION + ordinal] as number;
  return families.has('template') ? null : 0;
}

/** The member has never had a pod, so it has no claim and no data. */
export const isUnborn = (cells: c.Cells, ordinal: number, { families }: World): boolean =>
  families.has('scaling') && isMissing(cells, ordinal) && !has(cells[c.BORN], ordinal);

/** mysqld of this pod has run. */
export function hasRun(cells: c.Cells, ordinal: number): boolean {
  switch (healthOf(cells, ordinal)) {
    case Health.Missing:
    case Health.Starting:
    case Health.Idle:
    case Health.Unpulled:
    // Whether it had run is remembered of these.
    case Health.Ending:
    case Health.Failed:
      return false;
    default:
      return true;
  }
}

/** The revision at which the StatefulSet controller creates a pod now (Kubernetes 1.36.3, newVersionedStatefulSetPod). */
export const revisionOfNewPods = (cells: c.Cells): number =>
  cells[cells[c.FOLLOWS] === 1 ? c.CURRENT : c.TARGET] as number;

/** New pods start at the current revision, or will as soon as the StatefulSet controller has observed its strategy. */
export const keepsRevisions = (cells: c.Cells): boolean =>
  cells[c.NEW_PODS] === c.NewPods.Kept || cells[c.FOLLOWS] === 1;

/** The StatefulSet controller has observed the strategy and the template as they were last written. */
export const isObserved = (cells: c.Cells): boolean =>
  cells[c.STAGE] !== c.Stage.Applied && (cells[c.NEW_PODS] === c.NewPods.Kept) === (cells[c.FOLLOWS] === 1);

/** A member at the update revision has participated for minReadySeconds: now, or before in this rollout. */
export const isVerified = (cells: c.Cells, replicas: number): boolean =>
  cells[c.VERIFIED] === 1 || count(cells, replicas, provesRevision) > 0;

const provesRevision = (cells: c.Cells, ordinal: number): boolean =>
  isUpdated(cells, ordinal) && participates(cells, ordinal) && healthOf(cells, ordinal) !== Health.Young;

export const has = (members: number | undefined, ordinal: number): boolean => ((members ?? 0) & (1 << ordinal)) !== 0;

/** What is to count once others have been behind for long: MOCO has configured it, and it has served before. */
export function mayAcknowledge(cells: c.Cells, ordinal: number): boolean {
  const configured = isBehind(cells, ordinal) && cells[c.SETTLED + ordinal] === 1 && !isUpdated(cells, ordinal);
  return participates(cells, ordinal) || configured;
}

export function count(cells: c.Cells, replicas: number, holds: (cells: c.Cells, ordinal: number) => boolean): number {
  let counted = 0;
  for (let ordinal = 0; ordinal < replicas; ordinal++) if (holds(cells, ordinal)) counted++;
  return counted;
}

export const majorityOf = (replicas: number): number => Math.floor(replicas / 2) + 1;

/** What the disruption controller would compute: one more may go by eviction. */
export function budgetAllows(cells: c.Cells, replicas: number): boolean {
  const maxUnavailable = budgetMaxUnavailable(replicas, cells[c.BACKUP] === c.Backup.Closed);
  return maxUnavailable !== null && count(cells, replicas, isWellReady) > replicas - maxUnavailable;
}

const isWellReady = (cells: c.Cells, ordinal: number): boolean => {
  const health = healthOf(cells, ordinal);
  return health === Health.Serving || health === Health.Young;
};

/** Somebody's setting that this member be primary no more, MOCO's to fulfil. */
export function isDemoted(cells: c.Cells, ordinal: number): boolean {
  const demote = cells[c.DEMOTE + ordinal];
  return demote !== c.Demote.None && !isMarkAlone(demote as number);
}

/** `demote` is gone, and our mark next to it is left. */
export const isMarkAlone = (demote: number): boolean =>
  demote === c.Demote.MarkWithoutDemote || demote === c.Demote.MarkForNode;

/**
 * The primary is away, or serves while MOCO does not say so, or a member runs without participating: failoverGraceSeconds
 * pass. One deadline for all of them, so it is over when the last of them is. A replica takes far less to notice that its
 * source is away.
 */
export function graceRuns(cells: c.Cells, { replicas }: World): boolean {
  const index = cells[c.INDEX] as number;
  const isSourceAway = !answers(cells, index) && cells[c.LEAD] !== c.Lead.Moved;
  if (isSourceAway && count(cells, replicas, participates) > 0) return false;
  if (!participates(cells, index) || count(cells, replicas, isBehind) > 0) return true;
  return cells[c.SETTLED + index] === 1 && cells[c.STATUS] === c.Status.Poor;
}
