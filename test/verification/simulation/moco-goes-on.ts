import { pods, statefulSets } from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterKind,
  demoteAnnotation,
  mysqldContainer,
  preventDeleteAnnotation,
  reconciliationStoppedAnnotation,
  roleLabel,
} from '../../../src/moco/names.ts';
import { type Json, record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Simulation } from './simulation.ts';

/** The time for MOCO's loops to start: two reconciliations, of which the first may meet a conflict. */
const marginMilliseconds = 10_000;

/**
 * I13: while every process of the program is down, a failover or a switchover happens within MOCO's own time for it.
 * This excludes the own partition webhook, which fails closed: a template that changes while the program is down keeps
 * a restarted moco-controller from clustering. The time counts while moco-controller runs, none of its own rules
 * prevents the step, and the objects show everything that it needs; any change of these restarts it.
 */
export class MocoGoesOn {
  readonly #simulation: Simulation;
  readonly #withinMilliseconds: number;
  readonly #isJudged: boolean;
  #owed: { readonly what: string; readonly cancel: () => void } | null = null;
  constructor(simulation: Simulation, mocoMilliseconds: number, isJudged: boolean) {
    this.#isJudged = isJudged;
    this.#simulation = simulation;
    this.#withinMilliseconds = mocoMilliseconds + marginMilliseconds;
  }

  /** Whenever anything has changed that it may depend on. */
  look(): void {
    const what = this.#whatIsOwed();
    if (what === (this.#owed?.what ?? null)) return;
    this.#owed?.cancel();
    this.#owed = null;
    if (what === null) return;
    const { clock, witness } = this.#simulation;
    const cancel = clock.after(this.#withinMilliseconds, () => {
      const text = `no ${what.split(',')[0]} for ${this.#withinMilliseconds / 1000} s while the program was away`;
      if (this.#whatIsOwed() === what) witness.object('I13', text, clock.nowMilliseconds);
    });
    this.#owed = { what, cancel };
  }

  #whatIsOwed(): string | null {
    const { processes, moco, cluster, members } = this.#simulation;
    if (!this.#isJudged || processes.some(({ isRunning }) => isRunning)) return null;
    if (!moco.isRunning || !moco.isUntroubled) return null;
    if (cluster === null || !isMocos(cluster, this.#simulation)) return null;
    const { replicas } = record(cluster['spec']);
    const index = Number(record(cluster['status'])['currentPrimaryIndex'] ?? 0);
    const primary = members.find(({ metadata }) => metadata.name.endsWith(`-${index}`));
    if (primary === undefined || members.length !== replicas) return null;
    const others = members.filter((member) => member !== primary);
    const follow = others.filter((member) => runs(member) && member.metadata.labels?.[roleLabel] === 'replica');
    const life = `of member ${index}, ${primary.metadata.uid}, life ${moco.lives}`;
    // A failover needs more than half of the members; here everybody else is there.
    if (others.length > 1 && !runs(primary) && isAwayForGood(primary) && follow.length === others.length) {
      return `failover ${life}`;
    }
    const isAsked = primary.metadata.annotations?.[demoteAnnotation] === annotationOn;
    const isFree = primary.metadata.annotations?.[preventDeleteAnnotation] === undefined;
    const isWhole = others.length > 0 && members.every(isReady) && follow.length === others.length;
    return isAsked && isFree && isWhole && isTrue(cluster, 'Healthy') ? `switchover ${life}` : null;
  }
}

/** MOCO is not told to ignore it, and it has been initialized. */
function isMocos({ metadata, spec, status }: StoredObject, { server }: Simulation): boolean {
  const stopped = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation];
  const initialized = conditionsOf(status).some(({ type, status: is }) => type === 'Initialized' && is === 'True');
  const set = server.store.all(statefulSets)[0];
  return (
    metadata.deletionTimestamp === undefined &&
    set !== undefined &&
    set.metadata.deletionTimestamp === undefined &&
    !stopped.some((name) => metadata.annotations?.[name] !== undefined) &&
    record(spec)['offline'] !== true &&
    initialized
  );
}

function isTrue({ status }: StoredObject, condition: string): boolean {
  return conditionsOf(status).some(({ type, status: is }) => type === condition && is === 'True');
}

const isReady = (pod: StoredObject): boolean => isTrue(pod, 'Ready');

function conditionsOf(status: unknown): readonly Json[] {
  return (record(status)['conditions'] ?? []) as readonly Json[];
}

function mysqld(pod: StoredObject): Json {
  const statuses = (record(pod['status'])['containerStatuses'] ?? []) as readonly Json[];
  return record(statuses.find(({ name }) => name === mysqldContainer)?.['state']);
}

export const runs = (pod: StoredObject): boolean => mysqld(pod)['running'] !== undefined;

/** Not one that is only being started. */
export const isAwayForGood = (pod: StoredObject): boolean =>
  pod.metadata.deletionTimestamp === undefined && record(mysqld(pod)['waiting'])['reason'] === 'CrashLoopBackOff';

export const watchedByI13 = [pods, clusterKind, statefulSets];
