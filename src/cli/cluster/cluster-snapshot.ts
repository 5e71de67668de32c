import type { MySQLRollout, RolloutSpec } from '../../api/rollout.ts';
import { policyKind, projectPolicy } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { builtInStrategy } from '../../api/settings.ts';
import { Cache } from '../../controller/cache/cache.ts';
import { type CachedKind, forEachCachedKind } from '../../controller/cache/cached-kinds.ts';
import { collectFacts, type Dependencies, type ObservedFacts } from '../../controller/facts/collect-facts.ts';
import { type InPlaceReadings, nothingReadInPlace } from '../../controller/facts/in-place-updates.ts';
import { type Memory, newMemory } from '../../controller/facts/memory.ts';
import type { StrategySettings } from '../../controller/facts/mode.ts';
import type { KnownComeback } from '../../controller/facts/readings.ts';
import type { DefaultSettings } from '../../controller/facts/settings-in-force.ts';
import { readComebacks } from '../../controller/reads/read-comebacks.ts';
import { readInPlace as readInPlaceOf } from '../../controller/reads/read-in-place.ts';
import { RecentNodes } from '../../controller/reads/read-node.ts';
import type { CheckFacts } from '../../core/on-demand-facts.ts';
import { defaultPolicy } from '../../core/policy.ts';
import { obstacles } from '../../core/rules/comeback.ts';
import { ApiError, isForbidden } from '../../kube/api-error.ts';
import {
  jobs,
  namespaces,
  persistentVolumeClaims,
  podDisruptionBudgets,
  type ResourceKind,
} from '../../kube/resource.ts';
import type { Stored } from '../../kube/store.ts';
import type { World } from '../../kube/world.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectBudget, projectNamespace, statefulSetName } from '../../moco/projections.ts';
import type { ClusterObjects, ClusterRecord } from '../../moco/records.ts';
import { CommandError } from '../command-error.ts';
import { clustersIn, ifThere, listAll, listEach, listIfThere } from './clusters.ts';
import type { Session } from './session.ts';

/** A cluster and its settings as they are now. */
export interface ClusterObservation {
  readonly rollout: MySQLRollout | null;
  /** `assumed` replaces settings of the MySQLRollout. */
  readonly observe: (assumed?: RolloutSpec) => ObservedFacts;
  /** What the user may not read and is left out. */
  readonly unread: readonly string[];
}

/** What is known of a cluster before its objects are read by name. */
export const nothingKnown = (cluster: ClusterRecord): ClusterObjects => ({
  cluster,
  statefulSet: null,
  pods: [],
  budgets: [],
  jobs: [],
  jobsUnreadable: null,
});

/** As if MOCO had just changed the pod template. */
export function withNewTemplate({ statefulSet, ...objects }: ClusterObjects): ClusterObjects {
  const updateRevision = `${statefulSetName(objects.cluster.name)}-assumed`;
  return { ...objects, statefulSet: statefulSet && { ...statefulSet, updateRevision } };
}

/**
 * Like `observeIfExists`, but throws `CommandError` if the cluster is gone. `change` makes of the objects what they
 * would be: then every member is assumed to come back.
 */
export async function observeCluster(
  session: Session,
  cluster: ClusterRecord,
  change: ((objects: ClusterObjects) => ClusterObjects) | null = null,
): Promise<ClusterObservation> {
  const observation = await observeIfExists(session, cluster, change);
  if (observation === null) throw new CommandError(`${cluster.namespace}/${cluster.name} has just been deleted`);
  return observation;
}

/** Reads everything that a decision needs, with the rights of the user. Rejects with `ApiError`. */
export async function observeIfExists(
  session: Session,
  cluster: ClusterRecord,
  change: ((objects: ClusterObjects) => ClusterObjects) | null = null,
): Promise<ClusterObservation | null> {
  const { api, world } = session;
  const { namespace } = cluster;
  const unread: string[] = [];
  const orLeaveOut = async (kind: ResourceKind, where: string | null): Promise<readonly Json[] | null> => {
    try {
      return await (kind === policyKind ? listIfThere(session, kind, where) : listAll(session, kind, where));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unread.push(kind.plural);
      return null;
    }
  };
  const [live, budgets, policies, own] = await Promise.all([
    api.readAll(nothingKnown(cluster)),
    orLeaveOut(podDisruptionBudgets, namespace),
    orLeaveOut(policyKind, null),
    namespaceOf(session, namespace),
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
  const inPlace = await readInPlace(session, factsOf(objects, rollout, sources, world, {}, nothingReadInPlace));
  const comebacks = change === null ? await comebacksOf(session, objects) : null;
  if (comebacks === null && change === null) unread.push(persistentVolumeClaims.plural);
  const observe = (assumed?: RolloutSpec): ObservedFacts =>
    factsOf(objects, rollout, sources, world, assumed, inPlace, comebacks);
  return { rollout, unread, observe };
}

/** Which members would not come back as what they are, and why. */
export function obstaclesOf({ snapshot }: ObservedFacts): readonly string[] {
  return snapshot.members.flatMap(obstacles);
}

/** The same of a cluster that is read for it. Empty if it can't be read. */
export async function obstacleNotes(session: Session, cluster: ClusterRecord): Promise<readonly string[]> {
  try {
    const observation = await observeIfExists(session, cluster);
    return observation === null ? [] : obstaclesOf(observation.observe());
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return [];
    throw error;
  }
}

type Comebacks = ReadonlyMap<string, KnownComeback>;

/** Whether members can come back; `null` if the user may not read that. Rejects with `ApiError`. */
async function comebacksOf({ api, world }: Session, objects: ClusterObjects): Promise<Comebacks | null> {
  const context = { api, world, mayLackNodes: true, mayLackCreate: true, nodes: new RecentNodes(world) };
  const nothing = { comebacks: new Map(), leavingNodes: new Map() };
  try {
    return (await readComebacks(objects.pods, objects, nothing, context)).comebacks;
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
}

/** What updates in place of a cluster depend on. Rejects with `ApiError`. */
export const readInPlace = (
  { api, world }: Session,
  facts: Pick<ObservedFacts, 'objects' | 'policy'>,
): Promise<InPlaceReadings> => readInPlaceOf(facts, nothingReadInPlace, api, world, 'haveImages');

type SourcesOf = Dependencies['cache']['settingsSources'];

/**
 * What the controller's decision would be made from. `assumed` replaces settings of the MySQLRollout. Without `inPlace`
 * every member is assumed to need another pod, and without `comebacks` to come back.
 */
export function factsOf(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  settingsSources: SourcesOf,
  world: World,
  assumed: RolloutSpec = {},
  inPlace: InPlaceReadings | null = null,
  comebacks: Comebacks | null = null,
): ObservedFacts {
  const strategies = strategiesOf(rollout?.status, objects.statefulSet?.labelled === true, assumed);
  return collectFacts(
    objects,
    rollout && { ...rollout, spec: { ...rollout.spec, ...assumed } },
    knownOf(objects, inPlace ?? nothingReadInPlace, comebacks, world),
    {
      world,
      strategies: { ...strategies, inPlaceEnabled: strategies.inPlaceEnabled && inPlace !== null },
      defaults: defaultsOf(rollout?.status),
      cache: { settingsSources, unavailable: new Map() },
      // What only the controller knows is assumed not to block anything.
      fleet: {
        factsFor: () => ({
          fleetWaits: [],
          fleetQueue: null,
          fleetInterval: null,
          laterStageWaits: false,
          unobservedEvictions: 0,
        }),
      },
      checks: { factsFor: (_, checks) => checks.map(passing) },
    },
  );
}

/** Only the controller asks Prometheus. */
const passing = ({ name }: { readonly name: string }): CheckFacts => ({
  name,
  reading: { kind: 'passing' },
  ageSeconds: 0,
  unknownForSeconds: 0,
});

/**
 * What a controller knows that has just started. Only a controller asks replicas how far they are behind. Members are
 * assumed to come back where nobody has read that.
 */
function knownOf(
  { pods, statefulSet }: ClusterObjects,
  inPlace: InPlaceReadings,
  comebacks: Comebacks | null,
  world: World,
): Memory {
  const atMilliseconds = world.monotonic();
  const revision = statefulSet?.updateRevision ?? '';
  const fine = { revision, claimNames: [], tolerations: [], claims: [], tied: null, refusal: null, atMilliseconds };
  const delay = { reading: { kind: 'delay', seconds: 0 }, atMilliseconds, unknownSinceMilliseconds: null } as const;
  return newMemory(world, {
    inPlace,
    comebacks: new Map(pods.map(({ uid }) => [uid, comebacks?.get(uid) ?? fine])),
    replicationDelays: new Map(pods.map(({ uid }) => [uid, delay])),
  });
}

/** Without the right to read the namespace, its labels are unknown. */
async function namespaceOf({ client, signal }: Session, name: string): Promise<Json | null> {
  try {
    return await client.get<Json>(namespaces, { name }, { priority: 'read', signal });
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
}

/** The controller's flags as far as its status shows them. */
function strategiesOf(
  { strategy, updatesInPlace }: RolloutStatus = {},
  labelled: boolean,
  { strategy: assumed }: RolloutSpec,
): StrategySettings {
  const onDelete = strategy === undefined ? labelled : strategy === 'OnDelete';
  return {
    onDeleteEnabled: onDelete || assumed === 'OnDelete',
    partitionDriver: strategy === 'Partition' ? 'own' : 'moco',
    inPlaceEnabled: updatesInPlace === true,
  };
}

function defaultsOf({ settings: { strategy, minReadySeconds } = {} }: RolloutStatus = {}): DefaultSettings {
  const isFlag = (setting: { readonly source: string } | undefined) => setting?.source.startsWith('flag') === true;
  return {
    policy: { ...defaultPolicy, ...(isFlag(minReadySeconds) && { minReadySeconds: minReadySeconds?.value ?? 0 }) },
    strategy: (isFlag(strategy) ? strategy?.value : undefined) ?? builtInStrategy,
  };
}

/** The objects of all clusters, as the controller's cache has them. */
export interface FleetObjects {
  readonly cache: Cache;
  /** Kinds that the user may not read and that are left out. */
  readonly unread: readonly string[];
}

/** Kinds without which a decision is only less exact. */
const optional: ReadonlySet<ResourceKind> = new Set([policyKind, podDisruptionBudgets, jobs, namespaces]);

/** Lists every kind that a decision needs once, in all namespaces. Rejects with `ApiError` or `CommandError`. */
export async function readFleet(session: Session): Promise<FleetObjects> {
  const cache = new Cache();
  const unread: string[] = [];
  const read = async <R extends Stored>({ kind, labelSelector, store, project }: CachedKind<R>): Promise<void> => {
    const list = listEach(session, kind, null, labelSelector === undefined ? {} : { labelSelector }, project);
    try {
      const found = await (kind.group === sequenceKind.group ? ifThere(list) : list);
      for (const record of found ?? []) if (record !== null) store.put(record);
    } catch (error) {
      if (!(optional.has(kind) && isForbidden(error))) throw error;
      unread.push(kind.plural);
    }
  };
  for (const cluster of await clustersIn(session, null)) cache.clusters.put(cluster);
  await Promise.all(
    forEachCachedKind(cache, true, async (cached) => {
      if (cached.kind !== clusterKind) await read(cached);
    }),
  );
  return { cache, unread: unread.toSorted() };
}
