import { createHash } from 'node:crypto';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import {
  jobs,
  nodes as nodeKind,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind, roleLabel } from '../../../src/moco/names.ts';
import { type Admission, admitStatefulSet } from '../../support/api-server/admission.ts';
import type { ApiAnswer, ApiRequest } from '../../support/api-server/api-answer.ts';
import { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { nodeNames } from '../../support/nodes/cluster-objects.ts';
import { type NodesSettings, defaultSettings as nodesSettings } from '../../support/nodes/settings.ts';
import { Ability } from '../witness/ability.ts';
import { Demotions } from '../witness/demotions.ts';
import type { WitnessedKind } from '../witness/objects.ts';
import { Witness } from '../witness/witness.ts';
import { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import { VirtualClock } from './clock.ts';
import { ControllerProcess, type ProcessOptions } from './controller-process.ts';
import { Deeds } from './deeds.ts';
import { Expectations } from './expectations.ts';
import type { Strike } from './faults.ts';
import { KubeControllers } from './kube-controllers.ts';
import { Kubelets } from './kubelets.ts';
import { Network } from './network.ts';
import { NodeImages } from './node-images.ts';
import type { Drain } from './node-upgrades.ts';
import type { Simulation } from './simulation.ts';

/** When the virtual clock begins, since 1970. */
export const epochMilliseconds = Date.UTC(2026, 6, 1, 12);
/**
 * How long a demotion may outlive its reason if the program can read and write: enough for another process to acquire a
 * dead one's lease.
 */
const demotionAllowanceMilliseconds = 60_000;
/** So many pods stay for seconds after they were last written down. */
const slowDeletions = 0.02;
/** Watches deliver within this time. */
const policyKnownMilliseconds = 5_000;
const startDeadlineMilliseconds = 600_000;

const witnessedKinds: ReadonlyMap<ResourceKind, WitnessedKind> = new Map<ResourceKind, WitnessedKind>([
  [clusterKind, 'MySQLCluster'],
  [statefulSets, 'StatefulSet'],
  [pods, 'Pod'],
  [rolloutKind, 'MySQLRollout'],
  [podDisruptionBudgets, 'PodDisruptionBudget'],
  [persistentVolumeClaims, 'PersistentVolumeClaim'],
  [jobs, 'Job'],
  [policyKind, 'MySQLRolloutPolicy'],
  [nodeKind, 'Node'],
]);

export interface Nodes {
  readonly names: readonly string[];
  /** A pod goes to the node with the fewest pods that takes it. Otherwise its ordinal decides. */
  readonly emptiestFirst: boolean;
}

/** As many nodes as the smallest clusters have members. */
const fewNodes: Nodes = { names: nodeNames, emptiestFirst: false };

/**
 * What clusters share, in virtual time: the API server, the nodes, Kubernetes' controllers, the network, the processes of
 * the program, and the witness. Each cluster has a namespace of its own and adds itself.
 */
export class Platform {
  readonly clock = new VirtualClock();
  readonly demotions = new Demotions(demotionAllowanceMilliseconds);
  readonly ability = new Ability();
  readonly witness = new Witness(this.demotions, { epochMilliseconds, ability: this.ability });
  readonly server: ApiServer;
  readonly network: Network;
  readonly controllers: KubeControllers;
  readonly kubelets: Kubelets;
  readonly nodeImages: NodeImages;
  readonly processes: readonly ControllerProcess[];
  /** Why processes have ended, in order. */
  readonly ends: string[] = [];
  /** Of nodes that are upgraded, in order. */
  readonly drains: Drain[] = [];
  /** From the loss of a node to the node controller's word. */
  readonly silenceMilliseconds: number;
  readonly #circumstances: Circumstances;
  readonly #nodes: Nodes;
  /** By namespace. */
  readonly #clusters = new Map<string, Simulation>();
  readonly #history: string[] = [];

  constructor(circumstances: Circumstances, nodes: Nodes = fewNodes) {
    this.#circumstances = circumstances;
    this.#nodes = nodes;
    const chance = new Chance(circumstances.seed);
    const { clock, wall, ability } = this;
    this.server = this.#createServer(chance.fork('etcd'));
    const { server } = this;
    const { preflight } = circumstances;
    this.nodeImages = new NodeImages({
      clock,
      chance: chance.fork('images'),
      server,
      names: nodes.names,
      reports: preflight?.reports ?? null,
      pullMilliseconds: preflight?.pullMilliseconds ?? 0,
    });
    const deeds = new Deeds(this, (disruption, namespace) => {
      this.witness.disrupted(disruption);
      this.clusterIn(namespace)?.disrupted(disruption);
    });
    const expectations = new Expectations(clock, this.witness);
    this.network = new Network({
      clock,
      wall,
      renewal: () => this.#first.moco.renewal,
      chance: chance.fork('network'),
      server,
      onSent: (sent) => {
        deeds.sent(sent);
        expectations.sent(sent);
        for (const cluster of this.clusters) cluster.sent(sent);
      },
      onStrike: (strike) => this.#struck(strike),
    });
    this.network.lagMilliseconds = circumstances.lagMilliseconds;
    const { movesCurrentRevision } = circumstances;
    this.controllers = new KubeControllers({ clock, server, wall, movesCurrentRevision, chance: chance.fork('kube') });
    const settings = this.#nodesSettings();
    this.silenceMilliseconds = settings.silenceMilliseconds;
    this.kubelets = this.#createKubelets(settings);
    this.processes = Array.from({ length: circumstances.processes }, (_, number) => {
      const { electsLeader, mode } = circumstances;
      const onEnd = (why: string, actor: string): void => {
        for (const { kept } of this.clusters) kept.died(actor, clock.nowMilliseconds);
        this.ends.push(`controller ${number} ${why}`);
      };
      return new ControllerProcess({
        clock,
        chance: chance.fork(`process ${number}`),
        network: this.network,
        ...this.#readers,
        log: circumstances.log,
        epochMilliseconds,
        number,
        strategies: {
          onDeleteEnabled: mode === 'OnDelete',
          partitionDriver: mode === 'Partition' ? 'own' : 'moco',
          inPlaceEnabled: circumstances.inPlace !== undefined,
          nodeMaintenanceEnabled: circumstances.nodeMaintenance !== 'gate off',
        },
        electsLeader,
        onStart: (...started) => deeds.started(...started),
        onEnd,
        onLeading: () => ability.leads(this.#someoneLeads(), clock.nowMilliseconds),
        onReported: (...reported) => expectations.reported(...reported),
        onAnswered: (...answered) => expectations.answered(...answered),
      });
    });
    server.store.subscribe((change) => this.#changed(change));
  }

  /** The cluster of a namespace. */
  clusterIn(namespace: string): Simulation | null {
    return this.#clusters.get(namespace) ?? null;
  }

  get clusters(): readonly Simulation[] {
    return [...this.#clusters.values()];
  }

  add(cluster: Simulation): void {
    this.#clusters.set(cluster.namespace, cluster);
  }

  /**
   * Makes the clusters and lets them become healthy, then starts the controller and lets it find nothing to do.
   */
  async start(): Promise<void> {
    const { clusters, clock } = this;
    const storageClass = { metadata: { name: 'standard' }, allowVolumeExpansion: true };
    this.request({ method: 'POST', path: '/apis/storage.k8s.io/v1/storageclasses', body: storageClass });
    for (const cluster of clusters) cluster.createNamespace();
    const startProcesses = (): void => this.processes.forEach((process) => process.start());
    // Its own partition webhook fails closed: without it no StatefulSet is created.
    const answersFirst = this.#circumstances.mode === 'Partition';
    if (answersFirst) startProcesses();
    for (const cluster of clusters) {
      cluster.createCluster();
      cluster.moco.start();
    }
    const isHealthy = (): boolean => clusters.every((cluster) => cluster.isTrue('Healthy'));
    const healthy = await clock.runUntil(isHealthy, startDeadlineMilliseconds);
    if (!healthy) throw new Error('expected the cluster to become healthy, it did not');
    if (!answersFirst) startProcesses();
    const isTaken = (): boolean => clusters.every((cluster) => cluster.isComplete(cluster.wanted.image));
    const taken = await clock.runUntil(isTaken, startDeadlineMilliseconds);
    if (!taken) throw new Error('expected the controller to take the cluster, it did not');
    for (const cluster of clusters) cluster.begin();
  }

  /** Anybody's request but the controller's, answered at once. */
  request(request: Omit<ApiRequest, 'actor'>): ApiAnswer {
    return this.server.handle({ ...request, actor: 'user' });
  }

  /** Lets the processes release what they hold. */
  end(): void {
    for (const process of this.processes) process.end();
  }

  /** The same for the same seed. */
  historyHash(): string {
    return createHash('sha256').update(this.#history.join('')).digest('hex');
  }

  /** Milliseconds since 1970. */
  readonly wall = (): number => epochMilliseconds + this.clock.nowMilliseconds;

  get #first(): Simulation {
    const [first] = this.clusters;
    if (first === undefined) throw new Error('expected a cluster, there is none');
    return first;
  }

  #someoneLeads(): boolean {
    return this.processes.some(({ isLeading }) => isLeading);
  }

  #struck(strike: Strike): void {
    for (const cluster of this.clusters) cluster.struck(strike);
  }

  #createServer(etcd: Chance): ApiServer {
    const { clock, wall } = this;
    const { mode, onDeleteKeeper, longestPage, streamsLists, preflight } = this.#circumstances;
    const admission: Admission = {
      partitionWebhook: mode === 'Partition' ? 'own' : 'moco',
      onDeleteKeeper,
      isMocoServing: () => this.#first.moco.answersWebhooks,
      isProgramServing: () => this.processes.some(({ isServing }) => isServing),
    };
    const server = new ApiServer(
      wall,
      (wanted, before) => admitStatefulSet(wanted, before, admission),
      (act) => {
        const slow = etcd.happens(slowDeletions);
        clock.after(slow ? etcd.between(1_000, 9_000) : etcd.between(0.5, 20), act);
      },
    );
    server.lists.longestPage = longestPage;
    server.lists.areStreamed = streamsLists;
    server.refusals.reviews = preflight?.isAllowed === false;
    return server;
  }

  #nodesSettings(): NodesSettings {
    const { inPlace, nodes } = this.#circumstances;
    return {
      ...nodesSettings,
      labelBeforeReady: roleLabel,
      // mysqld restarts with its agent only where agents are updated in place.
      livenessPatienceMilliseconds: inPlace === undefined ? Number.POSITIVE_INFINITY : 30_000,
      fetchMilliseconds: this.nodeImages.fetchMilliseconds,
      ...nodes,
    };
  }

  #createKubelets(settings: NodesSettings): Kubelets {
    const { clock, server, wall } = this;
    const unlabelled: NodesSettings = { ...settings, labelBeforeReady: null };
    return new Kubelets({
      clock,
      server,
      wall,
      nodes: this.#nodes.names,
      // A replica that MOCO has configured is ready without a label where it never comes to set one.
      settingsOf: ({ metadata }) =>
        this.clusterIn(metadata.namespace)?.moco.faults.unconfigurable.length === 0 ? settings : unlabelled,
      mysqldServes: (pod) => this.clusterIn(pod.metadata.namespace)?.moco.mysqldReady(pod) ?? false,
      closedTo: (pod) => {
        const closed = this.clusterIn(pod.metadata.namespace)?.places.closedTo(pod) ?? this.nodeImages.closed;
        return this.#nodes.emptiestFirst ? this.#allButEmptiest(closed) : closed;
      },
    });
  }

  #allButEmptiest(closed: ReadonlySet<string>): ReadonlySet<string> {
    const { names } = this.#nodes;
    const counts = new Map(names.map((name) => [name, 0]));
    for (const { spec } of this.server.store.all(pods)) {
      const node = String(record(spec)['nodeName']);
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    const open = names.filter((name) => !closed.has(name));
    const [emptiest] = open.toSorted((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0));
    return new Set(names.filter((name) => name !== emptiest));
  }

  /** What agents and Prometheus tell the program. */
  get #readers(): Pick<ProcessOptions, 'delays' | 'members' | 'readCheck'> {
    const clusterOf = ({ namespace }: { readonly namespace: string }): Simulation => {
      const cluster = this.clusterIn(namespace);
      if (cluster === null) throw new Error(`expected a cluster in ${namespace}, there is none`);
      return cluster;
    };
    return {
      delays: {
        read: (pod) => clusterOf(pod).lagging.read(pod),
        readClone: (pod) => clusterOf(pod).lagging.readClone(),
      },
      members: { answerOf: (pod) => Promise.resolve(clusterOf(pod).answerOf(pod)) },
      readCheck: (check, cluster) => clusterOf(cluster).checks.read(check, cluster),
    };
  }

  #changed(change: StoreChange): void {
    const { kind, type, object: changed, revision } = change;
    this.#history.push(`${this.clock.nowMilliseconds} ${type} ${changed.metadata.name} ${revision}\n`);
    if (kind === pods) this.nodeImages.changed(changed);
    const own = this.clusterIn(changed.metadata.namespace ?? '');
    const concerned = own === null ? this.clusters : [own];
    for (const cluster of concerned) cluster.changed(change);
    this.#observe(change);
    for (const cluster of concerned) cluster.observed(kind);
  }

  /** Shows the change to the witness. */
  #observe({ kind: changedKind, type, object: changed, revision }: StoreChange): void {
    const kind = witnessedKinds.get(changedKind);
    if (kind === undefined) return;
    const identity = changed as unknown as Parameters<Witness['observe']>[0]['identity'];
    const object = type === 'DELETED' ? null : identity;
    const observe = (at: number): void =>
      this.witness.observe({ revision: at, atMilliseconds: this.clock.nowMilliseconds, kind, object, identity });
    if (kind === 'MySQLRolloutPolicy' && object !== null) this.#whenKnown(changed, observe);
    else observe(revision);
  }

  /** A policy counts once the program has had the time to see it. One that it could not see is not judged. */
  #whenKnown({ metadata }: StoredObject, observe: (revision: number) => void): void {
    const { clock, server, ability } = this;
    const sinceMilliseconds = clock.nowMilliseconds;
    clock.after(policyKnownMilliseconds, () => {
      const isThere = server.store.get(policyKind, '', metadata.name)?.metadata.uid === metadata.uid;
      if (isThere && ability.isGiven(sinceMilliseconds, clock.nowMilliseconds)) observe(server.store.revision);
    });
  }
}
