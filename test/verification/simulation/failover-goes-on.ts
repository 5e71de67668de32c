import { clusteringStoppedAnnotation, reconciliationStoppedAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import { noFaults } from '../../support/moco/faults.ts';
import { same } from '../../support/moco/same.ts';
import { isAwayForGood, runs } from './moco-goes-on.ts';
import type { Simulation } from './simulation.ts';

/** Two tries of MOCO, since one may just have failed, and its loops' time to start. */
const tries = 2;
const marginMilliseconds = 10_000;

/** A failover that MOCO has begun, or is about to. */
interface Awaited {
  readonly index: number;
  readonly primary: string;
  readonly life: number;
  /** The replicas that it can choose from when it begins, by uid. */
  readonly replicas: readonly string[];
  /** Somebody's applier has not been through all the time. */
  hasWaited: boolean;
}

/**
 * I13 with the program: a failover that MOCO alone would have ended, it ends beside the program too. It begins when the
 * primary is gone for good and every replica follows. MOCO alone would end it once its candidate has applied what it has
 * received, if no replica changes by another hand. What the program does to replicas excuses nothing.
 */
export class FailoverGoesOn {
  readonly #simulation: Simulation;
  readonly #withinMilliseconds: number;
  #awaited: Awaited | null = null;
  #cancel: (() => void) | null = null;

  constructor(simulation: Simulation, mocoMilliseconds: number) {
    this.#simulation = simulation;
    this.#withinMilliseconds = tries * mocoMilliseconds + marginMilliseconds;
  }

  /** Whenever anything has changed that it may depend on. Whose hand it was is known a moment later. */
  look(): void {
    if (this.#awaited !== null && !this.#isAwaited(this.#awaited)) {
      this.#simulation.clock.after(1, () => this.#lookAgain());
      return;
    }
    this.#lookAgain();
  }

  #lookAgain(): void {
    const before = this.#awaited;
    this.#awaited = before !== null && this.#isAwaited(before) ? before : this.#begun();
    if (this.#awaited !== before) this.#stopCounting();
    if (this.#awaited === null) return;
    if (this.#simulation.moco.faults.backlog.length > 0) {
      this.#awaited.hasWaited = true;
      this.#stopCounting();
    } else {
      this.#cancel ??= this.#simulation.clock.after(this.#withinMilliseconds, () => this.#object());
    }
  }

  #stopCounting(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #object(): void {
    const { witness, clock, processes } = this.#simulation;
    const awaited = this.#awaited;
    this.#cancel = null;
    // What tells no object of it has changed meanwhile: MOCO is away, or another process of it runs.
    if (awaited === null || !this.#isAwaited(awaited)) return this.#lookAgain();
    const { index, hasWaited } = awaited;
    // Once is enough.
    this.#cancel = (): void => {};
    // While the program is away `MocoGoesOn` judges a failover that waits for nothing.
    if (!hasWaited && !processes.some(({ isRunning }) => isRunning)) return;
    const after = hasWaited ? ', although its candidate could have applied everything' : '';
    const text = `no failover from member ${index} for ${this.#withinMilliseconds / 1000} s${after}`;
    witness.object('I13', text, clock.nowMilliseconds);
  }

  #begun(): Awaited | null {
    const { moco, members } = this.#simulation;
    const index = this.#primaryIndex();
    const primary = members.find(({ metadata }) => metadata.name.endsWith(`-${index}`));
    if (index === null || primary === undefined || !this.#isGone(primary, index)) return null;
    const replicas = members.filter((member) => member !== primary);
    const isWhole = replicas.length > 1 && members.length === this.#replicas();
    if (!isWhole || !replicas.every(follows) || moco.hasStoppedThreads) return null;
    const uids = replicas.map(({ metadata }) => metadata.uid);
    return { index, primary: primary.metadata.uid, life: moco.lives, replicas: uids, hasWaited: false };
  }

  #isAwaited({ index, primary, life, replicas }: Awaited): boolean {
    const { moco, members, witness } = this.#simulation;
    const still = members.find(({ metadata }) => metadata.uid === primary);
    if (this.#primaryIndex() !== index || moco.lives !== life || still === undefined) return false;
    if (!this.#isGone(still, index) || this.#replicas() !== replicas.length + 1) return false;
    const isUntouched = (uid: string): boolean => {
      const member = members.find(({ metadata }) => metadata.uid === uid);
      return member !== undefined && follows(member);
    };
    return replicas.every((uid) => isUntouched(uid) || witness.disruptions.some((one) => one.uid === uid));
  }

  /** `null` where MOCO is not to do anything, or something else is wrong with it. */
  #primaryIndex(): number | null {
    const { moco, cluster } = this.#simulation;
    const { annotations = {}, deletionTimestamp } = cluster?.metadata ?? {};
    const { offline, replicationSourceSecretName } = record(cluster?.['spec']);
    const isLeftAlone = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation].some(
      (name) => name in annotations,
    );
    const isMocos = cluster !== null && deletionTimestamp === undefined && offline !== true && !isLeftAlone;
    if (!isMocos || replicationSourceSecretName !== undefined || !moco.isRunning) return null;
    const index = Number(record(cluster['status'])['currentPrimaryIndex'] ?? 0);
    const unreachable = moco.faults.unreachable.filter((one) => one !== index);
    const others = { ...moco.faults, unreachable, backlog: [], lagSeconds: {} };
    return same(others, noFaults) ? index : null;
  }

  #isGone(primary: StoredObject, index: number): boolean {
    const isLost = this.#simulation.moco.faults.unreachable.includes(index);
    return isLost || (!runs(primary) && isAwayForGood(primary));
  }

  #replicas(): unknown {
    return record(this.#simulation.cluster?.['spec'])['replicas'];
  }
}

const follows = (member: StoredObject): boolean =>
  runs(member) && member.metadata.deletionTimestamp === undefined && member.metadata.labels?.[roleLabel] === 'replica';
