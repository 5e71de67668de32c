import { clusterNameLabel } from '../../../src/moco/names.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import { carryOutAtOnce } from '../../support/carry-out.ts';
import { type ClusterView, type ObjectOf, viewOf } from '../../support/moco/cluster-view.ts';
import { acceptsCommits, type Database } from '../../support/moco/databases.ts';
import { type Faults, noFaults } from '../../support/moco/faults.ts';
import { storageClasses, writtenKinds } from '../../support/moco/kinds.ts';
import { Looks, type LoopName, wokenBy } from '../../support/moco/looks.ts';
import { mocoManager } from '../../support/moco/names.ts';
import type { Pod } from '../../support/moco/objects.ts';
import { requestOf } from '../../support/moco/perform.ts';
import { same } from '../../support/moco/same.ts';
import type { Settings } from '../../support/moco/settings.ts';
import type { Write, WrittenKind } from '../../support/moco/write.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';

const actor = mocoManager;
const quickestMilliseconds = 3;
const slowestMilliseconds = 60;
const retryMilliseconds = 200;
const renewMilliseconds = 2000;
/** `--check-interval` of moco-controller. */
const tickMilliseconds = 60_000;

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

/** MOCO for one cluster: the loops of `test/support/moco` over what the store has, their writes performed at once. */
export class Moco {
  readonly #options: MocoOptions;
  readonly #pending = new Map<LoopName, { readonly atMilliseconds: number; readonly cancel: () => void }>();
  #seen: { readonly revision: number; readonly view: ClusterView | null } = { revision: 0, view: null };
  #lagsSinceMilliseconds = 0;
  readonly #looks: Looks;
  #settings: Settings;
  #running = true;
  #stoppedAtMilliseconds = 0;
  #otherReplica = true;
  /** Since when each of them cannot be reached, by ordinal. */
  unreachedSince: ReadonlyMap<number, number> = new Map();
  /** How many processes of it there have been. */
  lives = 0;

  constructor(options: MocoOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#looks = new Looks({
      view: () => this.#view(),
      now: () => ({ monotonicMilliseconds: options.clock.nowMilliseconds, wallMilliseconds: options.wall() }),
      settings: () => this.#settings,
      onDatabasesChange: options.onDatabasesChange,
      onClusteringUpdate: () => this.#soon('cluster'),
    });
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
    return this.#looks.mysqldReady(pod);
  }

  get #databases(): readonly Database[] {
    return this.#looks.mindOf(this.#options.namespace, this.#options.clusterName).databases;
  }

  /** A commit on the primary is answered. */
  get acceptsCommits(): boolean {
    return acceptsCommits(this.#databases, this.faults);
  }

  /** A replica has restarted with a backlog, and its threads stay stopped until MOCO starts them again. */
  get hasStoppedThreads(): boolean {
    return this.#databases.some(({ backlog }) => backlog === 'stopped');
  }

  /** By which the member lags, and since when. */
  lagOf(ordinal: number): { readonly seconds: number; readonly sinceMilliseconds: number } {
    return { seconds: this.faults.lagSeconds[ordinal] ?? 0, sinceMilliseconds: this.#lagsSinceMilliseconds };
  }

  #noteUnreached(ordinals: readonly number[]): void {
    const now = this.#options.clock.nowMilliseconds;
    this.unreachedSince = new Map(ordinals.map((ordinal) => [ordinal, this.unreachedSince.get(ordinal) ?? now]));
  }

  /** The loss of contact with members wakes no loop: without an event, MOCO looks once a minute. */
  loseContact(ordinals: readonly number[]): void {
    this.#noteUnreached(ordinals);
    this.#looks.changeFaults(this.#options.namespace, this.#options.clusterName, { unreachable: ordinals });
    this.#options.onDatabasesChange();
    this.#plan('cluster', this.#options.chance.between(quickestMilliseconds, tickMilliseconds));
  }

  setFaults(faults: Partial<Faults>): void {
    if (faults.unreachable !== undefined) this.#noteUnreached(faults.unreachable);
    if (faults.lagSeconds !== undefined) this.#lagsSinceMilliseconds = this.#options.clock.nowMilliseconds;
    this.#looks.changeFaults(this.#options.namespace, this.#options.clusterName, faults);
    this.#options.onDatabasesChange();
    this.#soon('cluster');
  }

  /** moco-controller comes up again with another agent for every pod. */
  upgradeAgent(agentImage: string): void {
    this.#settings = { ...this.#settings, agentImage };
    this.#soon('reconcile');
  }

  get faults(): Faults {
    return this.#looks.faultsOf(this.#options.namespace, this.#options.clusterName);
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Since when no process of it runs. `null` while one does. */
  get awaySinceMilliseconds(): number | null {
    return this.#running ? null : this.#stoppedAtMilliseconds;
  }

  /** When its leader last renewed its Lease: every two seconds, as controller-runtime does. */
  get renewal(): string {
    const at = this.#running ? this.#options.clock.nowMilliseconds : this.#stoppedAtMilliseconds;
    return `${this.lives} ${Math.floor(at / renewMilliseconds)}`;
  }

  /** Nothing is wrong but with the members. */
  get isUntroubled(): boolean {
    return same(this.faults, noFaults);
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
    this.#stoppedAtMilliseconds = this.#options.clock.nowMilliseconds;
    this.#otherReplica = otherReplica;
    for (const { cancel } of this.#pending.values()) cancel();
    this.#pending.clear();
    this.#looks.forget();
  }

  /** Clustering follows the first reconciliation that succeeds. */
  start(): void {
    this.#running = true;
    this.lives += 1;
    this.#soon('reconcile');
    this.#soon('lowerPartition');
  }

  #changed(kind: WrittenKind): void {
    for (const loop of wokenBy(kind)) this.#soon(loop);
  }

  #soon(loop: LoopName): void {
    this.#plan(loop, this.#options.chance.between(quickestMilliseconds, slowestMilliseconds));
  }

  /** The earliest of the times that a loop was asked for. */
  #plan(loop: LoopName, milliseconds: number): void {
    if (!this.#running || (loop === 'lowerPartition' && !this.#options.lowersPartitions)) return;
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
    const { namespace, clusterName } = this.#options;
    const look = this.#looks[loop](namespace, clusterName);
    return carryOutAtOnce(look, (write) => this.#write(write), retryMilliseconds);
  }

  #write(write: Write): boolean {
    const { query, ...request } = requestOf(write);
    const { code } = this.#options.server.handle({ ...request, query: new URLSearchParams(query), actor });
    return code < 300 || (write.verb === 'delete' && code === 404);
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
    const own = (kind: WrittenKind): readonly unknown[] =>
      kind === 'MySQLCluster'
        ? [store.get(writtenKinds[kind], namespace, clusterName)].filter((cluster) => cluster !== null)
        : store
            .all(writtenKinds[kind])
            .filter(
              ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[clusterNameLabel] === clusterName,
            );
    const of = own as <K extends WrittenKind>(kind: K) => readonly ObjectOf[K][];
    return viewOf(clusterName, of, store.all(storageClasses));
  }
}

const kindNames: ReadonlyMap<string, WrittenKind> = new Map(
  Object.entries(writtenKinds).map(([name, kind]) => [kind.plural, name as WrittenKind]),
);
