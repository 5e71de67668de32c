import { pods, statefulSets } from '../../../../src/kube/resource.ts';
import { clusterKind, revisionHashLabel, statefulSetName } from '../../../../src/moco/names.ts';
import type { StoreChange } from '../../../support/api-server/object-store.ts';
import { record, type StoredObject } from '../../../support/api-server/stored-object.ts';
import { podName } from '../acts-of-people.ts';
import { isMember } from '../members.ts';
import type { Drain } from '../node-upgrades.ts';
import type { Platform } from '../platform.ts';
import { clusterName } from '../simulation.ts';

// What a day costs the clusters of a fleet, as the objects of the store show it.

/** Any deletion of a member's pod. */
interface Restart {
  readonly namespace: string;
  readonly ordinal: number;
  /** The image that the user wanted then. */
  readonly image: string;
  /** The upgrade of the nodes that had begun last, counted from 0; -1 before the first. */
  readonly round: number;
  /** Its node was being taken out of service. */
  readonly isOffNode: boolean;
}

/** A second restart of a member in one upgrade of the nodes, for one image. */
interface SecondRestart {
  readonly restart: Restart;
  /** Both times its node was being taken out of service: the scheduler had put it on one whose turn was still to come. */
  readonly isPlaced: boolean;
}

export interface RestartsOfCluster {
  readonly restarts: number;
  /** Of these: second ones of members that the scheduler had put on a node whose turn was still to come. */
  readonly placed: number;
}

/**
 * `unplanned`: the pod of the primary was on its way out. `hindered`: the same, and a backup or a replica that lagged had
 * kept the primary where it was until its drain began. `needless`: the primary was updated, and its node stayed.
 */
type Switchover = 'planned' | 'unplanned' | 'hindered' | 'needless';

/** While a primary of the cluster may not be moved. */
interface Hindrance {
  readonly namespace: string;
  readonly fromMilliseconds: number;
  readonly untilMilliseconds: number;
}

/** Follows restarts and switchovers from now on. */
export class Figures {
  readonly #restarts: Restart[] = [];
  readonly #switchovers: Switchover[] = [];
  readonly #hindrances: Hindrance[] = [];
  readonly #platform: Platform;
  readonly #beganMilliseconds: number;
  #round = -1;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#beganMilliseconds = platform.clock.nowMilliseconds;
    platform.server.store.subscribe((change) => this.#changed(change));
  }

  /** An upgrade of the nodes begins. */
  beginRound(): void {
    this.#round += 1;
  }

  /** A backup of the cluster begins, or one of its replicas lags. */
  hinders(namespace: string, forMilliseconds: number): void {
    const fromMilliseconds = this.#platform.clock.nowMilliseconds;
    this.#hindrances.push({ namespace, fromMilliseconds, untilMilliseconds: fromMilliseconds + forMilliseconds });
  }

  /** Of the members of a cluster, since that upgrade of the nodes began and before the next one. */
  restartsIn(namespace: string, round: number): RestartsOfCluster {
    const isOfIt = (one: Restart): boolean => one.namespace === namespace && one.round === round;
    const placed = this.#secondRestarts.filter(({ restart, isPlaced }) => isPlaced && isOfIt(restart));
    return { restarts: this.#restarts.filter(isOfIt).length, placed: placed.length };
  }

  /** As `Day` has them. */
  get sums() {
    const { drains, clock } = this.#platform;
    const second = this.#secondRestarts;
    const seconds = drains.map(
      ({ beganMilliseconds, endedMilliseconds }) =>
        ((endedMilliseconds ?? clock.nowMilliseconds) - beganMilliseconds) / 1000,
    );
    const isLate = ({ isOverTimeout, endedMilliseconds }: Drain): boolean =>
      isOverTimeout || endedMilliseconds === null;
    const count = (kind: Switchover): number => this.#switchovers.filter((one) => one === kind).length;
    return {
      restarts: this.#restarts.length,
      drained: drains.reduce((sum, { evicted }) => sum + evicted.length, 0),
      second: second.length,
      placed: second.filter(({ isPlaced }) => isPlaced).length,
      planned: count('planned') + count('needless'),
      unplanned: count('unplanned') + count('hindered'),
      hindered: count('hindered'),
      needless: count('needless'),
      drains: drains.length,
      overTimeout: drains.filter(isLate).length,
      longestDrainSeconds: Math.max(0, ...seconds),
      secondsWithoutPrimary: this.#platform.clusters
        .filter(({ wanted }) => wanted.replicas > 1)
        .map(({ key, witness }) => witness.measures(key, this.#beganMilliseconds).secondsWithoutWritablePrimary)
        .reduce((sum, one) => sum + one, 0),
    };
  }

  get #secondRestarts(): readonly SecondRestart[] {
    const last = new Map<string, Restart>();
    return this.#restarts.flatMap((restart) => {
      const { namespace, ordinal, round, image } = restart;
      const key = `${namespace} ${ordinal}`;
      const first = last.get(key);
      last.set(key, restart);
      const isSecond = round >= 0 && first?.round === round && first.image === image;
      return isSecond ? [{ restart, isPlaced: first.isOffNode && restart.isOffNode }] : [];
    });
  }

  #changed({ kind, object, before }: StoreChange): void {
    if (kind === pods && isMember(object)) this.#pod(object, before);
    if (kind === clusterKind) this.#cluster(object, before);
  }

  #pod({ metadata, spec }: StoredObject, before: StoredObject | null): void {
    const { namespace = '', name, deletionTimestamp } = metadata;
    const cluster = this.#platform.clusterIn(namespace);
    const isNew = deletionTimestamp !== undefined && before !== null && before.metadata.deletionTimestamp === undefined;
    if (!isNew || cluster === null) return;
    this.#restarts.push({
      namespace,
      ordinal: Number(name.slice(name.lastIndexOf('-') + 1)),
      image: cluster.wanted.image,
      round: this.#round,
      isOffNode: this.#isLeaving(spec),
    });
  }

  #cluster({ metadata, status }: StoredObject, before: StoredObject | null): void {
    const { namespace = '' } = metadata;
    const was = record(before?.['status'])['currentPrimaryIndex'];
    const { currentPrimaryIndex } = record(status);
    if (typeof was !== 'number' || currentPrimaryIndex === was) return;
    const { store } = this.#platform.server;
    const pod = store.get(pods, namespace, podName(was));
    if (pod === null || pod.metadata.deletionTimestamp !== undefined) {
      const isHindered = pod !== null && this.#wasHindered(namespace, String(record(pod['spec'])['nodeName']));
      this.#switchovers.push(isHindered ? 'hindered' : 'unplanned');
      return;
    }
    const { updateRevision } = record(store.get(statefulSets, namespace, statefulSetName(clusterName))?.['status']);
    const isUpdated = pod.metadata.labels?.[revisionHashLabel] === updateRevision;
    this.#switchovers.push(isUpdated && !this.#isLeaving(pod['spec']) ? 'needless' : 'planned');
  }

  /** When the drain of that node began. */
  #wasHindered(namespace: string, node: string): boolean {
    const began = this.#platform.drains.findLast((drain) => drain.node === node)?.beganMilliseconds;
    return this.#hindrances.some(
      (one) =>
        began !== undefined &&
        one.namespace === namespace &&
        one.fromMilliseconds <= began &&
        one.untilMilliseconds >= began,
    );
  }

  #isLeaving(spec: unknown): boolean {
    return this.#platform.nodeImages.closed.has(String(record(spec)['nodeName']));
  }
}
