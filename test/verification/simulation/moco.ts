import { path } from '../../../src/kube/resource.ts';
import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { ApiAnswer } from '../../support/api-server/api-answer.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { ClusterManager } from '../../support/moco/cluster-manager.ts';
import { reconciledStatus } from '../../support/moco/cluster-status.ts';
import type { ClusterView } from '../../support/moco/cluster-view.ts';
import { clusteringStep } from '../../support/moco/clustering.ts';
import { type ClusteringMind, freshMind } from '../../support/moco/clustering-mind.ts';
import { acceptsCommits } from '../../support/moco/databases.ts';
import { type Faults, noFaults } from '../../support/moco/faults.ts';
import { storageClasses, writtenKinds } from '../../support/moco/kinds.ts';
import { mocoManager, prefixedName } from '../../support/moco/names.ts';
import type { Pod } from '../../support/moco/objects.ts';
import { lowerPartition } from '../../support/moco/partition.ts';
import { mysqldReady } from '../../support/moco/readiness.ts';
import { reconcile } from '../../support/moco/reconcile.ts';
import { same } from '../../support/moco/same.ts';
import type { Settings } from '../../support/moco/settings.ts';
import type { Patch, Write, WrittenKind } from '../../support/moco/write.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';

const actor = mocoManager;
const quickestMilliseconds = 3;
const slowestMilliseconds = 60;
const retryMilliseconds = 200;

type LoopName = 'reconcile' | 'clustering' | 'partition';

export interface MocoOptions {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly settings: Settings;
  readonly wall: () => number;
  readonly namespace: string;
  readonly clusterName: string;
  /** With its own partition controller. */
  readonly lowersPartitions: boolean;
  /** Told when the answers of `mysqldReady` may have changed. */
  readonly onDatabasesChange: () => void;
}

/** MOCO for one cluster: the pure functions of `test/support/moco` over what the store has, their writes performed at once. */
export class Moco {
  readonly #options: MocoOptions;
  readonly #pending = new Map<LoopName, { readonly atMilliseconds: number; readonly cancel: () => void }>();
  #mind: ClusteringMind = freshMind;
  #mindOf = '';
  #seen: { readonly revision: number; readonly view: ClusterView | null } = { revision: 0, view: null };
  #faults: Faults = noFaults;
  #lagsSinceMilliseconds = 0;
  readonly #manager = new ClusterManager();
  #settings: Settings;
  #running = true;
  #otherReplica = true;
  /** How many processes of it there have been. */
  lives = 0;

  constructor(options: MocoOptions) {
    this.#options = options;
    this.#settings = options.settings;
    options.server.store.subscribe(({ kind, object }) => {
      const name = kindNames.get(kind.plural);
      const { namespace = '', labels } = object.metadata;
      const clusterName = name === 'MySQLCluster' ? object.metadata.name : labels?.[clusterNameLabel];
      if (name !== undefined && namespace === options.namespace && clusterName === options.clusterName) {
        this.#changed(name);
      }
    });
  }

  mysqldReady(pod: Pod): boolean {
    const view = this.#view();
    return view !== null && mysqldReady(view, this.#mind, this.#faults, pod);
  }

  /** A commit on the primary is answered. */
  get acceptsCommits(): boolean {
    return acceptsCommits(this.#mind.databases, this.#faults);
  }

  /** A replica has restarted with a backlog, and its threads stay stopped until MOCO starts them again. */
  get hasStoppedThreads(): boolean {
    return this.#mind.databases.some(({ backlog }) => backlog === 'stopped');
  }

  /** By which the member lags, and since when. */
  lagOf(ordinal: number): { readonly seconds: number; readonly sinceMilliseconds: number } {
    return { seconds: this.#faults.lagSeconds[ordinal] ?? 0, sinceMilliseconds: this.#lagsSinceMilliseconds };
  }

  setFaults(faults: Partial<Faults>): void {
    if (faults.lagSeconds !== undefined) this.#lagsSinceMilliseconds = this.#options.clock.nowMilliseconds;
    this.#faults = { ...this.#faults, ...faults };
    this.#options.onDatabasesChange();
    this.#soon('clustering');
  }

  /** moco-controller comes up again with another agent for every pod. */
  upgradeAgent(agentImage: string): void {
    this.#settings = { ...this.#settings, agentImage };
    this.#soon('reconcile');
  }

  get faults(): Faults {
    return this.#faults;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Nothing is wrong but with the members. */
  get isUntroubled(): boolean {
    return same(this.#faults, noFaults);
  }

  /** Another replica of moco-controller may do so while the leader is down. */
  get answersWebhooks(): boolean {
    return this.#running || this.#otherReplica;
  }

  /**
   * Kills moco-controller: nothing is read. Its current activity and the managed clusters are forgotten; MySQL keeps
   * running.
   */
  stop({ otherReplica }: { readonly otherReplica: boolean }): void {
    this.#running = false;
    this.#otherReplica = otherReplica;
    for (const { cancel } of this.#pending.values()) cancel();
    this.#pending.clear();
    this.#manager.stopAll();
    this.#mind = { ...this.#mind, activity: freshMind.activity };
  }

  /** Clustering follows the first reconciliation that succeeds. */
  start(): void {
    this.#running = true;
    this.lives += 1;
    this.#soon('reconcile');
    this.#soon('partition');
  }

  #changed(kind: WrittenKind): void {
    if (kind === 'StatefulSet' || kind === 'Pod') this.#soon('partition');
    if (kind !== 'Pod') this.#soon('reconcile');
    this.#soon('clustering');
  }

  #soon(loop: LoopName): void {
    this.#plan(loop, this.#options.chance.between(quickestMilliseconds, slowestMilliseconds));
  }

  /** The earliest of the times that a loop was asked for. */
  #plan(loop: LoopName, milliseconds: number): void {
    if (!this.#running || (loop === 'partition' && !this.#options.lowersPartitions)) return;
    const { clock } = this.#options;
    const atMilliseconds = clock.nowMilliseconds + milliseconds;
    const planned = this.#pending.get(loop);
    if (planned !== undefined && planned.atMilliseconds <= atMilliseconds) return;
    planned?.cancel();
    const cancel = clock.after(milliseconds, () => {
      this.#pending.delete(loop);
      const again = this.#look(loop);
      if (again !== null) this.#plan(loop, Math.max(1, again));
    });
    this.#pending.set(loop, { atMilliseconds, cancel });
  }

  /** Milliseconds after which to run again; `null`: only after a change. */
  #look(loop: LoopName): number | null {
    const view = this.#view();
    if (view === null) return null;
    switch (loop) {
      case 'reconcile':
        return this.#reconcile(view) ? null : retryMilliseconds;
      case 'clustering':
        return this.#manager.isClustering(view.cluster.metadata.uid) ? this.#cluster(view) : null;
      case 'partition': {
        const look = lowerPartition(view, this.#options.settings.partition, this.#options.wall());
        if (look.write !== null && !this.#perform([look.write])) return retryMilliseconds;
        return look.requeueAfterMilliseconds;
      }
    }
  }

  #reconcile(view: ClusterView): boolean {
    const { wall } = this.#options;
    const { writes, endsWithStatus, clustering } = reconcile(view, this.#settings, wall());
    const done = this.#perform(writes);
    if (done && this.#manager.change(view.cluster.metadata.uid, clustering)) this.#soon('clustering');
    if (!endsWithStatus) return done;
    const latest = this.#view()?.cluster ?? view.cluster;
    const cluster = latest.metadata.generation === view.cluster.metadata.generation ? latest : view.cluster;
    const status = reconciledStatus({ ...view, cluster }, done, wall());
    return (status === null || this.#perform([status])) && done;
  }

  #cluster(view: ClusterView): number | null {
    const { clock, settings, wall, onDatabasesChange } = this.#options;
    const { uid } = view.cluster.metadata;
    if (this.#mindOf !== uid) this.#mind = freshMind;
    this.#mindOf = uid;
    const now = { monotonicMilliseconds: clock.nowMilliseconds, wallMilliseconds: wall() };
    const before = this.#mind;
    const step = clusteringStep(view, before, now, settings.clustering, this.#faults);
    if (!this.#perform(step.writes)) return retryMilliseconds;
    this.#mind = step.mind;
    if (!same(step.mind.databases, before.databases)) onDatabasesChange();
    return step.requeueAfterMilliseconds;
  }

  /** In order, up to the first that is refused. */
  #perform(writes: readonly Write[]): boolean {
    return writes.every((write) => this.#write(write).code < 300);
  }

  #write(write: Write): ApiAnswer {
    const { server } = this.#options;
    const kind = writtenKinds[write.kind];
    const target = path(kind, write);
    const query = new URLSearchParams({ fieldManager: mocoManager });
    switch (write.verb) {
      case 'apply': {
        const contentType = 'application/apply-patch+yaml';
        return server.handle({ method: 'PATCH', path: target, query, contentType, body: write.body, actor });
      }
      case 'patch':
        return server.handle({ method: 'PATCH', path: target, query, body: bodyOf(write), actor });
      case 'replaceStatus':
        return server.handle({ method: 'PUT', path: `${target}/status`, query, body: write.body, actor });
      case 'delete': {
        const body = { propagationPolicy: write.orphan ? 'Orphan' : 'Background' };
        const gone = server.handle({ method: 'DELETE', path: target, body, actor });
        return gone.code === 404 ? { ...gone, code: 200 } : gone;
      }
    }
  }

  /** The same until something is written. */
  #view(): ClusterView | null {
    const { revision } = this.#options.server.store;
    if (this.#seen.revision !== revision) this.#seen = { revision, view: this.#freshView() };
    return this.#seen.view;
  }

  #freshView(): ClusterView | null {
    const { server, namespace, clusterName } = this.#options;
    const { store } = server;
    const name = prefixedName(clusterName);
    const cluster = store.get(writtenKinds.MySQLCluster, namespace, clusterName);
    if (cluster === null) return null;
    const own = (kind: WrittenKind): readonly unknown[] =>
      store
        .all(writtenKinds[kind])
        .filter(
          ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[clusterNameLabel] === clusterName,
        );
    const named = (kind: WrittenKind): unknown => store.get(writtenKinds[kind], namespace, name);
    return {
      cluster,
      statefulSet: named('StatefulSet'),
      pods: own('Pod'),
      services: own('Service'),
      serviceAccount: named('ServiceAccount'),
      budget: named('PodDisruptionBudget'),
      backupCronJob: own('CronJob')[0] ?? null,
      claims: own('PersistentVolumeClaim'),
      storageClasses: store.all(storageClasses),
    } as unknown as ClusterView;
  }
}

const kindNames: ReadonlyMap<string, WrittenKind> = new Map(
  Object.entries(writtenKinds).map(([name, kind]) => [kind.plural, name as WrittenKind]),
);

function bodyOf({ body, uid }: Patch): Readonly<Record<string, unknown>> {
  return uid === null ? body : { ...body, metadata: { ...record(body['metadata']), uid } };
}
