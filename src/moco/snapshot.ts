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
    cluster: {
      ...cluster,
      primaryAwayForSeconds: primaryAway(cluster, members, ages),
      primarySettledForSeconds: primarySettled(cluster, pods, members, ages),
    },
    statefulSet,
    members,
    budgets: objects.budgets.filter((budget) => pods.some((pod) => selects(budget.selector, pod.labels))),
    backupJobActive: backup?.active === true,
  };
}

function memberFacts(pod: PodRecord, cluster: ClusterRecord, ages: Ages, memory: DemotionMemory): MemberFacts {
  const turn = turnOf(pod);
  const facts: MemberFacts = {
    ...pod,
    containers: pod.containers.map((container) => containerFacts(container, pod, turn, ages)),
    initContainers: pod.initContainers.map((container) => containerFacts(container, pod, turn, ages)),
    leavingForSeconds: leaving(pod, ages),
    mysqldIdleForSeconds: idle(pod, ages),
    participatingForSeconds: null,
    demoteForSeconds: demoted(pod, ages, memory),
  };
  return { ...facts, participatingForSeconds: participating(pod, facts, cluster, ages) };
}

function demoted(pod: PodRecord, ages: Ages, memory: DemotionMemory): number {
  const value = pod.demote ? `for ${pod.demotedFor ?? 'somebody else'}` : 'no';
  const seconds = ages.since(pod, 'demote', value, milliseconds(memory.demotionAskedAt));
  return pod.demote ? seconds : 0;
}

function containerFacts(container: ContainerRecord, pod: PodRecord, turn: Turn, ages: Ages): ContainerFacts {
  const { name, ready, restarts, startedAt } = container;
  const run = `run ${restarts}`;
  if (ready) ages.since(pod, `ready in ${name}`, run);
  return {
    ...container,
    readySinceRestart: ready || ages.remembers(pod.uid, `ready in ${name}`, run) || wasReadyAfter(startedAt, pod),
    notReadyForSeconds: notReady(container, pod, turn, ages),
  };
}

/** What comes before any of the pod's containers has its turn is nothing that a container could be blamed for. */
interface Turn {
  readonly begun: boolean;
  /** Since when a container may not have been ready, as far as the API tells, or `null`. */
  readonly sinceMilliseconds: number | null;
}

function turnOf({ containers, containersReadyChangedAt }: PodRecord): Turn {
  const starts = containers.map(({ startedAt }) => milliseconds(startedAt)).filter((start) => start !== null);
  const changed = milliseconds(containersReadyChangedAt);
  return {
    begun: containers.some(
      ({ state, restarts, finishedAt }) => state !== 'waiting' || restarts > 0 || finishedAt !== null,
    ),
    sinceMilliseconds: changed === null ? null : Math.max(changed, ...starts),
  };
}

function notReady({ name, ready }: ContainerRecord, pod: PodRecord, turn: Turn, ages: Ages): number {
  const value = ready ? 'yes' : turn.begun ? 'no' : 'not yet';
  const seconds = ages.since(pod, `ready ${name}`, value, turn.sinceMilliseconds);
  return value === 'no' ? seconds : 0;
}

/** The containers stopped being ready together after this one had started, so until then it was. */
function wasReadyAfter(startedAt: string | null, pod: PodRecord): boolean {
  const changed = milliseconds(pod.containersReadyChangedAt);
  const started = milliseconds(startedAt);
  return changed !== null && started !== null && changed > started;
}

/**
 * The deletionTimestamp is the moment of the request plus the grace period. Whoever shortens the period begins it anew.
 * The kubelet's last DELETE shortens it to 0 right before the object goes: at 0 nothing counts but how long this process
 * has seen the pod stay.
 */
function leaving(pod: PodRecord, ages: Ages): number | null {
  const { deletionTimestamp, graceSeconds } = pod;
  if (deletionTimestamp === null) return null;
  const goneBy = graceSeconds === 0 ? null : milliseconds(deletionTimestamp);
  const requested = goneBy === null ? null : goneBy - graceSeconds * 1000;
  return ages.since(pod, 'leaving', `within ${graceSeconds} s`, requested);
}

/** A restart in between means that it ran, even where nobody saw it running. */
function idle(pod: PodRecord, ages: Ages): number {
  const mysqld = mysqldOf(pod);
  const running = mysqld?.state === 'running';
  const value = running ? 'running' : `idle after ${mysqld?.restarts ?? 0}`;
  const seconds = ages.since(pod, 'mysqld', value, milliseconds(mysqld?.finishedAt ?? pod.createdAt));
  return running ? 0 : seconds;
}

/** A restart of mysqld begins anew; another role does not, since nothing of the member has been restarted for it. */
function participating(pod: PodRecord, facts: MemberFacts, cluster: ClusterRecord, ages: Ages): number | null {
  const is = isParticipating(facts, cluster.errantOrdinals.includes(pod.ordinal), cluster);
  const seconds = ages.since(pod, 'participating', is ? restartsOf(pod) : 'no', readySince(pod));
  return is ? seconds : null;
}

/** Remembered of whoever is primary only, so that another one begins anew. */
function primarySettled(
  cluster: ClusterRecord,
  pods: readonly PodRecord[],
  members: readonly MemberFacts[],
  ages: Ages,
): number | null {
  const pod = pods.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  const primary = members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (pod === undefined || primary === undefined) return null;
  const is = primary.participatingForSeconds !== null && isSettled(primary, cluster.primaryIndex);
  const seconds = ages.since(pod, 'settled as primary', is ? restartsOf(pod) : 'no', readySince(pod));
  return is ? seconds : null;
}

const mysqldOf = ({ containers }: PodRecord): ContainerRecord | undefined =>
  containers.find(({ part }) => part === 'mysqld');

const restartsOf = (pod: PodRecord): string => `after ${mysqldOf(pod)?.restarts ?? 0}`;

function readySince({ ready, readyChangedAt, containersReadyChangedAt }: PodRecord): number | null {
  return milliseconds(ready ? readyChangedAt : containersReadyChangedAt);
}

function primaryAway(cluster: ClusterRecord, members: readonly MemberFacts[], ages: Ages): number | null {
  const primary = members.find((member) => member.ordinal === cluster.primaryIndex);
  const away = primary === undefined || primary.participatingForSeconds === null;
  const value = away ? `away from ${cluster.primaryIndex}` : 'no';
  // Since when its pod has not been ready the API says, but not since when it has been the primary: the index may have
  // moved to one that was away already. So a process that comes later begins to count.
  const seconds = ages.since(cluster, 'primary', value);
  return away ? seconds : null;
}
