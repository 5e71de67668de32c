import { rolloutKind } from '../../../src/api/rollout.ts';
import type { MemberAnswer } from '../../../src/core/on-demand-facts.ts';
import {
  namespaces,
  nodes as nodeKind,
  path,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { agentContainer, clusterKind, mysqldContainer, rolloutCompleteCondition } from '../../../src/moco/names.ts';
import type { PodRecord } from '../../../src/moco/records.ts';
import type { ApiAnswer, ApiRequest } from '../../support/api-server/api-answer.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { MySQLCluster, Pod } from '../../support/moco/objects.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import { defaultSettings as mocoSettings } from '../../support/moco/settings.ts';
import { defaultCluster } from '../../support/moco/webhooks.ts';
import type { Ability } from '../witness/ability.ts';
import type { Demotions } from '../witness/demotions.ts';
import type { Disruption } from '../witness/disruption.ts';
import type { Moment } from '../witness/moment.ts';
import type { Witness } from '../witness/witness.ts';
import { Chance } from './chance.ts';
import type { Circumstances } from './circumstances.ts';
import type { VirtualClock } from './clock.ts';
import type { ControllerProcess } from './controller-process.ts';
import { FailingChecks } from './failing-checks.ts';
import { FalseAlarms } from './false-alarms.ts';
import type { Strike, Strikes } from './faults.ts';
import { Fetchers } from './fetchers.ts';
import { FoundStrikes } from './found-strikes.ts';
import { noteImpairedPrimary } from './impaired-primary.ts';
import { KeptRevisions } from './kept-revisions.ts';
import type { KubeControllers } from './kube-controllers.ts';
import type { Kubelets } from './kubelets.ts';
import { LaggingCandidates } from './lagging-candidates.ts';
import { isMember } from './members.ts';
import { Moco } from './moco.ts';
import { MocoGoesOn } from './moco-goes-on.ts';
import type { Network, Sent } from './network.ts';
import type { NodeImages } from './node-images.ts';
import { Places } from './places.ts';
import { Platform } from './platform.ts';
import { firstAgent, firstInPlace, podTemplateOf, sidecarContainer, userLabel, type Wanted } from './pod-template.ts';
import { Reliance } from './reliance.ts';
import { Situations } from './situations.ts';

/** Of a cluster that is alone on its platform. */
export const soleNamespace = 'default';
/** Of each cluster, in its own namespace. */
export const clusterName = 'test';
export const firstImage = 'mysql:8.4.0';

/** One cluster on a platform: MOCO and the user for it, what happens to it, and judges beside the witness. */
export class Simulation {
  readonly platform: Platform;
  readonly namespace: string;
  readonly chance: Chance;
  readonly moco: Moco;
  /** By the user, whatever happens to the cluster. */
  readonly wanted: Wanted;
  readonly situations: Situations;
  readonly kept: KeptRevisions;
  readonly mocoGoesOn: MocoGoesOn;
  readonly checks: FailingChecks;
  readonly fetchers: Fetchers;
  readonly lagging: LaggingCandidates;
  readonly places: Places;
  readonly #circumstances: Circumstances;
  readonly #reliance: Reliance;
  readonly #strikesFound: FoundStrikes;
  readonly #alarms: FalseAlarms;
  readonly #strikes: Partial<Record<Strike, number>> = {};
  #began = false;

  /** @param platform one for this cluster alone, if absent */
  constructor(circumstances: Circumstances, platform = new Platform(circumstances), namespace = soleNamespace) {
    const { seed, replicas, moco, processes, electsLeader, mode, preflight } = circumstances;
    this.#circumstances = circumstances;
    this.platform = platform;
    this.namespace = namespace;
    const changesInPlace = circumstances.inPlace === undefined ? {} : firstInPlace;
    const isLabelled = preflight?.isLabelled === true && { preflightLabel: clusterName };
    const isApart = circumstances.apart === true;
    this.wanted = { image: firstImage, replicas, agent: firstAgent, ...changesInPlace, ...isLabelled };
    if (isApart) this.wanted.apart = true;
    this.chance = new Chance(seed);
    const { clock, chance, server } = this;
    platform.add(this);
    this.fetchers = new Fetchers(this);
    this.lagging = new LaggingCandidates(this);
    this.checks = new FailingChecks(this);
    this.places = new Places(this, isApart);
    this.#reliance = new Reliance(this);
    this.#strikesFound = new FoundStrikes(this);
    this.#alarms = new FalseAlarms(this.witness, this.ability);
    this.situations = new Situations(() => !this.processes.some(({ isServing }) => isServing));
    if (processes > 1 && !electsLeader) this.situations.find('twoLeaders');
    this.kept = new KeptRevisions((situation) => this.situations.find(situation));
    server.onRequest((request, given) => {
      if (resourceAt(request.path)?.namespace !== namespace) return;
      this.kept.answered(request, clock.nowMilliseconds);
      this.situations.answered(request, given);
    });
    const clustering = { ...mocoSettings.clustering, ...moco };
    const { failedTry: _, clone: __, ...taking } = clustering;
    const mocoMilliseconds = Object.values(taking).reduce((sum, one) => sum + one);
    this.mocoGoesOn = new MocoGoesOn(this, { mocoMilliseconds, isJudgedAlone: mode !== 'Partition' });
    this.moco = new Moco({
      clock,
      server,
      wall: this.wall,
      chance: chance.fork('moco'),
      namespace,
      clusterName,
      lowersPartitions: mode !== 'Partition',
      settings: { ...mocoSettings, clustering },
      onDatabasesChange: () => this.kubelets.checkAll(namespace),
    });
  }

  get clock(): VirtualClock {
    return this.platform.clock;
  }

  get server(): ApiServer {
    return this.platform.server;
  }

  get network(): Network {
    return this.platform.network;
  }

  get controllers(): KubeControllers {
    return this.platform.controllers;
  }

  get kubelets(): Kubelets {
    return this.platform.kubelets;
  }

  get nodeImages(): NodeImages {
    return this.platform.nodeImages;
  }

  get processes(): readonly ControllerProcess[] {
    return this.platform.processes;
  }

  get witness(): Witness {
    return this.platform.witness;
  }

  get ability(): Ability {
    return this.platform.ability;
  }

  get demotions(): Demotions {
    return this.platform.demotions;
  }

  /** Its name for the witness. */
  get key(): string {
    return `${this.namespace}/${clusterName}`;
  }

  /** As the witness has it now. */
  get moment(): Moment {
    return this.witness.latest(this.key);
  }

  start(): Promise<void> {
    return this.platform.start();
  }

  /** The user's settings from now on, and what happens counts. */
  begin(): void {
    this.#began = true;
    const { maxUnavailable, inPlace, preflight, nodeMaintenance } = this.#circumstances;
    if (maxUnavailable !== null) this.setting({ maxUnavailable });
    if (inPlace !== undefined) this.setting({ inPlace });
    if (preflight !== undefined) this.setting(preflight.setting);
    if (nodeMaintenance !== undefined && nodeMaintenance !== 'gate off') this.setting({ ...nodeMaintenance });
  }

  /** Something of this cluster has changed, or something that all clusters share. */
  changed(change: StoreChange): void {
    const { kind } = change;
    const now = this.clock.nowMilliseconds;
    this.#strikesFound.changed(change);
    this.#alarms.changed(change, now);
    this.fetchers.changed(change);
    if (!this.#began) return;
    if (kind === nodeKind || (kind === pods && this.#circumstances.apart === true)) this.places.look();
    this.situations.changed(change, now, this.cluster);
    this.kept.changed(change);
  }

  /** The witness has seen a change of that kind. */
  observed(kind: ResourceKind): void {
    if (!this.#began) return;
    if (kind === pods) noteImpairedPrimary(this);
    if (kind === pods || kind === clusterKind || kind === statefulSets) this.mocoGoesOn.look();
  }

  /** The program has taken a member of it, or something like that. */
  disrupted(disruption: Disruption): void {
    for (const judge of [this.lagging, this.#reliance, this.checks, this.places]) judge.disrupted(disruption);
  }

  /** A process has sent something about any cluster. */
  sent(sent: Sent): void {
    this.#strikesFound.sent(sent);
  }

  /** What the user wants of this cluster's rollouts from now on. */
  setting(spec: Json): boolean {
    const target = path(rolloutKind, { namespace: this.namespace, name: clusterName });
    return this.request({ method: 'PATCH', path: target, body: { spec } }).code < 300;
  }

  /** A fault has had an effect. Counted are those that strike while a rollout is under way. */
  struck(strike: Strike): void {
    if (this.#began && !this.isComplete(this.wanted.image)) this.#strikes[strike] = (this.#strikes[strike] ?? 0) + 1;
  }

  get strikes(): Strikes {
    return this.#strikes;
  }

  createNamespace(): void {
    this.request({ method: 'POST', path: path(namespaces), body: { metadata: { name: this.namespace } } });
  }

  createCluster(): void {
    const { namespace } = this;
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
    return this.platform.request(request);
  }

  get cluster(): StoredObject | null {
    return this.server.store.get(clusterKind, this.namespace, clusterName);
  }

  get members(): readonly StoredObject[] {
    const isOwn = (pod: StoredObject): boolean => pod.metadata.namespace === this.namespace && isMember(pod);
    return this.server.store.all(pods).filter(isOwn);
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

  /** What the agent of a member says, if its node and its network let it. */
  answerOf({ name, ordinal }: Pick<PodRecord, 'name' | 'ordinal'>): MemberAnswer {
    if (this.moco.faults.unreachable.includes(ordinal)) return { kind: 'unknown', message: 'no answer within 1000 ms' };
    const pod = this.server.store.get(pods, this.namespace, name);
    const serves = pod !== null && this.moco.mysqldReady(pod as unknown as Pod);
    return serves ? { kind: 'ready' } : { kind: 'notReady', message: 'mysqld does not serve' };
  }

  /** Milliseconds since 1970. */
  readonly wall = (): number => this.platform.wall();
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
