import {
  annotationOn,
  clusteringStoppedAnnotation,
  demoteAnnotation,
  mysqldContainer,
  preventDeleteAnnotation,
  reconciliationStoppedAnnotation,
  roleLabel,
} from '../../../src/moco/names.ts';
import { noFaults } from '../../support/moco/faults.ts';
import { same } from '../../support/moco/same.ts';
import { isReady, isTerminating, primaryOf, replicasOf, runs } from '../witness/member.ts';
import type { Member, Moment } from '../witness/moment.ts';
import type { Simulation } from './simulation.ts';

/** The time for MOCO's loops to start: two reconciliations, of which the first may meet a conflict. */
const marginMilliseconds = 10_000;
/** One try of a failover may just have failed. */
const tries = 2;

interface Options {
  /** What its loops take for a switchover or a failover. */
  readonly mocoMilliseconds: number;
  /** Not where a webhook of the program fails closed: then a restarted moco-controller may not cluster without it. */
  readonly isJudgedAlone: boolean;
}

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
 * I13: what MOCO would do without the program comes in MOCO's own time. The time counts while moco-controller runs, none of
 * its own rules prevents the step, and the objects show everything that it needs.
 *
 * - A switchover, while every process of the program is down. Any change of what it needs restarts the time.
 * - A failover, with the program as well as without. It begins when the primary is gone for good and every replica
 *   follows; MOCO alone would end it once its candidate has applied what it has received, if no replica changes by another
 *   hand. What the program does to replicas excuses nothing.
 */
export class MocoGoesOn {
  readonly #simulation: Simulation;
  readonly #options: Options;
  #owed: { readonly switchover: string; readonly cancel: () => void } | null = null;
  #awaited: Awaited | null = null;
  #cancel: (() => void) | null = null;

  constructor(simulation: Simulation, options: Options) {
    this.#simulation = simulation;
    this.#options = options;
  }

  /** Whenever anything has changed that it may depend on. */
  look(): void {
    this.#lookForSwitchover();
    // Whose hand it was is known a moment later.
    if (this.#awaited === null || this.#isAwaited(this.#awaited)) this.#lookForFailover();
    else this.#simulation.clock.after(1, () => this.#lookForFailover());
  }

  get #isAlone(): boolean {
    return !this.#simulation.processes.some(({ isRunning }) => isRunning);
  }

  #lookForSwitchover(): void {
    const switchover = this.#switchoverOwed();
    if (switchover === (this.#owed?.switchover ?? null)) return;
    this.#owed?.cancel();
    this.#owed = null;
    if (switchover === null) return;
    const milliseconds = this.#options.mocoMilliseconds + marginMilliseconds;
    const cancel = this.#simulation.clock.after(milliseconds, () => {
      if (this.#switchoverOwed() === switchover) this.#object(`no ${switchover.split(',')[0]}`, milliseconds);
    });
    this.#owed = { switchover, cancel };
  }

  #object(what: string, milliseconds: number, why = ''): void {
    const { witness, clock } = this.#simulation;
    const away = this.#isAlone ? ' while the program was away' : '';
    witness.object('I13', `${what} for ${milliseconds / 1000} s${away}${why}`, clock.nowMilliseconds);
  }

  #switchoverOwed(): string | null {
    const { moco } = this.#simulation;
    const moment = this.#mocos();
    if (!this.#options.isJudgedAlone || !this.#isAlone || moment === null || !moco.isUntroubled) return null;
    const { members } = moment;
    const primary = members.find(({ ordinal }) => ordinal === primaryOf(moment));
    if (primary === undefined || members.length !== replicasOf(moment) || members.length < 2) return null;
    const { uid, annotations = {} } = primary.pod.metadata;
    const isAsked =
      annotations[demoteAnnotation] === annotationOn && annotations[preventDeleteAnnotation] === undefined;
    const isWhole = members.every(isReady) && members.every((one) => one === primary || follows(one));
    return isAsked && isWhole && isTrue(moment, 'Healthy')
      ? `switchover of member ${primary.ordinal}, ${uid}, life ${moco.lives}`
      : null;
  }

  /** The cluster as it is, unless MOCO does not run, is told to ignore it, or has not initialized it. */
  #mocos(): Moment | null {
    const { moment, moco } = this.#simulation;
    const { cluster, statefulSet } = moment;
    const { annotations = {} } = cluster?.metadata ?? {};
    const isStopped = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation].some((one) => one in annotations);
    const isGone = [cluster, statefulSet].some((one) => one === null || one.metadata.deletionTimestamp !== undefined);
    const isLeftAlone = isGone || isStopped || cluster?.spec.offline === true || !isTrue(moment, 'Initialized');
    return moco.isRunning && !isLeftAlone ? moment : null;
  }

  #lookForFailover(): void {
    const before = this.#awaited;
    this.#awaited = before !== null && this.#isAwaited(before) ? before : this.#begun();
    if (this.#awaited !== before) this.#stopCounting();
    if (this.#awaited === null) return;
    if (this.#simulation.moco.faults.backlog.length > 0) {
      this.#awaited.hasWaited = true;
      this.#stopCounting();
    } else {
      const milliseconds = tries * this.#options.mocoMilliseconds + marginMilliseconds;
      this.#cancel ??= this.#simulation.clock.after(milliseconds, () => this.#overdue(milliseconds));
    }
  }

  #stopCounting(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #overdue(milliseconds: number): void {
    const awaited = this.#awaited;
    this.#cancel = null;
    // What tells no object of it has changed in the meantime: MOCO is away, or another process of it runs.
    if (awaited === null || !this.#isAwaited(awaited)) return this.#lookForFailover();
    // Once is enough.
    this.#cancel = (): void => {};
    if (this.#isAlone && !this.#options.isJudgedAlone) return;
    const why = awaited.hasWaited ? ', although its candidate could have applied everything' : '';
    this.#object(`no failover of member ${awaited.index}`, milliseconds, why);
  }

  #begun(): Awaited | null {
    const { moco } = this.#simulation;
    const moment = this.#failsOver();
    if (moment === null) return null;
    const index = primaryOf(moment);
    const primary = moment.members.find(({ ordinal }) => ordinal === index);
    if (primary === undefined || !this.#isGone(primary)) return null;
    const replicas = moment.members.filter((member) => member !== primary);
    const isWhole = replicas.length > 1 && moment.members.length === replicasOf(moment);
    if (!isWhole || !replicas.every(follows) || moco.hasStoppedThreads) return null;
    const uids = replicas.map(({ pod }) => pod.metadata.uid);
    return { index, primary: primary.pod.metadata.uid, life: moco.lives, replicas: uids, hasWaited: false };
  }

  #isAwaited({ index, primary, life, replicas }: Awaited): boolean {
    const { moco, witness } = this.#simulation;
    const moment = this.#failsOver();
    if (moment === null || primaryOf(moment) !== index || moco.lives !== life) return false;
    const memberOf = (uid: string): Member | undefined => moment.members.find(({ pod }) => pod.metadata.uid === uid);
    const still = memberOf(primary);
    if (still === undefined || !this.#isGone(still) || replicasOf(moment) !== replicas.length + 1) return false;
    return replicas.every((uid) => {
      const member = memberOf(uid);
      return (member !== undefined && follows(member)) || witness.disruptions.some((one) => one.uid === uid);
    });
  }

  /** The cluster as it is, unless MOCO is not to fail over there, or something else is wrong with it. */
  #failsOver(): Moment | null {
    const moment = this.#mocos();
    if (moment === null || moment.cluster?.spec.replicationSourceSecretName !== undefined) return null;
    const { faults } = this.#simulation.moco;
    const unreachable = faults.unreachable.filter((one) => one !== primaryOf(moment));
    return same({ ...faults, unreachable, backlog: [], lagSeconds: {} }, noFaults) ? moment : null;
  }

  #isGone(primary: Member): boolean {
    return this.#simulation.moco.faults.unreachable.includes(primary.ordinal) || isAwayForGood(primary);
  }
}

const isTrue = ({ cluster }: Moment, condition: string): boolean =>
  cluster?.status?.conditions?.some(({ type, status }) => type === condition && status === 'True') ?? false;

/** Not one that is only being started. */
function isAwayForGood(member: Member): boolean {
  const mysqld = member.pod.status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
  return !isTerminating(member) && mysqld?.state?.waiting?.reason === 'CrashLoopBackOff';
}

const follows = (member: Member): boolean =>
  runs(member) && !isTerminating(member) && member.pod.metadata.labels?.[roleLabel] === 'replica';
