import type { Deadlines } from './deadlines.ts';
import type { ClusterFacts, ContainerFacts, MemberFacts } from './snapshot.ts';

// What a member is able to do, derived from the facts about its pod.

/** What a member is able to do, from its pod alone. A member has exactly one state; the first that applies counts. */
export type MemberState = 'terminating' | 'unreachable' | 'participating' | 'impaired' | 'down' | 'running';

/** Why a member is unhealthy. Shown to people, never compared. */
export type Evidence =
  | { readonly kind: 'waiting'; readonly container: string; readonly reason: string; readonly restarts: number }
  | { readonly kind: 'failed'; readonly reason: string | null }
  /** What was observed earlier, as a sentence without a full stop. */
  | { readonly kind: 'earlier'; readonly message: string }
  | { readonly kind: 'unschedulable'; readonly message: string }
  | { readonly kind: 'idle' }
  | { readonly kind: 'notReady'; readonly container: string }
  | { readonly kind: 'crashLooping'; readonly container: string; readonly restarts: number }
  | { readonly kind: 'errant' }
  | { readonly kind: 'restored' };

/** A container that waits for one of these reasons does nothing until a person acts or it is restarted. */
const stoppedReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** How long a member may be without a running mysqld before it counts as down. */
const idleLimitSeconds = 60;

/** How long a sidecar may be unready before its member counts as impaired: longer than any normal restart. */
export const impairedLimitSeconds = 60;

/**
 * Only the node controller has set Ready to False: the kubelet is lost. The node controller keeps the container
 * statuses that the kubelet reported last (`MarkPodsNotReady` in Kubernetes 1.36), so a member that was not ready when
 * its kubelet was lost is not recognized here and keeps its state. A kubelet that makes a pod not ready also reports
 * the cause in a container, in an init container that keeps running as a sidecar, or in a readiness gate.
 */
function isUnreachable(member: MemberFacts): boolean {
  return (
    member.phase === 'Running' &&
    !member.ready &&
    !member.readinessGateClosed &&
    member.containers.length > 0 &&
    member.containers.every((container) => container.ready) &&
    !member.initContainers.some(isTroubled)
  );
}

/** An init container that has not simply completed: it keeps running as a sidecar, or it fails. */
function isTroubled({ ready, state, reason }: ContainerFacts): boolean {
  return !ready && (state === 'running' || (reason !== null && reason !== 'Completed'));
}

/** The facts of the MySQLCluster about its primary and about replication from elsewhere. */
type Leadership = Pick<ClusterFacts, 'primaryIndex' | 'replicatesFromElsewhere'>;

/**
 * mysqld serves and replicates, as far as its probe can tell. Needs no clock. Without `cluster` the member is not a
 * primary.
 */
export function isParticipating(member: MemberFacts, errant: boolean, cluster: Leadership | null = null): boolean {
  return (
    member.terminatingForSeconds === null &&
    member.phase !== 'Failed' &&
    !errant &&
    (mysqldOf(member)?.ready === true || (cluster !== null && leadsFromElsewhere(member, cluster))) &&
    !isUnreachable(member)
  );
}

/**
 * The primary of a cluster with `spec.replicationSourceSecretName`, whose mysqld has started. moco-agent requires of
 * every read-only mysqld that its replication works and is not behind (moco-agent 0.16, server/mysqld_health.go,
 * MySQLDReady), and this primary stays read-only (MOCO 0.36, clustering/operations.go, configure). So its pod is not
 * ready while its upstream is unavailable or behind, although its replicas follow it and a restart would not help. MOCO
 * then reports the cluster as Incomplete, since Healthy and Degraded need a ready primary (clustering/status.go,
 * isHealthy, isDegraded). It moves the primary neither by a switchover nor, while mysqld answers, by a failover
 * (isFailed). The label shows that MOCO has configured the member since its pod was created.
 */
function leadsFromElsewhere(member: MemberFacts, { primaryIndex, replicatesFromElsewhere }: Leadership): boolean {
  const leads = replicatesFromElsewhere && member.ordinal === primaryIndex && member.role === 'primary';
  return leads && hasStarted(member);
}

/** MOCO has finished configuring this incarnation of the pod. */
export function isSettled(member: MemberFacts, primaryIndex: number): boolean {
  return member.role === (member.ordinal === primaryIndex ? 'primary' : 'replica');
}

/**
 * A member that MOCO has finished with but gives no role. MOCO labels pods only while it finds something to repair. If
 * MOCO is killed after it removed a label, or after it made a replica follow, but before it set the label, it restarts
 * with a cluster that it reports as Healthy, and sets no label. `Healthy` is current then: no mysqld participates
 * before MOCO has configured it, and MOCO sets `Healthy` to False before it configures a member or removes a label.
 * MOCO labels a primary before it opens it for writes, so a primary without a role has just become primary. In a
 * cluster that replicates from elsewhere the primary is never opened: MOCO reports it as Healthy while read-only
 * (clustering/status.go, isHealthy), and the label proves no more than a replica's label does.
 */
export function isPassedOver(
  { ordinal, role, participatingForSeconds }: MemberFacts,
  { primaryIndex, healthy, syncedReplicas, replicas, replicatesFromElsewhere }: ClusterFacts,
  graceSeconds: number,
  deadlines: Deadlines,
): boolean {
  const mayLackIt = ordinal !== primaryIndex || replicatesFromElsewhere;
  const isLeftSo = mayLackIt && role === null && healthy && syncedReplicas === replicas;
  return isLeftSo && participatingForSeconds !== null && deadlines.reached(participatingForSeconds, graceSeconds);
}

export function classify(
  member: MemberFacts,
  errant: boolean,
  deadlines: Deadlines,
  cluster: Leadership | null = null,
): { readonly state: MemberState; readonly evidence: Evidence | null } {
  if (member.terminatingForSeconds !== null) return { state: 'terminating', evidence: null };
  if (isUnreachable(member)) return { state: 'unreachable', evidence: null };
  if (isParticipating(member, errant, cluster)) {
    const evidence = impairment(member, deadlines);
    return { state: evidence === null ? 'participating' : 'impaired', evidence };
  }
  const evidence = outage(member, deadlines);
  if (evidence !== null) return { state: 'down', evidence };
  return { state: 'running', evidence: errant ? { kind: 'errant' } : null };
}

function impairment(member: MemberFacts, deadlines: Deadlines): Evidence | null {
  for (const container of member.initContainers) {
    const stopped = stoppedContainer(container);
    if (stopped !== null) return stopped;
  }
  for (const container of member.containers) {
    if (container.part === 'mysqld' || container.ready) continue;
    const stopped = stoppedContainer(container);
    if (stopped !== null) return stopped;
    if (deadlines.reached(container.notReadyForSeconds, impairedLimitSeconds)) {
      return { kind: 'notReady', container: container.name };
    }
  }
  return null;
}

function outage(member: MemberFacts, deadlines: Deadlines): Evidence | null {
  if (member.phase === 'Failed') return { kind: 'failed', reason: member.failedReason };
  // A running mysqld may acknowledge commits, whatever the state of an init container that continues as a sidecar.
  const mysqld = mysqldOf(member);
  if (mysqld?.state === 'running') return null;
  for (const container of [...member.initContainers, ...(mysqld ? [mysqld] : [])]) {
    const stopped = stoppedContainer(container);
    if (stopped !== null) return stopped;
  }
  if (member.unschedulable !== null) return { kind: 'unschedulable', message: member.unschedulable };
  return deadlines.reached(member.mysqldIdleForSeconds, idleLimitSeconds) ? { kind: 'idle' } : null;
}

/**
 * Seconds for which the member has participated with everything that its revision requires. If it participated before
 * its running pod was given the revision, that proves nothing. `null` while it does not participate, or while
 * containers that an update in place restarts are not ready again.
 */
export function provenForSeconds(member: MemberFacts): number | null {
  const { participatingForSeconds, revisionForSeconds, restartInPlace } = member;
  if (participatingForSeconds === null || (restartInPlace?.awaited ?? []).length > 0) return null;
  return Math.min(
    participatingForSeconds,
    revisionForSeconds,
    restartInPlace?.doneForSeconds ?? Number.POSITIVE_INFINITY,
  );
}

/** A container that an update in place restarts cannot start, for example because its image cannot be pulled. */
export function stoppedInPlace({ containers, restartInPlace }: MemberFacts): Evidence | null {
  const awaited = containers.filter(({ name }) => restartInPlace?.awaited.includes(name));
  return awaited.map(stoppedContainer).find((evidence) => evidence !== null) ?? null;
}

function stoppedContainer(container: StartedContainer): Evidence | null {
  return container.state === 'waiting' && container.reason !== null && stoppedReasons.has(container.reason)
    ? { kind: 'waiting', container: container.name, reason: container.reason, restarts: container.restarts }
    : null;
}

export const mysqldOf = <One extends Pick<ContainerFacts, 'part'>>(pod: { readonly containers: readonly One[] }) =>
  pod.containers.find(({ part }) => part === 'mysqld');

/** mysqld runs, and its startup probe has passed. */
function hasStarted(member: MemberFacts): boolean {
  const mysqld = mysqldOf(member);
  return mysqld?.state === 'running' && mysqld.started;
}

interface StartedFacts extends Pick<MemberFacts, 'phase' | 'unschedulable'> {
  readonly containers: readonly StartedContainer[];
  readonly initContainers: readonly StartedContainer[];
}
type StartedContainer = Pick<ContainerFacts, 'name' | 'part' | 'state' | 'reason' | 'restarts' | 'hasRun' | 'sidecar'>;

/**
 * mysqld has never run in this pod and is not about to: the data are as the previous pod left them. An init container
 * has not completed, the image is not available, no node accepts the pod, or nothing about it has been reported. A
 * mysqld that is merely waiting may have been started since the kubelet last reported it. If its next container cannot
 * be created, it shows 0 restarts although it has run (kubelet 1.36.3, pkg/kubelet/kubelet_pods.go,
 * convertContainerStatus).
 */
export function hasNeverStarted(member: StartedFacts): boolean {
  const { phase, initContainers, unschedulable } = member;
  if (phase !== 'Pending' && phase !== 'Running') return false;
  const mysqld = mysqldOf(member);
  if (mysqld === undefined || mysqld.hasRun) return false;
  return unschedulable !== null || stoppedContainer(mysqld) !== null || initContainers.some(isAheadOfMysqld);
}

/**
 * The kubelet does not start the containers after it yet. A sidecar lets the next container start as soon as the
 * sidecar itself has started.
 */
const isAheadOfMysqld = ({ sidecar, hasRun, state, reason }: StartedContainer): boolean =>
  sidecar ? !hasRun : state !== 'terminated' || reason !== 'Completed';

/** Why the pod cannot be in the state that is reported, as the end of a sentence about it; `null` if it can. */
export function contradiction(member: MemberFacts): string | null {
  const { phase, ready, containers, terminatingForSeconds } = member;
  if (terminatingForSeconds !== null) return null;
  const mysqld = mysqldOf(member);
  if (mysqld === undefined) return 'has no container mysqld';
  const unready = containers.find((container) => !container.ready);
  // The kubelet derives the condition from the containers, and writes both at once.
  if (ready && unready !== undefined) return `is Ready, and its container ${unready.name} is not`;
  return phase === 'Running' && !isReported(mysqld)
    ? 'is Running, and nothing is reported of its container mysqld'
    : null;
}

/** The kubelet gives each waiting container a reason (Kubernetes 1.36, convertToAPIContainerStatuses). */
const isReported = ({ state, reason }: ContainerFacts): boolean => state !== 'waiting' || reason !== null;

/**
 * Reasons of failed pods that the kubelet ended, or did not start, because of the node (Kubernetes 1.36: nodeshutdown,
 * eviction, preemption, lifecycle). Earlier versions use `Shutdown`.
 */
const reasonsOfNodes: ReadonlySet<string> = new Set([
  'Terminated',
  'NodeShutdown',
  'Shutdown',
  'Evicted',
  'Preempting',
  'NodeAffinity',
]);

/** Its pod has failed because its node ended it, not because of its containers. */
export const wasEndedByNode = ({ phase, failedReason, disruption, exceededLimits }: MemberFacts): boolean =>
  phase === 'Failed' && !exceededLimits && (disruption !== null || reasonsOfNodes.has(failedReason ?? ''));

/**
 * Evidence that a container which the database needs keeps restarting without becoming ready. Between two attempts it
 * may look as if it were starting. A single restart is no evidence: a node that boots restarts every container, and
 * MySQL stops mysqld at the end of a clone. For a container that an update in place restarts, the first unrequested
 * restart counts. A sidecar counts only while such an update waits for it.
 */
export function crashLoop(member: MemberFacts): Evidence | null {
  const { containers, initContainers, restartInPlace } = member;
  const looping =
    initContainers.find(restartsAgainAndAgain) ??
    containers.find((container) => {
      const { name, part, restarts, ready, readySinceRestart } = container;
      const requested = restartInPlace?.awaited.includes(name) ? restartInPlace.restarts[name] : undefined;
      if (requested !== undefined) return restarts > requested && !ready && !readySinceRestart;
      return part !== 'side' && restartsAgainAndAgain(container);
    });
  return looping ? { kind: 'crashLooping', container: looping.name, restarts: looping.restarts } : null;
}

const restartsAgainAndAgain = ({ ready, restartsInVain }: ContainerFacts): boolean => !ready && restartsInVain > 1;

/**
 * Its mysqld may acknowledge commits, as far as its pod shows. A ready one does. Among the others, nothing outside
 * MySQL can distinguish one that is behind from one that clones, was never configured, or has a broken I/O thread:
 * those acknowledge nothing.
 */
export function canAcknowledge(
  member: MemberFacts,
  state: MemberState,
  updated: boolean,
  errant: boolean,
  crashLoops: boolean,
): boolean {
  if (state === 'terminating' || state === 'unreachable' || errant || crashLoops) return false;
  if (updated) return state === 'participating' || state === 'impaired';
  return hasStarted(member);
}
