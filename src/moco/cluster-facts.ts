import { milliseconds } from '../base/json.ts';
import { hasNeverStarted, isParticipating, isSettled, mysqldOf } from '../core/member.ts';
import type { MysqldFacts } from '../core/mysql-versions.ts';
import { notAsked } from '../core/on-demand-facts.ts';
import { isPossibleSize } from '../core/situation.ts';
import type {
  AskedMemberFacts,
  BackupJobFacts,
  BudgetFacts,
  ClusterSnapshot,
  ContainerFacts,
  LastRun,
  MemberFacts,
} from '../core/snapshot.ts';
import type { Ages } from './ages.ts';
import { restartInPlace } from './in-place/restart.ts';
import { statefulSetName } from './names.ts';
import type { BudgetRecord, ClusterObjects, ClusterRecord, ContainerRecord, JobRecord, PodRecord } from './records.ts';
import { selects } from './selects.ts';

// Translates records of the API server into the core's snapshot: what MOCO and Kubernetes report, in the core's terms.

export type SelectingBudget = BudgetRecord & Pick<BudgetFacts, 'ofMoco'>;

/** Derives the core's facts about a cluster from the objects of MOCO and Kubernetes. */
export interface ObjectFacts
  extends Pick<
    ClusterSnapshot,
    'cluster' | 'statefulSet' | 'members' | 'lastRuns' | 'backupJobs' | 'backupsUnreadable'
  > {
  readonly budgets: readonly SelectingBudget[];
}

/** The facts about a member if no on-demand question has been asked. */
const nothingAsked: AskedMemberFacts = {
  inPlace: null,
  recreatable: notAsked,
  leaving: null,
  clone: null,
  serverVersion: null,
};

/**
 * Call within `ages.observe`.
 *
 * @param demotionAskedAt when this controller requested the demotion in progress, or `null`; the request may be older
 * than the first observation of the pod
 */
export function objectFacts(
  objects: ClusterObjects,
  ages: Ages,
  demotionAskedAt: string | null,
  asked: (pod: PodRecord) => AskedMemberFacts = () => nothingAsked,
): ObjectFacts {
  const { cluster, statefulSet, jobs, jobsUnreadable } = objects;
  const pods = objects.pods.toSorted((a, b) => a.ordinal - b.ordinal);
  const members = pods.map((pod) => memberFacts(pod, objects, ages, demotionAskedAt, asked(pod)));
  return {
    cluster: {
      ...cluster,
      primaryUnavailableForSeconds: primaryUnavailable(cluster, members, ages),
      primarySettledForSeconds: primarySettled(cluster, pods, members, ages),
    },
    statefulSet,
    members,
    lastRuns: lastRunsOf(objects, members, ages),
    budgets: objects.budgets
      .filter((budget) => pods.some((pod) => selects(budget.selector, pod.labels)))
      .map((budget) => ({ ...budget, ofMoco: budget.name === statefulSetName(cluster.name) })),
    backupJobs: jobs.map((job) => backupJobFacts(job, ages)),
    // Without a backup policy there is no CronJob, so no Job can come from one.
    backupsUnreadable: cluster.hasBackupPolicy ? jobsUnreadable : null,
  };
}

function lastRunsOf(
  { cluster, statefulSet, pods, killedPods = [] }: ClusterObjects,
  members: readonly MemberFacts[],
  ages: Ages,
): readonly LastRun[] {
  const replicas = Math.max(cluster.replicas, statefulSet?.replicas ?? 0);
  const given = isPossibleSize(replicas) ? Array.from({ length: replicas }, (_, ordinal) => ordinal) : [];
  return [...new Set([...given, ...pods.map(({ ordinal }) => ordinal)])].flatMap((ordinal) => {
    const pod = pods.find((one) => one.ordinal === ordinal);
    const facts = members.find((one) => one.ordinal === ordinal);
    const killed = killedPods.find((one) => one.ordinal === ordinal) ?? null;
    return lastRunOf(cluster, ordinal, pod && facts ? { pod, facts } : null, killed, ages) ?? [];
  });
}

interface Sighting extends Omit<LastRun, 'ordinal'> {
  readonly createdAt: string;
}

/**
 * The last run of mysqld is remembered for the member and not for its pod, because the pod may be gone. A pod from the
 * cache may be older than one that a live read has already returned; an older pod is ignored.
 */
function lastRunOf(
  cluster: ClusterRecord,
  ordinal: number,
  member: { readonly pod: PodRecord; readonly facts: MemberFacts } | null,
  killed: Pick<PodRecord, 'createdAt'> | null,
  ages: Ages,
): LastRun | null {
  const fact = `last run of member ${ordinal}`;
  const remembered = ages.valueOf(cluster.uid, fact);
  const before = remembered === null ? null : (JSON.parse(remembered) as Sighting);
  const known = before && before.createdAt === killed?.createdAt ? { ...before, killed: true as const } : before;
  const seen = member === null ? null : sightingOf(member, known);
  const last = seen ?? known;
  // Only remembers the value; its age is not used. The resourceVersion is always empty, so no value counts as older
  // than the remembered one.
  if (last !== null) ages.since({ uid: cluster.uid, resourceVersion: '' }, fact, JSON.stringify(last));
  if (last === null) return null;
  const { createdAt: _, ...run } = last;
  return { ordinal, ...run };
}

/**
 * `null` if the member's mysqld has never started in this pod. A mysqld that has worked on the data also counts for the
 * next pods of its revision, until a mysqld of a different revision has started.
 */
function sightingOf(
  { pod, facts }: { readonly pod: PodRecord; readonly facts: MemberFacts },
  known: Sighting | null,
): Sighting | null {
  if (
    pod.rejected ||
    hasNeverStarted(facts) ||
    pod.revision === '' ||
    (known !== null && pod.createdAt < known.createdAt)
  )
    return null;
  const { createdAt, revision } = pod;
  const { mysqld } = facts;
  const worked = hasOpenedData(facts) || (known?.revision === revision && known.worked);
  const killed = isKilled(facts, known);
  return {
    createdAt,
    revision,
    image: mysqld.image,
    version: mysqld.version?.version ?? null,
    worked,
    ...(killed && { killed }),
  };
}

/**
 * Whether the last mysqld on the data was killed. A mysqld that becomes ready has recovered the redo log. After that,
 * only a kill of this mysqld counts.
 */
function isKilled(facts: MemberFacts, known: Sighting | null): boolean {
  const { mysqldKilled } = facts;
  if (mysqldKilled && mysqldOf(facts)?.state !== 'running') return true;
  return (mysqldKilled || known?.killed === true) && !hasOpenedData(facts);
}

/**
 * Whether the mysqld that runs in the pod, or ran there last, has been ready: it has opened the data and recovered the
 * redo log. A terminating pod does not participate, but its containers still show this to a process that starts only
 * then.
 */
const hasOpenedData = (facts: MemberFacts): boolean =>
  facts.participatingForSeconds !== null || mysqldOf(facts)?.readySinceRestart === true;

function backupJobFacts(job: JobRecord, ages: Ages): BackupJobFacts {
  const { name, restores, startedAt } = job;
  return { name, restores, startedAt, activeForSeconds: ages.since(job, 'active', startedAt, milliseconds(startedAt)) };
}

function memberFacts(
  pod: PodRecord,
  { cluster, statefulSet }: Pick<ClusterObjects, 'cluster' | 'statefulSet'>,
  ages: Ages,
  demotionAskedAt: string | null,
  asked: AskedMemberFacts,
): MemberFacts {
  const turn = turnOf(pod);
  const templates = statefulSet?.containers ?? null;
  const facts = (container: ContainerRecord) => containerFacts(container, pod, turn, templates, ages);
  const { inPlace } = asked;
  const isOfNoRevision =
    inPlace !== null && inPlace.kind !== 'notAsked' && pod.revision === statefulSet?.updateRevision;
  const member: MemberFacts = {
    ...pod,
    revision: isOfNoRevision ? '' : pod.revision,
    ofStatefulSet: statefulSet === null || pod.controller === statefulSet.uid,
    containers: pod.containers.map(facts),
    initContainers: pod.initContainers.map(facts),
    terminatingForSeconds: terminating(pod, ages),
    mysqldIdleForSeconds: idle(pod, ages),
    mysqldStartedForSeconds: started(pod, ages),
    participatingForSeconds: null,
    revisionForSeconds: revised(pod, ages),
    demoteForSeconds: demoted(pod, ages, demotionAskedAt),
    restartInPlace: restartInPlace(pod, ages),
    ...asked,
    mysqld: mysqldOfServer(pod, asked),
  };
  return { ...member, participatingForSeconds: participatingSeconds(pod, member, cluster, ages) };
}

/** The version that mysqld itself reports takes precedence over the tag of its image. */
const mysqldOfServer = ({ mysqld }: PodRecord, { serverVersion: version }: AskedMemberFacts): MysqldFacts =>
  version === null ? mysqld : { ...mysqld, version: { version, source: 'server' } };

function demoted(pod: PodRecord, ages: Ages, askedAt: string | null): number {
  const value = pod.demote ? `for ${pod.demotedFor ?? 'another program'}` : 'no';
  const seconds = ages.since(pod, 'demote', value, milliseconds(askedAt));
  return pod.demote ? seconds : 0;
}

function containerFacts(
  container: ContainerRecord,
  pod: PodRecord,
  turn: Turn,
  ofTemplate: readonly string[] | null,
  ages: Ages,
): ContainerFacts {
  const { name, ready, restarts, startedAt } = container;
  const run = `run ${restarts}`;
  if (ready) ages.since(pod, `ready in ${name}`, run);
  const readySinceRestart = ready || ages.remembers(pod.uid, `ready in ${name}`, run) || wasReadyAfter(startedAt, pod);
  return {
    ...container,
    injected: ofTemplate !== null && !ofTemplate.includes(name),
    readySinceRestart,
    restartsInVain: restartsInVain(container, pod, readySinceRestart, ages),
    notReadyForSeconds: notReady(container, pod, turn, ages),
  };
}

/**
 * Counts restarts since the container was last ready. A container that restarted before it was first observed may have
 * been ready in between.
 */
function restartsInVain(
  { name, restarts }: ContainerRecord,
  pod: PodRecord,
  readySinceRestart: boolean,
  ages: Ages,
): number {
  const fact = `restarts of ${name} when it was last ready`;
  const known = readySinceRestart ? null : ages.valueOf(pod.uid, fact);
  const lastReady = known === null ? restarts : Number(known);
  ages.since(pod, fact, String(lastReady));
  return Math.max(0, restarts - lastReady);
}

/**
 * Whether the containers have had a chance to become ready. If the pod fails before any container can start, no
 * container is at fault.
 */
interface Turn {
  readonly begun: boolean;
  /** The earliest time at which a container may have become unready, according to the API, or `null`. */
  readonly sinceMilliseconds: number | null;
}

function turnOf({ containers, containersReadyChangedAt }: PodRecord): Turn {
  const starts = containers.map(({ startedAt }) => milliseconds(startedAt)).filter((start) => start !== null);
  const changed = milliseconds(containersReadyChangedAt);
  return {
    begun: containers.some(({ hasRun }) => hasRun),
    sinceMilliseconds: changed === null ? null : Math.max(changed, ...starts),
  };
}

function notReady({ name, ready }: ContainerRecord, pod: PodRecord, turn: Turn, ages: Ages): number {
  const value = ready ? 'yes' : turn.begun ? 'no' : 'not yet';
  const seconds = ages.since(pod, `ready ${name}`, value, turn.sinceMilliseconds);
  return value === 'no' ? seconds : 0;
}

/** All containers became unready together after this container had started, so it was ready until then. */
function wasReadyAfter(startedAt: string | null, pod: PodRecord): boolean {
  const changed = milliseconds(pod.containersReadyChangedAt);
  const started = milliseconds(startedAt);
  return changed !== null && started !== null && changed > started;
}

/**
 * The deletionTimestamp is the time of the request plus the grace period. The API server sets it again when the period
 * is shortened. The kubelet's last DELETE shortens the period to 0 right before the object is removed. After that, this
 * process counts the time from when it first sees the 0.
 */
function terminating(pod: PodRecord, ages: Ages): number | null {
  const { deletionTimestamp, graceSeconds } = pod;
  if (deletionTimestamp === null) return null;
  const goneBy = graceSeconds === 0 ? null : milliseconds(deletionTimestamp);
  const requested = goneBy === null ? null : goneBy - graceSeconds * 1000;
  return ages.since(pod, 'terminating', `within ${graceSeconds} s`, requested);
}

/**
 * Seconds for which mysqld has not been running. A restart resets this count, even if mysqld was never observed
 * running. If Kubernetes does not report when mysqld stopped, as after the loss of its node (ContainerStatusUnknown),
 * the count starts when this process first observes that mysqld is not running.
 */
function idle(pod: PodRecord, ages: Ages): number {
  const mysqld = mysqldOf(pod);
  const running = mysqld?.state === 'running';
  const endedAt = mysqld?.hasRun ? mysqld.finishedAt : pod.createdAt;
  const value = running ? 'running' : `idle after ${mysqld?.restarts ?? 0}`;
  const seconds = ages.since(pod, 'mysqld', value, milliseconds(endedAt));
  return running ? 0 : seconds;
}

/**
 * The API does not show when a startup probe passed. So a controller that starts after the probe counts from its own
 * start.
 */
function started(pod: PodRecord, ages: Ages): number {
  const is = mysqldOf(pod)?.started === true;
  const seconds = ages.since(pod, 'mysqld started', is ? restartsOf(pod) : 'no');
  return is ? seconds : 0;
}

/** A restart of mysqld resets this count. A new role does not reset it, because mysqld keeps running. */
function participatingSeconds(pod: PodRecord, facts: MemberFacts, cluster: ClusterRecord, ages: Ages): number | null {
  const is = isParticipating(facts, cluster.errantOrdinals.includes(pod.ordinal), cluster);
  const seconds = ages.since(pod, 'participating', is ? restartsOf(pod) : 'no', readySince(pod));
  return is ? seconds : null;
}

/**
 * The count starts again when the revision label of the running pod changes, or when this program's resize changes the
 * pod's resources. The program writes the label last, so the time of the label applies to both changes. If a resize
 * came after the label, the API shows only when the spec changed, not when the kubelet resized the pod.
 */
function revised({ live, revision, revisionSetAt, ...pod }: PodRecord, ages: Ages): number {
  const resized =
    live?.containers.filter((one) => one.resized.length > 0).map((one) => [one.name, one.resources]) ?? [];
  const pending = resized.length > 0 && live?.resize !== null;
  const setAt = milliseconds(revisionSetAt);
  const resizedAt = milliseconds(live?.resizedAt ?? null);
  const isShown = setAt !== null && (resizedAt === null || resizedAt < setAt);
  const value = JSON.stringify([revision, resized, pending]);
  return ages.since(pod, 'revision', value, isShown ? setAt : null);
}

/** The time is only remembered for the current primary, so that a new primary starts from zero. */
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

const restartsOf = (pod: PodRecord): string => `after ${mysqldOf(pod)?.restarts ?? 0}`;

function readySince({ ready, readyChangedAt, containersReadyChangedAt }: PodRecord): number | null {
  return milliseconds(ready ? readyChangedAt : containersReadyChangedAt);
}

function primaryUnavailable(cluster: ClusterRecord, members: readonly MemberFacts[], ages: Ages): number | null {
  const primary = members.find((member) => member.ordinal === cluster.primaryIndex);
  const unavailable = primary === undefined || primary.participatingForSeconds === null;
  const value = unavailable ? `away from ${cluster.primaryIndex}` : 'no';
  // The API shows since when the pod has not been ready. It does not show since when the pod has been the primary,
  // because the index may have moved to an unavailable member. So a controller that starts later counts from its own
  // start.
  const seconds = ages.since(cluster, 'primary', value);
  return unavailable ? seconds : null;
}
