import { createHash } from 'node:crypto';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import type { MemberAnswer } from '../../../src/core/on-demand-facts.ts';
import {
  jobs,
  namespaces,
  nodes as nodeKind,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import {
  agentContainer,
  clusterKind,
  mysqldContainer,
  roleLabel,
  rolloutCompleteCondition,
} from '../../../src/moco/names.ts';
import type { PodRecord } from '../../../src/moco/records.ts';
import { type Admission, admitStatefulSet } from '../../support/api-server/admission.ts';
import type { ApiAnswer, ApiRequest } from '../../support/api-server/api-answer.ts';
import { ApiServer } from '../../support/api-server/api-server.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { MySQLCluster, Pod } from '../../support/moco/objects.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import { defaultSettings as mocoSettings } from '../../support/moco/settings.ts';
import { defaultCluster } from '../../support/moco/webhooks.ts';
import { type NodesSettings, defaultSettings as nodesSettings } from '../../support/nodes/settings.ts';
import { Ability } from '../witness/ability.ts';
import { Demotions } from '../witness/demotions.ts';
import type { WitnessedKind } from '../witness/objects.ts';
import { Witness } from '../witness/witness.ts';
import { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import { VirtualClock } from './clock.ts';
import { ControllerProcess } from './controller-process.ts';
import { Deeds } from './deeds.ts';
import { Expectations } from './expectations.ts';
import { FailingChecks } from './failing-checks.ts';
import { FalseAlarms } from './false-alarms.ts';
import type { Strike, Strikes } from './faults.ts';
import { Fetchers } from './fetchers.ts';
import { FoundStrikes } from './found-strikes.ts';
import { noteImpairedPrimary } from './impaired-primary.ts';
import { KeptRevisions } from './kept-revisions.ts';
import { KubeControllers } from './kube-controllers.ts';
import { Kubelets } from './kubelets.ts';
import { LaggingCandidates } from './lagging-candidates.ts';
import { isMember } from './members.ts';
import { Moco } from './moco.ts';
import { MocoGoesOn } from './moco-goes-on.ts';
import { Network } from './network.ts';
import { NodeImages } from './node-images.ts';
import { Places } from './places.ts';
import { firstAgent, firstInPlace, podTemplateOf, sidecarContainer, userLabel, type Wanted } from './pod-template.ts';
import { Reliance } from './reliance.ts';
import { Situations } from './situations.ts';

export const namespace = 'default';
export const clusterName = 'test';
export const firstImage = 'mysql:8.4.0';
const epochMilliseconds = Date.UTC(2026, 6, 1, 12);
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
]);

/** One cluster, everything around it and the controller itself, in virtual time. */
export class Simulation {
  readonly clock = new VirtualClock();
  readonly demotions = new Demotions(demotionAllowanceMilliseconds);
  readonly ability = new Ability();
  readonly witness = new Witness(this.demotions, { epochMilliseconds, ability: this.ability });
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly network: Network;
  readonly controllers: KubeControllers;
  readonly moco: Moco;
  readonly kubelets: Kubelets;
  readonly processes: readonly ControllerProcess[];
  /** Why processes have ended, in order. */
  readonly ends: string[] = [];
  /** By the user, whatever happens to the cluster. */
  readonly wanted: Wanted;
  readonly situations: Situations;
  readonly kept: KeptRevisions;
  readonly mocoGoesOn: MocoGoesOn;
  readonly checks: FailingChecks;
  readonly nodeImages: NodeImages;
  readonly fetchers: Fetchers;
  /** From the loss of a node to the node controller's word. */
  readonly silenceMilliseconds: number;
  readonly #circumstances: Circumstances;
  readonly #history: string[] = [];
  readonly #strikes: Partial<Record<Strike, number>> = {};
  #began = false;

  constructor(circumstances: Circumstances) {
    const { seed, movesCurrentRevision, nodes, moco, processes, electsLeader, mode } = circumstances;
    this.#circumstances = circumstances;
    const changesInPlace = circumstances.inPlace === undefined ? {} : firstInPlace;
    const { preflight } = circumstances;
    const isLabelled = preflight?.isLabelled === true && { preflightLabel: clusterName };
    const { replicas } = circumstances;
    const isApart = circumstances.apart === true;
    this.wanted = { image: firstImage, replicas, agent: firstAgent, ...changesInPlace, ...isLabelled };
    if (isApart) this.wanted.apart = true;
    this.chance = new Chance(seed);
    const { clock, chance } = this;
    const { wall } = this;
    const admission: Admission = {
      partitionWebhook: mode === 'Partition' ? 'own' : 'moco',
      onDeleteKeeper: circumstances.onDeleteKeeper,
      isMocoServing: () => this.moco.answersWebhooks,
      isProgramServing: () => this.processes.some(({ isServing }) => isServing),
    };
    const etcd = chance.fork('etcd');
    this.server = new ApiServer(
      wall,
      (wanted, before) => admitStatefulSet(wanted, before, admission),
      (act) => {
        const slow = etcd.happens(slowDeletions);
        clock.after(slow ? etcd.between(1_000, 9_000) : etcd.between(0.5, 20), act);
      },
    );
    const { server } = this;
    server.lists.longestPage = circumstances.longestPage;
    server.lists.areStreamed = circumstances.streamsLists;
    server.refusals.reviews = preflight?.isAllowed === false;
    this.nodeImages = new NodeImages({
      clock,
      chance: chance.fork('images'),
      server,
      reports: preflight?.reports ?? null,
      pullMilliseconds: preflight?.pullMilliseconds ?? 0,
    });
    this.fetchers = new Fetchers(this);
    const lagging = new LaggingCandidates(this);
    this.checks = new FailingChecks(this);
    const places = new Places(this, isApart);
    const reliance = new Reliance(this);
    const deeds = new Deeds(this, (disruption) => {
      for (const judge of [this.witness, lagging, reliance, this.checks, places]) judge.disrupted(disruption);
    });
    const expectations = new Expectations(clock, this.witness);
    const strikesFound = new FoundStrikes(this);
    const alarms = new FalseAlarms(this.witness, this.ability);
    this.network = new Network({
      clock,
      wall: this.wall,
      renewal: () => this.moco.renewal,
      chance: chance.fork('network'),
      server,
      onSent: (sent) => {
        deeds.sent(sent);
        expectations.sent(sent);
        strikesFound.sent(sent);
      },
      onStrike: (strike) => this.struck(strike),
    });
    this.network.lagMilliseconds = circumstances.lagMilliseconds;
    this.situations = new Situations(() => !this.processes.some(({ isServing }) => isServing));
    if (processes > 1 && !electsLeader) this.situations.find('twoLeaders');
    this.kept = new KeptRevisions((situation) => this.situations.find(situation));
    server.onRequest((request) => this.kept.answered(request, clock.nowMilliseconds));
    server.onRequest((request, given) => this.situations.answered(request, given));
    this.controllers = new KubeControllers({ clock, server, wall, movesCurrentRevision, chance: chance.fork('kube') });
    const settings: NodesSettings = {
      ...nodesSettings,
      labelBeforeReady: roleLabel,
      // mysqld restarts with its agent only where agents are updated in place.
      livenessPatienceMilliseconds: circumstances.inPlace === undefined ? Number.POSITIVE_INFINITY : 30_000,
      fetchMilliseconds: this.nodeImages.fetchMilliseconds,
      ...nodes,
    };
    this.silenceMilliseconds = settings.silenceMilliseconds;
    const unlabelled: NodesSettings = { ...settings, labelBeforeReady: null };
    this.kubelets = new Kubelets({
      clock,
      server,
      wall,
      // A replica that MOCO has configured is ready without a label where it never comes to set one.
      settingsOf: () => (this.moco.faults.unconfigurable.length > 0 ? unlabelled : settings),
      mysqldServes: (pod) => this.moco.mysqldReady(pod),
      closedTo: (pod) => places.closedTo(pod),
    });
    const clustering = { ...mocoSettings.clustering, ...moco };
    const { failedTry: _, clone: __, ...taking } = clustering;
    const mocoMilliseconds = Object.values(taking).reduce((sum, one) => sum + one);
    this.mocoGoesOn = new MocoGoesOn(this, { mocoMilliseconds, isJudgedAlone: mode !== 'Partition' });
    this.moco = new Moco({
      clock,
      server,
      wall,
      chance: chance.fork('moco'),
      namespace,
      clusterName,
      lowersPartitions: mode !== 'Partition',
      settings: { ...mocoSettings, clustering },
      onDatabasesChange: () => this.kubelets.checkAll(),
    });
    this.processes = Array.from({ length: processes }, (_, number) => {
      const own = chance.fork(`process ${number}`);
      const onEnd = (why: string, actor: string): void => {
        this.kept.died(actor, clock.nowMilliseconds);
        this.ends.push(`controller ${number} ${why}`);
      };
      const { network } = this;
      return new ControllerProcess({
        clock,
        chance: own,
        network,
        delays: lagging,
        members: { answerOf: (pod) => Promise.resolve(this.#answerOf(pod)) },
        readCheck: this.checks.read,
        log: circumstances.log,
        epochMilliseconds,
        number,
        strategies: {
          onDeleteEnabled: mode === 'OnDelete',
          partitionDriver: mode === 'Partition' ? 'own' : 'moco',
          inPlaceEnabled: circumstances.inPlace !== undefined,
        },
        electsLeader,
        onStart: (...started) => deeds.started(...started),
        onEnd,
        onLeading: () => this.ability.leads(this.#someoneLeads(), clock.nowMilliseconds),
        onReported: (...reported) => expectations.reported(...reported),
        onAnswered: (...answered) => expectations.answered(...answered),
      });
    });
    server.store.subscribe((change) => {
      const { type, object: changed, revision } = change;
      this.#history.push(`${clock.nowMilliseconds} ${type} ${changed.metadata.name} ${revision}\n`);
      strikesFound.changed(change);
      alarms.changed(change, clock.nowMilliseconds);
      this.fetchers.changed(change);
      if (change.kind === pods) this.nodeImages.changed(change.object);
      if (this.#began && (change.kind === nodeKind || (change.kind === pods && isApart))) places.look();
      if (this.#began) {
        this.situations.changed(change, clock.nowMilliseconds, this.cluster);
        this.kept.changed(change);
      }
      const kind = witnessedKinds.get(change.kind);
      if (kind === undefined) return;
      const identity = change.object as unknown as Parameters<Witness['observe']>[0]['identity'];
      const object = change.type === 'DELETED' ? null : identity;
      const observe = (revision: number): void =>
        this.witness.observe({ revision, atMilliseconds: clock.nowMilliseconds, kind, object, identity });
      if (kind === 'MySQLRolloutPolicy' && object !== null) return this.#whenKnown(change.object, observe);
      observe(change.revision);
      if (!this.#began) return;
      if (kind === 'Pod') noteImpairedPrimary(this);
      if (kind === 'Pod' || kind === 'MySQLCluster' || kind === 'StatefulSet') this.mocoGoesOn.look();
    });
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

  /** Makes the cluster and lets it become healthy, then starts the controller and lets it find nothing to do. */
  async start(): Promise<void> {
    const storageClass = { metadata: { name: 'standard' }, allowVolumeExpansion: true };
    this.request({ method: 'POST', path: '/apis/storage.k8s.io/v1/storageclasses', body: storageClass });
    this.#createNamespace();
    const startProcesses = (): void => this.processes.forEach((process) => process.start());
    // Its own partition webhook fails closed: without it no StatefulSet is created.
    const answersFirst = this.#circumstances.mode === 'Partition';
    if (answersFirst) startProcesses();
    this.createCluster();
    this.moco.start();
    const healthy = await this.clock.runUntil(() => this.isTrue('Healthy'), startDeadlineMilliseconds);
    if (!healthy) throw new Error('expected the cluster to become healthy, it did not');
    if (!answersFirst) startProcesses();
    const taken = await this.clock.runUntil(() => this.isComplete(firstImage), startDeadlineMilliseconds);
    if (!taken) throw new Error('expected the controller to take the cluster, it did not');
    this.#began = true;
    const { maxUnavailable, inPlace, preflight } = this.#circumstances;
    if (maxUnavailable !== null) this.setting({ maxUnavailable });
    if (inPlace !== undefined) this.setting({ inPlace });
    if (preflight !== undefined) this.setting(preflight.setting);
  }

  #someoneLeads(): boolean {
    return this.processes.some(({ isLeading }) => isLeading);
  }

  /** What the user wants of this cluster's rollouts from now on. */
  setting(spec: Json): boolean {
    const target = path(rolloutKind, { namespace, name: clusterName });
    return this.request({ method: 'PATCH', path: target, body: { spec } }).code < 300;
  }

  /** A fault has had an effect. Counted are those that strike while a rollout is under way. */
  struck(strike: Strike): void {
    if (this.#began && !this.isComplete(this.wanted.image)) this.#strikes[strike] = (this.#strikes[strike] ?? 0) + 1;
  }

  get strikes(): Strikes {
    return this.#strikes;
  }

  #createNamespace(): void {
    this.request({ method: 'POST', path: path(namespaces), body: { metadata: { name: namespace } } });
  }

  createCluster(): void {
    const { backups } = this.#circumstances;
    const podTemplate = podTemplateOf(this.wanted);
    const spec = { podTemplate, ...this.#circumstances.spec, ...(backups ? { backupPolicyName: 'daily' } : {}) };
    const { image, replicas } = this.wanted;
    const sample = sampleCluster({ name: clusterName, namespace, image, replicas, spec });
    const cluster = { ...sample, metadata: { ...record(sample['metadata']), finalizers: [] as readonly string[] } };
    for (const { path: place, value } of defaultCluster(cluster as unknown as MySQLCluster)) {
      if (place === '/metadata/finalizers') cluster.metadata.finalizers = value as readonly string[];
    }
    this.request({ method: 'POST', path: path(clusterKind, { namespace }), body: cluster });
  }

  /** Anybody's request but the controller's, answered at once. */
  request(request: Omit<ApiRequest, 'actor'>): ApiAnswer {
    return this.server.handle({ ...request, actor: 'user' });
  }

  get cluster(): StoredObject | null {
    return this.server.store.get(clusterKind, namespace, clusterName);
  }

  get members(): readonly StoredObject[] {
    return this.server.store.all(pods).filter(isMember);
  }

  isTrue(type: string): boolean {
    return conditionOf(this.cluster, type)?.['status'] === 'True';
  }

  /** Every member runs what the user wants with this image, and the controller has reported that generation as complete. */
  isComplete(image: string): boolean {
    const { cluster } = this;
    const said = conditionOf(cluster, rolloutCompleteCondition);
    return (
      cluster !== null &&
      said?.['status'] === 'True' &&
      said['observedGeneration'] === cluster.metadata.generation &&
      this.members.every((pod) => runs(pod, { ...this.wanted, image }))
    );
  }

  /** The same for the same seed. */
  historyHash(): string {
    return createHash('sha256').update(this.#history.join('')).digest('hex');
  }

  /** Milliseconds since 1970. */
  /** What the agent of a member says, if its node and its network let it. */
  #answerOf({ name, ordinal }: Pick<PodRecord, 'name' | 'ordinal'>): MemberAnswer {
    if (this.moco.faults.unreachable.includes(ordinal)) return { kind: 'unknown', message: 'no answer within 1000 ms' };
    const pod = this.server.store.get(pods, namespace, name);
    const serves = pod !== null && this.moco.mysqldReady(pod as unknown as Pod);
    return serves ? { kind: 'ready' } : { kind: 'notReady', message: 'mysqld does not serve' };
  }

  readonly wall = (): number => epochMilliseconds + this.clock.nowMilliseconds;
}

function conditionOf(object: StoredObject | null, type: string): Json | undefined {
  const conditions = record(object?.['status'])['conditions'] as readonly Json[] | undefined;
  return conditions?.find((condition) => condition['type'] === type);
}

function runs(pod: StoredObject, { image, agent, label, sidecar, cpu }: Wanted): boolean {
  const limits = record(record(containerOf(pod, mysqldContainer)?.['resources'])['limits']);
  return (
    imageOf(pod) === image &&
    imageOf(pod, agentContainer) === agent &&
    imageOf(pod, sidecarContainer) === sidecar &&
    limits['cpu'] === cpu &&
    pod.metadata.labels?.[userLabel] === label
  );
}

export const imageOf = (pod: StoredObject, container = mysqldContainer): unknown =>
  containerOf(pod, container)?.['image'];

const containerOf = (pod: StoredObject, container: string): Json | undefined =>
  (record(pod['spec'])['containers'] as readonly Json[]).find(({ name }) => name === container);
