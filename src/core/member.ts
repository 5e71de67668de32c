import type { Deadlines } from './deadlines.ts';
import type { ClusterFacts, ContainerFacts, MemberFacts } from './snapshot.ts';

// What a member is able to do, derived from the facts about its pod.

/** What a member is able to do, judged by its pod alone. A member has exactly one state: the first that applies. */
export type MemberState = 'terminating' | 'unreachable' | 'participating' | 'impaired' | 'down' | 'running';

/** Why a member is unhealthy. The reason is shown to people, and programs never compare it. */
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

/** A container that waits for one of these reasons does nothing until it is restarted or a person acts. */
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
 * Whether the node controller alone has set Ready to False, because the kubelet is lost. The node controller keeps the
 * container statuses that the kubelet reported last (`MarkPodsNotReady` in Kubernetes 1.36). So a member that was not
 * ready when its kubelet was lost is not recognized here, and keeps its state. A kubelet that makes a pod not ready
 * also reports the cause: in a container, in an init container that keeps running as a sidecar, or in a readiness gate.
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

/** An init container that keeps running as a sidecar, or that fails, instead of completing. */
function isTroubled({ ready, state, reason }: ContainerFacts): boolean {
  return !ready && (state === 'running' || (reason !== null && reason !== 'Completed'));
}

/** The facts of the MySQLCluster about its primary and about replication from elsewhere. */
type Leadership = Pick<ClusterFacts, 'primaryIndex' | 'replicatesFromElsewhere'>;

/**
 * Whether mysqld serves and replicates, judged by its probe. The result does not depend on the clock. Without `cluster`
 * the member is not treated as a primary.
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
 * The primary of a cluster with `spec.replicationSourceSecretName`, once its mysqld has started. moco-agent requires of
 * every read-only mysqld that its replication works and is not behind (moco-agent 0.16, server/mysqld_health.go,
 * MySQLDReady), and this primary stays read-only (MOCO 0.36, clustering/operations.go, configure). So the primary's pod
 * is not ready while its upstream is unavailable or behind, although the replicas follow the primary and a restart
 * would not help. MOCO then reports the cluster as Incomplete, because Healthy and Degraded need a ready primary
 * (clustering/status.go, isHealthy, isDegraded). MOCO does not move the primary by a switchover and, while mysqld
 * answers, not by a failover either (isFailed). The role label shows that MOCO has configured the member since its pod
 * was created.
 */
function leadsFromElsewhere(member: MemberFacts, { primaryIndex, replicatesFromElsewhere }: Leadership): boolean {
  const leads = replicatesFromElsewhere && member.ordinal === primaryIndex && member.role === 'primary';
  return leads && hasStarted(member);
}

/** MOCO has finished configuring the member since its pod was created. */
export function isSettled(member: MemberFacts, primaryIndex: number): boolean {
  return member.role === (member.ordinal === primaryIndex ? 'primary' : 'replica');
}

/**
 * A member that MOCO has finished configuring but has given no role. MOCO labels pods only while it finds something to
 * repair. MOCO may be killed after it removed a label, or after it made a replica follow but before it set the label.
 * After its restart, MOCO reports the cluster as Healthy and sets no label. `Healthy` is current then: no mysqld
 * participates before MOCO has configured it, and MOCO sets `Healthy` to False before it configures a member or removes
 * a label. MOCO labels a primary before it allows writes there, so a primary without a role has just become primary. In
 * a cluster that replicates from elsewhere the primary never allows writes. MOCO reports such a cluster as Healthy
 * while its primary is read-only (clustering/status.go, isHealthy), and the primary's label proves no more than a
 * replica's label does.
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
 * Seconds for which the member has participated with everything that its revision requires. If an in-place update gave
 * the running pod its revision, earlier participation does not count, because it proves nothing. `null` while the
 * member does not participate, and until the containers restarted by an in-place update are ready again.
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

/**
 * Evidence that an in-place update has failed: a container that it restarts cannot start, for example because the image
 * cannot be pulled.
 */
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
 * Whether mysqld has never run in this pod and is not about to run, so that the data are as the previous pod left them.
 * The reason is one of these: an init container has not completed, the image is not available, no node accepts the pod,
 * or nothing about the pod has been reported. A mysqld that is merely waiting does not count, because it may have been
 * started since the kubelet last reported it. If the next container of a mysqld cannot be created, the kubelet reports
 * 0 restarts although mysqld has run (kubelet 1.36.3, pkg/kubelet/kubelet_pods.go, convertContainerStatus).
 */
export function hasNeverStarted(member: StartedFacts): boolean {
  const { phase, initContainers, unschedulable } = member;
  if (phase !== 'Pending' && phase !== 'Running') return false;
  const mysqld = mysqldOf(member);
  if (mysqld === undefined || mysqld.hasRun || mysqld.restarts > 0) return false;
  return unschedulable !== null || stoppedContainer(mysqld) !== null || initContainers.some(isAheadOfMysqld);
}

/**
 * Whether this container keeps the kubelet from starting the next ones. A sidecar stops doing so as soon as it has
 * started.
 */
const isAheadOfMysqld = ({ sidecar, hasRun, state, reason }: StartedContainer): boolean =>
  sidecar ? !hasRun : state !== 'terminated' || reason !== 'Completed';

/**
 * Why the pod cannot be in the reported state, as a phrase that completes a sentence about the pod; `null` if it can.
 */
export function contradiction(member: MemberFacts): string | null {
  const { phase, ready, containers, terminatingForSeconds } = member;
  if (terminatingForSeconds !== null) return null;
  const mysqld = mysqldOf(member);
  if (mysqld === undefined) return 'has no container mysqld';
  const unready = containers.find((container) => !container.ready);
  // The kubelet derives the Ready condition from the containers, and writes both at once.
  if (ready && unready !== undefined) return `is Ready, but its container ${unready.name} is not`;
  return phase === 'Running' && !isReported(mysqld)
    ? 'is Running, but nothing is reported about its container mysqld'
    : null;
}

/** The kubelet gives each waiting container a reason (Kubernetes 1.36, convertToAPIContainerStatuses). */
const isReported = ({ state, reason }: ContainerFacts): boolean => state !== 'waiting' || reason !== null;

/**
 * The `reason` of a failed pod if the kubelet ended the pod, or did not start it, because of the node (Kubernetes 1.36:
 * nodeshutdown, eviction, preemption, lifecycle). Earlier versions use `Shutdown`.
 */
const reasonsOfNodes: ReadonlySet<string> = new Set([
  'Terminated',
  'NodeShutdown',
  'Shutdown',
  'Evicted',
  'Preempting',
  'NodeAffinity',
]);

/** The member's pod has failed because its node terminated it, not because of its containers. */
export const wasEndedByNode = ({ phase, failedReason, disruption, exceededLimits }: MemberFacts): boolean =>
  phase === 'Failed' && !exceededLimits && (disruption !== null || reasonsOfNodes.has(failedReason ?? ''));

/**
 * Evidence that a container needed by the database keeps restarting without becoming ready. Between two attempts the
 * container may look as if it were starting. A single restart is no evidence: a node that boots restarts every
 * container, and MySQL stops mysqld at the end of a clone. After an in-place update has restarted a container, its
 * first further restart counts. A sidecar counts only while an in-place update waits for it.
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
 * Whether the member's mysqld may acknowledge commits, judged by its pod. A mysqld that is ready acknowledges them. For
 * one that is not ready, only MySQL itself knows. It acknowledges commits if it is merely behind, but not if it clones,
 * was never configured, or has a broken I/O thread.
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
