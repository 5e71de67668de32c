import type { MySQLRollout, RolloutSpec } from '../../api/rollout.ts';
import { policyKind, projectPolicy } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { builtInStrategy } from '../../api/settings.ts';
import type { World } from '../../base/world.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import { collectFacts, type Dependencies, type ObservedFacts } from '../../controller/pass/collect-facts.ts';
import { newMemory } from '../../controller/pass/memory.ts';
import { readInPlace } from '../../controller/questions/in-place.ts';
import { type InPlaceReadings, nothingReadInPlace } from '../../controller/questions/in-place-facts.ts';
import { RecentNodes } from '../../controller/questions/recent-nodes.ts';
import type { KnownRecreatable } from '../../controller/questions/recreatable.ts';
import { readRecreatable } from '../../controller/questions/recreatable.ts';
import type { MysqldFacts } from '../../core/mysql-versions.ts';
import { versionWarnings } from '../../core/mysqld-data.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { obstacles } from '../../core/rules/recreatable.ts';
import { survey } from '../../core/situation.ts';
import {
  jobs,
  namespaces,
  persistentVolumeClaims,
  podDisruptionBudgets,
  type ResourceKind,
} from '../../kube/resource.ts';
import { nameOf, type Stored } from '../../kube/store.ts';
import { differentBuilds, explainBuilds } from '../../moco/mysqld-builds.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectBudget, projectNamespace, statefulSetName } from '../../moco/projections.ts';
import type { ClusterObjects, ClusterRecord } from '../../moco/records.ts';
import { Cache, type CachedKind, forEachCachedKind } from '../../objects/cache.ts';
import { CommandError } from '../command-error.ts';
import { clustersIn, ifAllowed, ifThere, listAll, listEach, listOrNothing, unlessRefused } from './clusters.ts';
import type { Session } from './session.ts';

// Builds the core's snapshot from what a user may read, so that commands decide as the controller does.

/** A cluster and its current settings. */
export interface ClusterObservation {
  readonly rollout: MySQLRollout | null;
  /** `assumed` replaces settings of the MySQLRollout. */
  readonly observe: (assumed?: RolloutSpec) => ObservedFacts;
  /** What is missing because the user may not read it. */
  readonly unread: readonly string[];
}

/** What is known about a cluster before its objects are read by name. */
export const nothingKnown = (cluster: ClusterRecord): ClusterObjects => ({
  cluster,
  statefulSet: null,
  pods: [],
  budgets: [],
  jobs: [],
  jobsUnreadable: null,
});

/** Hypothetical changes to the objects of a cluster, such as another template. */
export type AssumedChange = (objects: ClusterObjects) => ClusterObjects;

/** As if MOCO had just changed the pod template, including `mysqld` if it is given. */
export function withNewTemplate({ statefulSet, ...objects }: ClusterObjects, mysqld?: MysqldFacts): ClusterObjects {
  const updateRevision = `${statefulSetName(objects.cluster.name)}-assumed`;
  return { ...objects, statefulSet: statefulSet && { ...statefulSet, updateRevision, ...(mysqld && { mysqld }) } };
}

/** Like `observeIfExists`, but throws `CommandError` if the cluster is gone. */
export async function observeCluster(
  session: Session,
  cluster: ClusterRecord,
  change?: AssumedChange | null,
): Promise<ClusterObservation> {
  const observation = await observeIfExists(session, cluster, change);
  if (observation === null) throw new CommandError(`${nameOf(cluster)} has just been deleted`);
  return observation;
}

/**
 * Reads everything that a decision needs, with the rights of the user. With `change` every member is assumed to come
 * back. Rejects with `ApiError`.
 */
export async function observeIfExists(
  session: Session,
  cluster: ClusterRecord,
  change: AssumedChange | null = null,
): Promise<ClusterObservation | null> {
  const { api, world } = session;
  const { namespace } = cluster;
  const unread: string[] = [];
  const orLeaveOut = async <Answer>({ plural }: ResourceKind, answer: Promise<Answer>): Promise<Answer | null> => {
    const found = await ifAllowed(answer);
    if (found === null) unread.push(plural);
    return found;
  };
  const [live, budgets, policies, own] = await Promise.all([
    api.readAll(nothingKnown(cluster)),
    orLeaveOut(podDisruptionBudgets, listAll(session, podDisruptionBudgets, namespace)),
    orLeaveOut(policyKind, listOrNothing(session, policyKind, null)),
    // Without the right to read the namespace, its labels are unknown.
    ifAllowed(api.read(namespaces, { name: namespace }, 'read')),
  ]);
  if (live === null) return null;
  const { rollout } = live;
  if (live.objects.jobsUnreadable !== null) unread.push(jobs.plural);
  const now = {
    ...live.objects,
    jobsUnreadable: null,
    ...(budgets && { budgets: budgets.map(projectBudget).filter((budget) => budget !== null) }),
  };
  const objects = change === null ? now : change(now);
  const known = (policies ?? []).map(projectPolicy);
  const namespaceLabels = own && projectNamespace(own).labels;
  const sources: SourcesOf = ({ labels }) => ({ policies: known, cluster: { namespace, labels, namespaceLabels } });
  const context = { api, world, mayLackNodes: true, mayLackCreate: true, nodes: new RecentNodes(world) };
  const nothing = { members: new Map(), leavingNodes: new Map() };
  const reading = change === null ? readRecreatable(objects.pods, objects, nothing, context) : Promise.resolve(nothing);
  const recreatable = (await orLeaveOut(persistentVolumeClaims, reading))?.members ?? null;
  return { rollout, unread, observe: await observer(session, objects, rollout, sources, recreatable) };
}

/**
 * The facts for the controller's decision, with the assumed settings. Reads what updates in place depend on. Without
 * `recreatable` every member is assumed to come back. Rejects with `ApiError`.
 */
export async function observer(
  { api, world }: Session,
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  sources: SourcesOf,
  recreatable: ReadonlyMap<string, KnownRecreatable> | null = null,
): Promise<ClusterObservation['observe']> {
  const seen = factsOf(objects, rollout, sources, world);
  const inPlace = await readInPlace(seen, nothingReadInPlace, api, world, 'haveImages');
  return (assumed) => factsOf(objects, rollout, sources, world, assumed, inPlace, recreatable);
}

/** Which members could not be recreated as they are, and why. */
export const obstaclesOf = ({ snapshot }: ObservedFacts): readonly string[] => snapshot.members.flatMap(obstacles);

/**
 * What a user should know about the mysqld versions of a cluster, unless `rule` already explains it. Each without a
 * full stop.
 */
export function mysqldNotes(observed: ObservedFacts, rule: string | undefined): readonly string[] {
  const situation = survey(observed.snapshot, observed.policy);
  const isSaid = rule === 'VersionRefused' || rule === 'RedoLogOpen';
  return [
    ...(isSaid ? [] : versionWarnings(situation, memberName(observed))),
    ...differentBuilds(observed.objects.pods).map(explainBuilds),
  ];
}

/** What the API server says about a cluster in addition to its status. Empty if it can't be read. */
export async function notesOfObjects(
  session: Session,
  cluster: ClusterRecord,
  rule: string | undefined,
): Promise<readonly string[]> {
  const observation = await unlessRefused(observeIfExists(session, cluster));
  if (observation === null) return [];
  const observed = observation.observe();
  return [...obstaclesOf(observed), ...mysqldNotes(observed, rule)];
}

type SourcesOf = Dependencies['cache']['settingsSources'];

/**
 * The facts for the controller's decision. `assumed` replaces settings of the MySQLRollout. Without these reads,
 * members are assumed to need another pod, and to come back. The controller's flags are known as far as the status
 * shows them. Facts that only the controller knows, or has to ask Prometheus and replicas for, are assumed to block
 * nothing.
 */
export function factsOf(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  settingsSources: SourcesOf,
  world: World,
  assumed: RolloutSpec = {},
  inPlace: InPlaceReadings = nothingReadInPlace,
  recreatable: ReadonlyMap<string, KnownRecreatable> | null = null,
): ObservedFacts {
  const { pods, statefulSet } = objects;
  const { strategy, updatesInPlace, settings = {} } = rollout?.status ?? {};
  const atMilliseconds = world.monotonic();
  const revision = statefulSet?.updateRevision ?? '';
  const unread = { claimNames: [], claimUids: {}, tolerations: [], startedAt: null };
  const fine = { ...unread, revision, claims: [], tied: null, refusal: null, atMilliseconds };
  const delay = { reading: { kind: 'delay', seconds: 0 }, atMilliseconds, unknownSinceMilliseconds: null } as const;
  const ready = { reading: { kind: 'ready' }, atMilliseconds, unknownSinceMilliseconds: null } as const;
  const notCloning = {
    reading: { kind: 'notCloning' },
    atMilliseconds,
    unknownSinceMilliseconds: null,
    unchangedSinceMilliseconds: null,
  } as const;
  const known = newMemory(world, {
    inPlace,
    recreatable: {
      members: new Map(pods.map(({ uid }) => [uid, recreatable?.get(uid) ?? fine])),
      leavingNodes: new Map(),
    },
    delays: new Map(pods.map(({ uid }) => [uid, delay])),
    clones: new Map(pods.map(({ uid }) => [uid, notCloning])),
    members: new Map(pods.map(({ uid }) => [uid, ready])),
    moco: { ...renewedLease, atMilliseconds, renewedAtMilliseconds: atMilliseconds },
  });
  const isOnDelete = strategy === undefined ? statefulSet?.labelled === true : strategy === 'OnDelete';
  const flagOf = <Value>(setting: { readonly source: string; readonly value: Value } | undefined) =>
    setting?.source.startsWith('flag') ? setting.value : undefined;
  const minReadySeconds = flagOf(settings.minReadySeconds);
  const dependencies: Dependencies = {
    world,
    strategies: {
      onDeleteEnabled: isOnDelete || assumed.strategy === 'OnDelete',
      partitionDriver: strategy === 'Partition' ? 'own' : 'moco',
      inPlaceEnabled: updatesInPlace === true,
    },
    defaults: {
      policy: { ...defaultPolicy, ...(minReadySeconds !== undefined && { minReadySeconds }) },
      strategy: flagOf(settings.strategy) ?? builtInStrategy,
    },
    cache: { settingsSources, unavailable: new Map(), replicaClustersAt: () => [] },
    fleet: { factsFor: () => noFleet },
    checks: {
      factsFor: (_, checks) =>
        checks.map(({ name }) => ({ name, reading: { kind: 'passing' }, ageSeconds: 0, unknownForSeconds: 0 })),
    },
  };
  const assumedRollout = rollout && { ...rollout, spec: { ...rollout.spec, ...assumed } };
  // Claims are not read. They are assumed to agree with the pods; for a member whose mysqld has not started, with the
  // mysqld of the other members.
  const { lastRuns } = collectFacts(objects, assumedRollout, known, dependencies).snapshot;
  const earlier = lastRuns.find((one) => one.revision !== revision);
  const data = new Map(
    pods.map((pod) => {
      const { ordinal } = pod;
      const { image = null, version = null } = lastRuns.find((one) => one.ordinal === ordinal) ?? earlier ?? {};
      const record = { revision: pod.revision, image, version };
      return [ordinal, { record, atMilliseconds, refusedAtMilliseconds: null }] as const;
    }),
  );
  const withData = { ...known, answers: { ...known.answers, data } };
  return collectFacts(objects, assumedRollout, withData, dependencies);
}

const renewedLease = { lease: '', state: 'held', holder: '', durationSeconds: 15 } as const;

const noFleet = {
  fleetWaits: [],
  fleetQueue: null,
  fleetInterval: null,
  laterStageWaits: false,
  unobservedEvictions: 0,
};

/** Kinds that only make a decision more precise. */
const optionalKinds: ReadonlySet<ResourceKind> = new Set([policyKind, podDisruptionBudgets, jobs, namespaces]);

/**
 * Lists every kind that a decision needs once, in all namespaces, into a cache like the controller's. `unread` are
 * kinds that are left out because the user may not read them. Rejects with `ApiError` or `CommandError`.
 */
export async function readFleet(session: Session) {
  const cache = new Cache();
  const unread: string[] = [];
  const read = async <R extends Stored>({ kind, labelSelector, store, project }: CachedKind<R>): Promise<void> => {
    const list = listEach(session, kind, null, labelSelector === undefined ? {} : { labelSelector }, project);
    const there = kind.group === sequenceKind.group ? ifThere(list).then((all) => all ?? []) : list;
    const found = await (optionalKinds.has(kind) ? ifAllowed(there) : there);
    if (found === null) unread.push(kind.plural);
    for (const record of found ?? []) if (record !== null) store.put(record);
  };
  for (const cluster of await clustersIn(session, null)) cache.clusters.put(cluster);
  await Promise.all(
    forEachCachedKind(cache, true, async (cached) => {
      if (cached.kind !== clusterKind) await read(cached);
    }),
  );
  return { cache, unread: unread.toSorted() };
}
