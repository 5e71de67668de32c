import { isParticipating, isSettled } from '../core/member.ts';
import type { ClusterFacts, ContainerFacts, MemberFacts, StatefulSetFacts } from '../core/snapshot.ts';
import type { Ages } from './ages.ts';
import { selects } from './label-selector.ts';
import type { BudgetRecord, ClusterObjects, ClusterRecord, ContainerRecord, PodRecord } from './records.ts';
import { milliseconds } from './timestamp.ts';

/** What MOCO's and Kubernetes' objects say about a cluster, in the core's words. */
export interface ObjectFacts {
  readonly cluster: ClusterFacts;
  readonly statefulSet: StatefulSetFacts | null;
  readonly members: readonly MemberFacts[];
  readonly budgets: readonly BudgetRecord[];
  readonly backupJobActive: boolean;
}

/** What was done about a demotion is written down; it is older than the first look at its pod. */
export interface DemotionMemory {
  /** When this controller asked for the demotion that is under way, or `null`. */
  readonly demotionAskedAt: string | null;
}

/** Call within `ages.look`. */
export function objectFacts(objects: ClusterObjects, ages: Ages, memory: DemotionMemory): ObjectFacts {
  const { cluster, statefulSet, backup } = objects;
  const pods = objects.pods.toSorted((a, b) => a.ordinal - b.ordinal);
  const members = pods.map((pod) => memberFacts(pod, cluster, ages, memory));
  return {
    cluster: { ...cluster, primaryAwayForSeconds: primaryAway(cluster, members, pods, ages) },
    statefulSet,
    members,
    budgets: objects.budgets.filter((budget) => pods.some((pod) => selects(budget.selector, pod.labels))),
    backupJobActive: cluster.replicas === 1 && backup?.active === true,
  };
}

function memberFacts(pod: PodRecord, cluster: ClusterRecord, ages: Ages, memory: DemotionMemory): MemberFacts {
  const facts: MemberFacts = {
    ...pod,
    containers: pod.containers.map((container) => containerFacts(container, pod, ages)),
    initContainers: pod.initContainers.map((container) => containerFacts(container, pod, ages)),
    leavingForSeconds: leaving(pod, ages),
    mysqldIdleForSeconds: idle(pod, ages),
    settledForSeconds: null,
    demoteForSeconds: demoted(pod, ages, memory),
  };
  return { ...facts, settledForSeconds: settled(pod, facts, cluster, ages) };
}

function demoted(pod: PodRecord, ages: Ages, memory: DemotionMemory): number {
  const value = pod.demote ? `for ${pod.demotedFor ?? 'somebody else'}` : 'no';
  const seconds = ages.since(pod, 'demote', value, milliseconds(memory.demotionAskedAt));
  return pod.demote ? seconds : 0;
}

function containerFacts(container: ContainerRecord, pod: PodRecord, ages: Ages): ContainerFacts {
  const { name, ready, restarts, startedAt } = container;
  const run = `run ${restarts}`;
  const notReadyForSeconds = ages.since(
    pod,
    `ready ${name}`,
    ready ? 'yes' : 'no',
    milliseconds(pod.containersReadyChangedAt),
  );
  if (ready) ages.since(pod, `ready in ${name}`, run);
  return {
    ...container,
    readySinceRestart: ready || ages.remembers(pod.uid, `ready in ${name}`, run) || wasReadyAfter(startedAt, pod),
    notReadyForSeconds: ready ? 0 : notReadyForSeconds,
  };
}

/** The containers stopped being ready together after this one had started, so until then it was. */
function wasReadyAfter(startedAt: string | null, pod: PodRecord): boolean {
  const changed = milliseconds(pod.containersReadyChangedAt);
  const started = milliseconds(startedAt);
  return changed !== null && started !== null && changed > started;
}

/** The deletionTimestamp is the moment of the request plus the grace period. */
function leaving(pod: PodRecord, ages: Ages): number | null {
  if (pod.deletionTimestamp === null) return null;
  const goneBy = milliseconds(pod.deletionTimestamp);
  return ages.since(pod, 'leaving', 'yes', goneBy === null ? null : goneBy - pod.graceSeconds * 1000);
}

/** A restart in between means that it ran, even where nobody saw it running. */
function idle(pod: PodRecord, ages: Ages): number {
  const mysqld = pod.containers.find((container) => container.part === 'mysqld');
  const running = mysqld?.state === 'running';
  const value = running ? 'running' : `idle after ${mysqld?.restarts ?? 0}`;
  const seconds = ages.since(pod, 'mysqld', value, milliseconds(mysqld?.finishedAt ?? pod.createdAt));
  return running ? 0 : seconds;
}

/** A change of role or a restart of mysqld begins anew. */
function settled(pod: PodRecord, facts: MemberFacts, cluster: ClusterRecord, ages: Ages): number | null {
  const errant = cluster.errantOrdinals.includes(pod.ordinal);
  const is = isParticipating(facts, errant) && isSettled(facts, cluster.primaryIndex);
  const restarts = pod.containers.find((container) => container.part === 'mysqld')?.restarts ?? 0;
  const value = is ? `as ${pod.role} after ${restarts}` : 'no';
  const changedAt = pod.ready ? pod.readyChangedAt : pod.containersReadyChangedAt;
  const seconds = ages.since(pod, 'settled', value, milliseconds(changedAt));
  return is ? seconds : null;
}

function primaryAway(
  cluster: ClusterRecord,
  members: readonly MemberFacts[],
  pods: readonly PodRecord[],
  ages: Ages,
): number | null {
  const index = members.findIndex((member) => member.ordinal === cluster.primaryIndex);
  const primary = members[index];
  const errant = cluster.errantOrdinals.includes(cluster.primaryIndex);
  const away = primary === undefined || !isParticipating(primary, errant);
  const value = away ? `away from ${cluster.primaryIndex}` : 'no';
  const seconds = ages.since(cluster, 'primary', value, milliseconds(pods[index]?.readyChangedAt ?? null));
  return away ? seconds : null;
}
