import { Registry } from 'prom-client';
import { type MySQLRollout, type RolloutSpec, rolloutKind, wholeRecord } from '../../src/api/rollout.ts';
import { policyKind, projectPolicy } from '../../src/api/rollout-policy.ts';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import { timestampOf } from '../../src/base/json.ts';
import { WatchedNodes } from '../../src/controller/facts/known-nodes.ts';
import { Fleet, type FleetLimits, noFleetLimits } from '../../src/controller/fleet/fleet-limits.ts';
import { followFleet } from '../../src/controller/fleet/follow-fleet.ts';
import { Checks } from '../../src/controller/questions/checks.ts';
import { RecentNodes } from '../../src/controller/questions/recent-nodes.ts';
import { Reconciler } from '../../src/controller/reconciler.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { Standings } from '../../src/evictions/standings.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import type { Occurrence } from '../../src/kube/event.ts';
import { jobs, nodes, podDisruptionBudgets, pods, type ResourceKind, statefulSets } from '../../src/kube/resource.ts';
import { keyOf, type Store, type Stored } from '../../src/kube/store.ts';
import type { RunResult } from '../../src/kube/work-queue.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { usualSigns } from '../../src/moco/node-maintenance.ts';
import { projectPod, projectSlimPod } from '../../src/moco/pod-projection.ts';
import {
  projectBudget,
  projectCluster,
  projectJob,
  projectNode,
  projectStatefulSet,
} from '../../src/moco/projections.ts';
import { Cache } from '../../src/objects/cache.ts';
import { RolloutMetrics } from '../../src/telemetry/rollout-metrics.ts';
import { CheckMetrics } from '../../src/telemetry/runtime-metrics.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { FakeWorld } from '../kube/fake-world.ts';
import { FakeMembers, FakeMoco, FakeMysql, FakePrometheus, FakeReplicas } from './fake-servers.ts';
import { containersOf, type PodOptions, pod, revisionAfter } from './moco-objects.ts';
import { ObjectServer, type Patch, type Raw, type Write } from './object-server.ts';
import { addWholeCluster, type WholeCluster } from './whole-clusters.ts';

export const key = keyOf('default', 'test');
export const member = (ordinal: number): string => `moco-test-${ordinal}`;

type Kind = 'clusters' | 'rollouts' | 'statefulSets' | 'pods' | 'budgets' | 'jobs' | 'nodes';

/** What a process runs beside. */
export interface Surroundings {
  readonly world: FakeWorld;
  readonly server: ObjectServer;
  readonly replicas: FakeReplicas;
  readonly members: FakeMembers;
  readonly moco?: FakeMoco;
  readonly mysql: FakeMysql;
  readonly prometheus: FakePrometheus;
}

interface ProcessOptions {
  readonly qps?: number;
  readonly burst?: number;
  readonly mayLackNodes?: boolean;
  readonly triesPods?: boolean;
  readonly inPlaceEnabled?: boolean;
  /** The feature gate `NodeMaintenance` is on, so that nodes are watched. */
  readonly nodeMaintenanceEnabled?: boolean;
  /** The feature gate `ReplicationFacts` is on. */
  readonly asksMysql?: boolean;
}

/** One run of the program: what it has seen, and what it remembers. */
export class Process {
  readonly cache = new Cache();
  readonly fleet: Fleet;
  readonly events: Occurrence[] = [];
  readonly log = new FakeLog();
  readonly registry = new Registry();
  /** Where members stand whose eviction was requested. */
  readonly standings = new Standings(() => undefined);
  isLeading = true;
  readonly reconciler: Reconciler;
  readonly #bench: Surroundings;
  readonly #inPlaceEnabled: boolean;

  /** Called with clusters that may begin now, and with those whose checks have an answer. */
  wake: (key: string) => void = () => undefined;

  constructor(
    bench: Surroundings,
    holder: string,
    { mode = 'OnDelete', ...settings }: Partial<RolloutPolicy>,
    limits: FleetLimits,
    {
      mayLackNodes = false,
      triesPods = true,
      inPlaceEnabled = true,
      nodeMaintenanceEnabled = true,
      asksMysql = false,
      ...rate
    }: ProcessOptions = {},
  ) {
    this.#bench = bench;
    this.#inPlaceEnabled = inPlaceEnabled;
    const { world } = bench;
    this.fleet = new Fleet(limits, world, (key) => this.wake(key));
    followFleet(this.cache, this.fleet);
    const nodesRead = new RecentNodes(world);
    this.reconciler = new Reconciler({
      cache: this.cache,
      fleet: this.fleet,
      strategies: {
        onDeleteEnabled: mode === 'OnDelete',
        partitionDriver: mode === 'Partition' ? 'own' : 'moco',
        inPlaceEnabled,
        nodeMaintenanceEnabled,
      },
      client: new ApiClient({ world, qps: 1e6, burst: 1e6, ...rate }),
      delays: bench.replicas,
      members: bench.members,
      mysql: asksMysql ? bench.mysql : undefined,
      mayLackNodes,
      triesPods,
      confirmationTimeoutMilliseconds: 2000,
      nodes: nodesRead,
      standings: this.standings,
      knownNodes: nodeMaintenanceEnabled ? new WatchedNodes(this.cache, world, usualSigns) : nodesRead,
      checks: new Checks(bench.prometheus.read, world, new CheckMetrics(this.registry), (key) => this.wake(key)),
      moco: bench.moco ?? new FakeMoco(world),
      world,
      log: this.log,
      defaults: { policy: { ...defaultPolicy, minReadySeconds: 0, ...settings }, strategy: 'OnDelete' },
      recorder: { record: (occurrence) => void this.events.push(occurrence) },
      metrics: new RolloutMetrics(this.registry, true),
      holder,
      isLeading: () => this.isLeading,
    });
  }

  /** The watches bring everything but what is named. */
  sync(...behind: readonly Kind[]): void {
    const { server } = this.#bench;
    const bring = <R extends Stored>(
      name: Kind,
      kind: ResourceKind,
      store: Store<R>,
      project: (raw: Patch) => R | null,
    ): void => {
      if (behind.includes(name)) return;
      const records = server
        .all(kind)
        .map(project)
        .filter((record) => record !== null);
      for (const { namespace, name } of store.values()) {
        if (!records.some((record) => record.name === name)) store.remove(namespace, name);
      }
      for (const record of records) {
        const known = store.get(record.namespace, record.name);
        if (known?.uid !== record.uid || known.resourceVersion !== record.resourceVersion) store.put(record);
      }
    };
    bring('clusters', clusterKind, this.cache.clusters, projectCluster);
    bring('statefulSets', statefulSets, this.cache.statefulSets, projectStatefulSet);
    bring('pods', pods, this.cache.pods, this.#inPlaceEnabled ? projectPod : projectSlimPod);
    bring('budgets', podDisruptionBudgets, this.cache.budgets, projectBudget);
    bring('nodes', nodes, this.cache.nodes, (raw) => projectNode(raw, usualSigns));
    bring('jobs', jobs, this.cache.jobs, projectJob);
    bring('rollouts', rolloutKind, this.cache.rollouts, (raw) => wholeRecord(raw as unknown as MySQLRollout));
  }

  /** One pass over what has been brought so far. Rejects as the reconciler does. */
  pass(of = key): Promise<RunResult> {
    this.#bench.world.chance = (this.#bench.world.chance * 7 + 0.123) % 1;
    return this.reconciler.reconcile(of, new AbortController().signal);
  }

  /** The watches bring everything, and one pass goes over it. */
  turn(): Promise<RunResult> {
    this.sync();
    return this.pass();
  }

  /** Brings everything and passes, again and again as it is asked for, until nothing is written any more. */
  async work(): Promise<void> {
    const mostPasses = 50;
    for (let passes = 0, quiet = 0; quiet < 2; passes += 1) {
      if (passes === mostPasses) throw new Error(`expected it to come to rest within ${mostPasses} passes`);
      this.sync();
      const writes = this.#bench.server.writes.length;
      const { requeueAfterMilliseconds } = await this.pass();
      quiet = this.#bench.server.writes.length === writes ? quiet + 1 : 0;
      this.#bench.world.freeze(Math.min(requeueAfterMilliseconds ?? 500, 1000));
    }
  }

  async workAfter(milliseconds: number): Promise<void> {
    this.#bench.world.freeze(milliseconds);
    await this.work();
  }

  /** Works until everything is told, what comes late included. */
  async reportAll(): Promise<void> {
    await this.work();
    await this.workAfter(10_000);
  }
}

/** A cluster of three on an API server in memory, whose clock stands still until told to go on. */
export class Bench {
  readonly world = new FakeWorld((request) => this.server.exchange(request));
  readonly server = new ObjectServer(() => this.world.wall());
  readonly replicas = new FakeReplicas();
  readonly members = new FakeMembers();
  moco = new FakeMoco(this.world);
  readonly mysql = new FakeMysql();
  readonly prometheus = new FakePrometheus();
  #processes = 0;

  /** Every member is stale unless told otherwise. */
  constructor(options: Pick<WholeCluster, 'stale' | 'replicas' | 'rollout'> = {}) {
    addWholeCluster(this.server, { name: 'test', ...options });
  }

  get now(): string {
    return timestampOf(this.world.wall());
  }

  /** The program is started, another time each time. */
  start(settings: Partial<RolloutPolicy> = {}, limits = noFleetLimits, options: ProcessOptions = {}): Process {
    this.#processes += 1;
    return new Process(this, `process-${this.#processes}`, settings, limits, options);
  }

  /** Started, and done with all that there is to do at first. */
  async started(...given: Parameters<Bench['start']>): Promise<Process> {
    const program = this.start(...given);
    await program.work();
    return program;
  }

  /** The same with the feature gate ReplicationFacts. */
  startAsking(settings: Partial<RolloutPolicy> = {}): Process {
    return this.start(settings, noFleetLimits, { asksMysql: true });
  }

  get status(): RolloutStatus {
    return this.server.find(rolloutKind, 'test')?.['status'] ?? {};
  }

  /** A setting of the user. */
  setting(spec: RolloutSpec): void {
    this.server.change(rolloutKind, 'test', { spec });
  }

  /** What was written to pods and the StatefulSet and carried out, in the words of the procedure. */
  get steps(): readonly string[] {
    return this.server.writes.filter(({ status }) => status < 300).flatMap(stepOf);
  }

  /** Has a new pod made in the place of one that was terminating. */
  replace(ordinal: number, options: PodOptions = {}): void {
    this.server.remove(pods, member(ordinal));
    this.server.create(pods, pod(ordinal, { revision: revisionAfter, at: this.now, ...options }));
  }

  /** What mysqld of a member does from now on. */
  mysqld(ordinal: number, does: Parameters<typeof containersOf>[0]): void {
    this.server.change(pods, member(ordinal), { status: containersOf(does, this.now) });
  }

  changePod(ordinal: number, patch: Patch): void {
    this.server.change(pods, member(ordinal), patch);
  }

  removePod(ordinal: number): void {
    this.server.remove(pods, member(ordinal));
  }

  changeRollout(patch: Patch): void {
    this.server.change(rolloutKind, 'test', patch);
  }

  changeCluster(patch: Patch): void {
    this.server.change(clusterKind, 'test', patch);
  }

  /** Each member is on a node of its own, `n-0` to `n-2`, and there is one more. */
  spread(): void {
    for (const ordinal of [0, 1, 2, 3]) {
      const name = `n-${ordinal}`;
      const labels = { 'kubernetes.io/hostname': name };
      if (ordinal < 3) this.changePod(ordinal, { spec: { nodeName: name } });
      if (ordinal > 0) this.server.create(nodes, { metadata: { namespace: '', name, labels } });
    }
  }

  /** Cordons the node of a member that is spread, or uncordons it. */
  cordon(ordinal: number, unschedulable = true): void {
    this.server.change(nodes, `n-${ordinal}`, { spec: { unschedulable } }, '');
  }

  /** It follows partitions, and was never adopted. */
  atPartition(partition: number): void {
    this.changeStatefulSet({
      metadata: { labels: { 'moco-rollout.io/strategy': null } },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } },
    });
  }

  changeStatefulSet(patch: Patch): void {
    this.server.change(statefulSets, 'moco-test', patch);
  }
}

/** A cluster of three stale members, and the program at it. */
export function begin(...given: Parameters<Bench['start']>): readonly [Bench, Process] {
  const bench = new Bench();
  return [bench, bench.start(...given)];
}

/** The same, done with all that there is to do at first. */
export async function atWork(...given: Parameters<Bench['start']>): Promise<readonly [Bench, Process]> {
  const [bench, program] = begin(...given);
  await program.work();
  return [bench, program];
}

/** A policy, for every cluster unless its selector says otherwise, in the API server and in the cache. */
export function withPolicy(bench: Bench, program: Process, spec: object, name = 'all'): Raw {
  const raw = bench.server.create(policyKind, { metadata: { name, namespace: undefined }, spec });
  program.cache.policies.put(projectPolicy(raw));
  return raw;
}

interface UpdateStrategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly partition?: number } | null;
}

function stepOf({ method, path, body }: Write): readonly string[] {
  const ordinal = /\/pods\/moco-test-(\d+)/.exec(path)?.[1];
  if (ordinal !== undefined) {
    if (method === 'DELETE') return [`delete ${ordinal}`];
    if (path.endsWith('/resize')) return [`resize ${ordinal}`];
    if (path.endsWith('/eviction')) return [`evict ${ordinal}`];
    const annotations = body.metadata.annotations ?? {};
    if (path.includes('dryRun')) return [];
    if ('moco-rollout.io/invalidated-intent' in annotations) return [`void ${ordinal}`];
    if (body.metadata.labels?.['controller-revision-hash'] !== undefined) return [`in place ${ordinal}`];
    return [annotations['moco.cybozu.com/demote'] === 'true' ? `demote ${ordinal}` : `undemote ${ordinal}`];
  }
  if (!path.includes('/statefulsets/')) return [];
  if (path.includes('dryRun')) return [];
  if (path.endsWith('/status')) return ['promoteRevision'];
  if ('moco-rollout.io/invalidated-intent' in (body.metadata.annotations ?? {})) return ['void'];
  const { updateStrategy } = (body['spec'] ?? {}) as { updateStrategy?: UpdateStrategy };
  if (body.metadata.labels?.['moco-rollout.io/strategy'] === null) return ['release'];
  const newPods = body.metadata.labels?.['moco-rollout.io/new-pods'];
  if (newPods === 'CurrentRevision') return ['keepRevisions'];
  if (newPods === null && updateStrategy === undefined) return ['undo keepRevisions'];
  const partition = updateStrategy?.rollingUpdate?.partition;
  return [partition === undefined ? 'setStrategy' : `setPartition ${partition}`];
}

/** One pass a second; resolves to the seconds at which `count` had become more. */
export async function secondsOf(
  bench: Bench,
  program: Process,
  seconds: number,
  count: () => number,
): Promise<number[]> {
  const found: number[] = [];
  for (let second = 0; second <= seconds; second += 1) {
    const before = count();
    await program.turn();
    if (count() > before) found.push(second);
    bench.world.freeze(1000);
  }
  return found;
}

/** So many passes over what the watches have delivered by then, so many seconds apart. */
export async function passes(bench: Bench, program: Process, times: number, apartSeconds = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await program.turn();
    bench.world.freeze(apartSeconds * 1000);
  }
}
