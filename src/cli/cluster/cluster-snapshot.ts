import type { MySQLRollout, RolloutSpec } from '../../api/rollout.ts';
import { policyKind, projectPolicy } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { builtInStrategy } from '../../api/settings.ts';
import type { World } from '../../base/world.ts';
import type { KnownNodes } from '../../controller/facts/known-nodes.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import { collectFacts, type Dependencies, type ObservedFacts } from '../../controller/pass/collect-facts.ts';
import { newMemory } from '../../controller/pass/memory.ts';
import type { KnownRecord } from '../../controller/questions/data.ts';
import { readInPlace } from '../../controller/questions/in-place.ts';
import { type InPlaceReadings, nothingReadInPlace } from '../../controller/questions/in-place-facts.ts';
import { RecentNodes } from '../../controller/questions/recent-nodes.ts';
import type { KnownRecreatable } from '../../controller/questions/recreatable.ts';
import { readRecreatable } from '../../controller/questions/recreatable.ts';
import type { MysqldFacts } from '../../core/mysql-versions.ts';
import { versionWarnings } from '../../core/mysqld-data.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { obstacles } from '../../core/rules/recreatable.ts';
import { isPossibleSize, survey } from '../../core/situation.ts';
import {
  jobs,
  namespaces,
  persistentVolumeClaims,
  podDisruptionBudgets,
  type ResourceKind,
} from '../../kube/resource.ts';
import { nameOf, type Stored } from '../../kube/store.ts';
import { dataClaimOf } from '../../moco/data-record.ts';
import { differentBuilds, explainBuilds } from '../../moco/mysqld-builds.ts';
import { clusterKind, statefulSetName } from '../../moco/names.ts';
import { usualSigns } from '../../moco/node-maintenance.ts';
import { projectBudget, projectClaim, projectNamespace } from '../../moco/projections.ts';
import type { ClusterObjects, ClusterRecord } from '../../moco/records.ts';
import { Cache, type CachedKind, forEachCachedKind } from '../../objects/cache.ts';
import { CommandError } from '../command-error.ts';
import { clustersIn, ifAllowed, ifThere, listAll, listEach, listOrNothing, unlessRefused } from './clusters.ts';
import type { Session } from './session.ts';

// Builds the core's snapshot from what a user may read, so that commands decide as the controller does.

/** What a command has read about one cluster. */
export interface ClusterObservation {
  readonly rollout: MySQLRollout | null;
  /** Returns the facts for a decision. `assumed` replaces settings of the MySQLRollout. */
  readonly observe: (assumed?: RolloutSpec) => ObservedFacts;
  /** The kinds that were not read, because the user may not read them. */
  readonly unread: readonly string[];
}

/** The objects of a cluster before any of them has been read. */
export const nothingKnown = (cluster: ClusterRecord): ClusterObjects => ({
  cluster,
  statefulSet: null,
  pods: [],
  budgets: [],
  jobs: [],
  jobsUnreadable: null,
});

/** Assumed changes to the objects of a cluster, such as a different template. */
export type AssumedChange = (objects: ClusterObjects) => ClusterObjects;

/**
 * The objects as they would be if MOCO had just changed the pod template. A given `mysqld` replaces the current one.
 */
export function withNewTemplate({ statefulSet, ...objects }: ClusterObjects, mysqld?: MysqldFacts): ClusterObjects {
  const updateRevision = `${statefulSetName(objects.cluster.name)}-assumed`;
  return { ...objects, statefulSet: statefulSet && { ...statefulSet, updateRevision, ...(mysqld && { mysqld }) } };
}

/** Like `observeIfExists`, but throws `CommandError` if the cluster is gone. */
export async function observeCluster(
  session: Session,
  cluster: ClusterRecord,
  change?: AssumedChange | null,
  drainedNode?: string,
): Promise<ClusterObservation> {
  const observation = await observeIfExists(session, cluster, change, drainedNode);
  if (observation === null) throw new CommandError(`${nameOf(cluster)} has just been deleted`);
  return observation;
}

/**
 * Reads everything that a decision needs, with the rights of the user. If `change` is given, every member is assumed to
 * be recreatable. Rejects with `ApiError`.
 */
export async function observeIfExists(
  session: Session,
  cluster: ClusterRecord,
  change: AssumedChange | null = null,
  drainedNode: string | null = null,
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
    api.readAll(nothingKnown(cluster), true),
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
  const nodes = new RecentNodes(world, usualSigns, drainedNode);
  const context = { api, world, mayLackNodes: true, mayLackCreate: true, nodes, knownNodes: nodes };
  const nothing = { members: new Map() };
  const reading = change === null ? readRecreatable(objects.pods, objects, nothing, context) : Promise.resolve(nothing);
  const [recreatable, dataless] = await Promise.all([
    orLeaveOut(persistentVolumeClaims, reading),
    membersWithoutData(session, objects),
  ]);
  const members = recreatable?.members ?? null;
  return { rollout, unread, observe: await observer(session, objects, rollout, sources, members, nodes, dataless) };
}

/**
 * The ordinals of the members that have neither a pod nor a claim with a volume, for example because the cluster is
 * scaled up.
 */
async function membersWithoutData(
  { api }: Session,
  { cluster: { namespace, name, replicas }, pods }: ClusterObjects,
): Promise<readonly number[]> {
  const ordinals = Array.from({ length: isPossibleSize(replicas) ? replicas : 0 }, (_, ordinal) => ordinal);
  const found = await Promise.all(
    ordinals
      .filter((ordinal) => !pods.some((pod) => pod.ordinal === ordinal))
      .map(async (ordinal) => {
        const claim = await api.readClaim({ namespace, name: dataClaimOf(name, ordinal) });
        if (claim === null) return [];
        const { unbound, data } = claim === 'missing' ? { unbound: true, data: null } : projectClaim(claim);
        return unbound && data === null ? [ordinal] : [];
      }),
  );
  return found.flat();
}

/**
 * Reads what updates in place depend on. Resolves to a function that returns the facts for the controller's decision
 * with assumed settings. Without `recreatable`, every member is assumed to be recreatable. Rejects with `ApiError`.
 */
export async function observer(
  { api, world }: Session,
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  sources: SourcesOf,
  recreatable: ReadonlyMap<string, KnownRecreatable> | null = null,
  knownNodes?: KnownNodes,
  dataless: readonly number[] = [],
): Promise<ClusterObservation['observe']> {
  const seen = factsOf(objects, rollout, sources, world);
  const inPlace = await readInPlace(seen, nothingReadInPlace, api, world, 'haveImages');
  return (assumed) => factsOf(objects, rollout, sources, world, assumed, inPlace, recreatable, knownNodes, dataless);
}

/** Says which members could not be recreated, and why. */
export const obstaclesOf = ({ snapshot }: ObservedFacts): readonly string[] => snapshot.members.flatMap(obstacles);

/**
 * What a user should know about the mysqld versions of a cluster, in sentences without a full stop. Leaves out what the
 * message of the hold already says if `rule` is the rule of the hold.
 */
export function mysqldNotes(observed: ObservedFacts, rule: string | undefined): readonly string[] {
  const situation = survey(observed.snapshot, observed.policy);
  const isSaid = rule === 'VersionRefused' || rule === 'RedoLogOpen';
  return [
    ...(isSaid ? [] : versionWarnings(situation, memberName(observed))),
    ...differentBuilds(observed.objects.pods).map(explainBuilds),
  ];
}

/** Notes about a cluster that its status does not contain. Empty if the objects of the cluster cannot be read. */
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
 * The facts for the controller's decision. `assumed` replaces settings of the MySQLRollout. If the optional readings
 * are not given, members are assumed to need a new pod and to be recreatable. A flag of the controller is known only if
 * the status shows it. Facts that only the controller knows, or that require queries to Prometheus or replicas, are
 * assumed to block nothing.
 */
export function factsOf(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  settingsSources: SourcesOf,
  world: World,
  assumed: RolloutSpec = {},
  inPlace: InPlaceReadings = nothingReadInPlace,
  recreatable: ReadonlyMap<string, KnownRecreatable> | null = null,
  knownNodes: KnownNodes = new RecentNodes(world),
  dataless: readonly number[] = [],
): ObservedFacts {
  const { pods, statefulSet } = objects;
  const { strategy, updatesInPlace, nodeMaintenance, settings = {} } = rollout?.status ?? {};
  const atMilliseconds = world.monotonic();
  const revision = statefulSet?.updateRevision ?? '';
  const unread = { claimNames: [], claimUids: {}, tolerations: [], tolerationCount: 0, startedAt: null };
  const fine = { ...unread, revision, claims: [], tied: null, unjudged: null, refusal: null, atMilliseconds };
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
      nodeMaintenanceEnabled: nodeMaintenance !== undefined || assumed.nodeMaintenance !== undefined,
    },
    defaults: {
      policy: { ...defaultPolicy, ...(minReadySeconds !== undefined && { minReadySeconds }) },
      strategy: flagOf(settings.strategy) ?? builtInStrategy,
    },
    cache: { settingsSources, unavailable: new Map(), replicaClustersAt: () => [] },
    fleet: { factsFor: () => noFleet },
    knownNodes,
    checks: {
      factsFor: (_, checks) =>
        checks.map(({ name }) => ({ name, reading: { kind: 'passing' }, ageSeconds: 0, unknownForSeconds: 0 })),
    },
  };
  const assumedRollout = rollout && { ...rollout, spec: { ...rollout.spec, ...assumed } };
  // This function does not read the records on claims. It assumes that they agree with the pods or, for a member with a
  // mysqld that has not started, with the other members.
  const { lastRuns } = collectFacts(objects, assumedRollout, known, dependencies).snapshot;
  const earlier = lastRuns.find((one) => one.revision !== revision);
  const data = new Map(
    pods.map((pod) => {
      const { ordinal } = pod;
      const { image = null, version = null } = lastRuns.find((one) => one.ordinal === ordinal) ?? earlier ?? {};
      const killed = rollout?.status?.members?.find((one) => one.ordinal === ordinal)?.data?.killed === true;
      const record = { revision: pod.revision, image, version, ...(killed && { killed }) };
      return [ordinal, { record, claim: null, atMilliseconds, refusedAtMilliseconds: null }] as const;
    }),
  );
  const none = { record: null, claim: 'missing', atMilliseconds, refusedAtMilliseconds: null } as const;
  const withNone = new Map<number, KnownRecord>([
    ...data,
    ...dataless.map((ordinal): readonly [number, KnownRecord] => [ordinal, none]),
  ]);
  const withData = { ...known, answers: { ...known.answers, data: withNone } };
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

/** Kinds without which a decision is still possible, but less precise. */
const optionalKinds: ReadonlySet<ResourceKind> = new Set([policyKind, podDisruptionBudgets, jobs, namespaces]);

/**
 * Lists each kind that a decision needs, once and in all namespaces, into a cache like the controller's. `unread`
 * contains the kinds that the user may not read. Rejects with `ApiError` or `CommandError`.
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
    forEachCachedKind(cache, { keepsLivePods: true, leavingSigns: null }, async (cached) => {
      if (cached.kind !== clusterKind) await read(cached);
    }),
  );
  return { cache, unread: unread.toSorted() };
}
