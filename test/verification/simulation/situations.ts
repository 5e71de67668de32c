import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import {
  clusterKind,
  mysqldContainer,
  preflightLabel,
  preventDeleteAnnotation,
  restartInPlaceAnnotation,
  revisionHashLabel,
  roleLabel,
} from '../../../src/moco/names.ts';
import { type ApiAnswer, type ApiRequest, isDryRun } from '../../support/api-server/api-answer.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { isMember } from './members.ts';

/** Situations that the histories must contain: one that no history contains proves nothing. */
export const situations = {
  mocoRestartsAlone: 'moco-controller restarts while every process of the program is away',
  failsOverAlone: 'the primary moves while every process of the program is away',
  evictionRefused: 'the API server refuses an eviction: who may not, or what a policy is against',
  confirmationTooSlow: 'for 10 s and longer, what a process reads before a step takes longer than two seconds',
  neverHadARole: 'for a minute, mysqld of a replica runs that has never had a role',
  protectedReplica: 'a replica carries prevent-delete',
  upstreamUnavailable: 'an intermediate primary is not ready, since its upstream is away',
  templateChangesInDemotion: 'the template changes while a member is demoted',
  slowPull: 'a member made anew has waited for its image for more than a minute',
  offlineInMidRollout: 'a cluster goes offline in the middle of a rollout',
  restsOutsideMaintenance: 'a rollout that has begun rests, since its maintenance window has closed',
  copiedRollout: 'the MySQLRollout belongs to a different owner',
  terminatingRollout: 'the MySQLRollout is terminating, but a finalizer blocks that',
  memberCannotBeMade: 'a member is missing, and its creation is refused',
  updatedInPlace: 'a member is updated in place, and none of its containers restarts',
  restartedInPlace: 'a member is updated in place, and a container of it other than mysqld restarts',
  resizedInPlace: 'a member is resized in place',
  mysqldRestartedInPlace: 'mysqld restarts after all, since its agent has been away for too long',
  diesInsideAnUpdate: 'the process that has resized a member is not the one that gives it the label',
  gracePeriodEnds: 'a pod is seen with grace period 0 before it goes',
  failoverWaitsForApplier: 'for three minutes and longer, a failover waits for what its candidate has to apply',
  agentsDead: 'every member runs, and none participates',
  leftWithoutRole: 'MOCO fails to configure a replica, and another member that participates has no role',
  receiverBehind: 'a replica is ready that has not received the newest transactions',
  commitsBlock: 'a commit waits, since only such a replica is left to acknowledge it',
  impairedPrimary: 'for a minute, a container of a primary that works has not been ready',
  impairedPrimaryMayNotGo: 'such a primary waits for approval or a pinned replica, or its replicas lag',
  restartsBesidePrimary: 'containers may restart in place, and the setting does not let a primary do so',
  resizeMayNotBegin:
    'the CPU changes of members that may be resized, while no maintenance window is open or a check fails',
  fetchedAhead: 'a node has fetched the images of a revision before a member there is taken',
  imageUnavailable: 'a node says that it can not get an image',
  fetchTimesOut: 'a node has not fetched the images in time',
  looksLikeFetcher: 'a member has the label of a pod that fetches images, while nodes are asked',
  twoLeaders: 'two processes lead at once for the whole history',
  keptAtRest: 'a held member has its next pod within a second, and comes back as what it was',
  keptInTime: 'a held member comes back as what it was, since the program has seen another client delete its pod',
  keptTwo: 'two held members go beside each other, and come back as what they were',
  keptAlone: 'the only member of a cluster comes back as what it was',
  updatedTooLate: 'a held member comes back updated, since its pod was created before the program could act',
  sparesWorking: 'a held member comes back updated beside one that works at the update revision and goes as well',
  restored: 'a member that has come back updated gets back the revision that it had',
  templateChangesWhileKept: 'the template changes while new pods come up at the current revision',
  recreatedWhileKept: 'the StatefulSet is made again while new pods come up at the current revision',
  scaledWhileKept: 'the number of members changes while new pods come up at the current revision',
  diesInTheFlip: 'a process dies right after it has changed what new pods come up at',
} as const;

export type Situation = keyof typeof situations;

/** Those that histories have in which members are lost. */
export const situationsOfLosses = [
  'keptAtRest',
  'keptInTime',
  'keptTwo',
  'keptAlone',
  'updatedTooLate',
  'sparesWorking',
  'restored',
  'templateChangesWhileKept',
  'recreatedWhileKept',
  'scaledWhileKept',
  'diesInTheFlip',
] as const satisfies readonly Situation[];

/** By what `status.preflight` says of a node. */
const resultsOfNodes: Readonly<Record<string, Situation>> = {
  Fetched: 'fetchedAhead',
  ImageUnavailable: 'imageUnavailable',
  TimedOut: 'fetchTimesOut',
};

const longMilliseconds = 60_000;
const statefulSetController = 'statefulset-controller';

/** Finds which situations a history contains. */
export class Situations {
  readonly #found = new Set<Situation>();
  readonly #isProgramStopped: () => boolean;
  readonly #hadRole = new Set<string>();
  /** Members with the label of a pod that fetches images. */
  readonly #labelled = new Set<string>();
  readonly #runningSince = new Map<string, number>();
  readonly #made = new Map<string, number>();
  /** By the path of the request: who has resized a pod that has not got its label yet. */
  readonly #resizedBy = new Map<string, string>();

  constructor(isProgramStopped: () => boolean) {
    this.#isProgramStopped = isProgramStopped;
  }

  get found(): readonly Situation[] {
    return [...this.#found];
  }

  find(situation: Situation): void {
    this.#found.add(situation);
  }

  answered(request: ApiRequest, { code }: ApiAnswer): void {
    const { method, path, actor } = request;
    if (method === 'PATCH' && code < 300 && actor.startsWith('controller-') && !isDryRun(request)) {
      this.#changedInPlace(request);
    }
    const refused = code === 403 || code === 422;
    if (!refused || method !== 'POST') return;
    if (path.endsWith('/eviction') && actor.startsWith('controller-')) this.find('evictionRefused');
    if (path.endsWith('/pods') && actor === statefulSetController) this.find('memberCannotBeMade');
  }

  #changedInPlace({ path, actor, body }: ApiRequest): void {
    if (path.endsWith('/resize')) {
      this.find('resizedInPlace');
      this.#resizedBy.set(path, actor);
      return;
    }
    const { metadata, spec } = record(body);
    if (record(record(metadata)['labels'])[revisionHashLabel] === undefined) return;
    const { containers = [] } = record(spec);
    this.find((containers as readonly unknown[]).length > 0 ? 'restartedInPlace' : 'updatedInPlace');
    const resizedBy = this.#resizedBy.get(`${path}/resize`);
    if (resizedBy !== undefined && resizedBy !== actor) this.find('diesInsideAnUpdate');
    this.#resizedBy.delete(`${path}/resize`);
  }

  changed(change: StoreChange, now: number, cluster: StoredObject | null): void {
    const { kind, object, before, type } = change;
    switch (kind) {
      case pods:
        return isMember(object) ? this.#pod(object, type === 'DELETED', now, cluster) : undefined;
      case rolloutKind:
        return this.#rollout(object, type === 'DELETED');
      case clusterKind:
        if (primaryOf(object) !== primaryOf(before) && before !== null && this.#isProgramStopped()) {
          this.find('failsOverAlone');
        }
        return;
      case statefulSets:
      default:
    }
  }

  #pod({ metadata, status }: StoredObject, gone: boolean, now: number, cluster: StoredObject | null): void {
    const { uid, name, labels = {}, annotations = {}, deletionGracePeriodSeconds } = metadata;
    if (labels[preflightLabel] === undefined || gone) this.#labelled.delete(uid);
    else this.#labelled.add(uid);
    if (gone) {
      for (const known of [this.#runningSince, this.#made]) known.delete(uid);
      this.#hadRole.delete(uid);
      return;
    }
    const isPrimary = name.endsWith(`-${String(primaryOf(cluster))}`);
    if (deletionGracePeriodSeconds === 0) this.find('gracePeriodEnds');
    if (!isPrimary && annotations[preventDeleteAnnotation] !== undefined) this.find('protectedReplica');
    if (hasRestartedInPlace(annotations, labels, status)) this.find('mysqldRestartedInPlace');
    if (labels[roleLabel] !== undefined) this.#hadRole.add(uid);
    const made = this.#made.get(uid) ?? now;
    this.#made.set(uid, made);
    const state = mysqldState(status);
    if (state['running'] === undefined) this.#runningSince.delete(uid);
    else if (!this.#runningSince.has(uid)) this.#runningSince.set(uid, now);
    const running = this.#runningSince.get(uid);
    if (running !== undefined && !this.#hadRole.has(uid) && now - running >= longMilliseconds) {
      this.find('neverHadARole');
    }
  }

  /** A pod doesn't change while it waits: asked of those that are there. */
  look(members: readonly StoredObject[], now: number): void {
    for (const { metadata, status } of members) {
      const { uid } = metadata;
      const running = this.#runningSince.get(uid);
      if (running !== undefined && !this.#hadRole.has(uid) && now - running >= longMilliseconds) {
        this.find('neverHadARole');
      }
      const { waiting } = mysqldState(status);
      // A kubelet reports nothing of the containers before it has every image.
      const pulls = record(waiting)['reason'] === 'PodInitializing' && isInitialized(status);
      if (pulls && now - (this.#made.get(uid) ?? now) > longMilliseconds) this.find('slowPull');
    }
  }

  #rollout({ metadata, status }: StoredObject, gone: boolean): void {
    if (gone) return;
    const { hold, rollout, preflight } = record(status);
    const asked = (record(preflight)['nodes'] ?? []) as readonly Json[];
    for (const { result, trying } of asked) {
      const found = resultsOfNodes[String(result)];
      if (found !== undefined) this.find(found);
      if (trying === true && this.#labelled.size > 0) this.find('looksLikeFetcher');
    }
    const rests = record(hold)['rule'] === 'OutsideMaintenanceWindow' && record(rollout)['begunAt'] !== undefined;
    if (rests) this.find('restsOutsideMaintenance');
    if (metadata.deletionTimestamp !== undefined) this.find('terminatingRollout');
    if (metadata.ownerReferences?.some(({ uid }) => uid === foreignOwner.uid) === true) this.find('copiedRollout');
  }
}

/** Of a MySQLRollout that was copied with its metadata: a cluster of another name. */
export const foreignOwner = {
  apiVersion: 'moco.cybozu.com/v1beta2',
  kind: 'MySQLCluster',
  name: 'other',
  uid: 'uid-of-another-cluster',
} as const;

function isInitialized(status: unknown): boolean {
  const conditions = (record(status)['conditions'] ?? []) as readonly Json[];
  return conditions.some(({ type, status: holds }) => type === 'Initialized' && holds === 'True');
}

const mysqldState = (status: unknown): Json => record(mysqldStatus(status)['state']);

function mysqldStatus(status: unknown): Json {
  const statuses = (record(status)['containerStatuses'] ?? []) as readonly Json[];
  return record(statuses.find(({ name }) => name === mysqldContainer));
}

/** The program writes down which run of mysqld there was when it restarted other containers. */
function hasRestartedInPlace(
  { [restartInPlaceAnnotation]: note }: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
  status: unknown,
): boolean {
  const { revision, mysqld } = record(JSON.parse(note ?? 'null'));
  const { containerID } = mysqldStatus(status);
  return mysqld !== undefined && revision === labels[revisionHashLabel] && mysqld !== (containerID ?? mysqld);
}

function primaryOf(cluster: StoredObject | null): unknown {
  return record(cluster?.['status'])['currentPrimaryIndex'];
}
