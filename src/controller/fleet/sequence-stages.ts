import { isDeepStrictEqual } from 'node:util';
import { mostGone, type SequenceRecord } from '../../api/rollout-sequence.ts';
import {
  type GoneCluster,
  type Place,
  type Sequence,
  type StageCount,
  type StagedCluster,
  stageCounts,
} from '../../core/fleet/stage-counts.ts';
import { nextInStage, stageGates, stageWaits } from '../../core/fleet/stage-waits.ts';
import type { FleetWait } from '../../core/fleet/waits.ts';
import { withoutRollout } from './fleet-standing.ts';

// The stages of MySQLRolloutSequences with their clusters, kept up to date from the cache.

/** The parts of a MySQLCluster and its StatefulSet that matter for stages. */
export interface StagedObjects {
  readonly labels: Readonly<Record<string, string>>;
  /** Whether the cluster is offline. It then has no pods and counts in no stage. */
  readonly offline: boolean;
  /** `null` while it is unknown. */
  readonly updateRevision: string | null;
}

export type StageFacts = typeof withoutRollout;

/** The facts about a cluster, and its place in stages. `objects` is `null` while no MySQLCluster is known. */
interface Known {
  readonly objects: StagedObjects | null;
  readonly facts: StageFacts;
  /** The rollout is about to begin, but the API server does not show that yet. */
  readonly promised: boolean;
  readonly cluster: StagedCluster | null;
}

const unknown: Known = { objects: null, facts: withoutRollout, promised: false, cluster: null };

/** What the clusters of a stage wait for, and which clusters are next. Clusters are woken when this changes. */
interface StageState {
  readonly gates: string;
  readonly next: ReadonlySet<string>;
  /** Whether a later stage contains clusters that have not begun. */
  readonly isWatched: boolean;
}

/**
 * The stages of all sequences, computed from the cached objects. A change only marks counts as outdated. They are
 * computed again when they are next needed, in one pass over the clusters.
 */
export class Stages {
  readonly #wake: (key: string) => void;
  readonly #changed: (sequence: string) => void;
  readonly #sequences = new Map<string, SequenceRecord>();
  readonly #known = new Map<string, Known>();
  readonly #counts = new Map<string, readonly StageCount[]>();
  readonly #states = new Map<string, readonly StageState[]>();
  readonly #gone = new Map<string, readonly GoneFromStage[]>();
  readonly #departed = new Map<string, DepartedSequence>();
  readonly #wall: () => number;
  readonly #startedSeconds: number;

  /**
   * `wake` is called with each cluster that may have to decide again. `changed` is called with each sequence whose
   * clusters have changed. `wall` returns the time in milliseconds since 1970.
   */
  constructor(wake: (key: string) => void, changed: (sequence: string) => void, wall: () => number) {
    this.#wake = wake;
    this.#changed = changed;
    this.#wall = wall;
    this.#startedSeconds = wall() / 1000;
  }

  /** `null` if the MySQLCluster does not exist or is being deleted. */
  noteCluster(key: string, objects: StagedObjects | null): void {
    this.#note(key, { objects });
  }

  /** `undefined` if the cluster has no MySQLRollout. */
  noteRollout(key: string, facts: StageFacts = withoutRollout): void {
    this.#note(key, { facts });
  }

  /** Records whether the cluster is about to begin its rollout. */
  promise(key: string, promised: boolean): void {
    this.#note(key, { promised });
  }

  /** Records a sequence. Every cluster that waited for it, or now waits for it, decides again. */
  noteSequence(name: string, record: SequenceRecord | null): void {
    const before = this.#sequences.get(name);
    if (before !== undefined && before.uid === record?.uid && before.generation === record.generation) {
      this.#sequences.set(name, record);
      return;
    }
    const departed = this.#departed.get(name);
    this.#departed.delete(name);
    if (record === null) {
      this.#sequences.delete(name);
      const atSeconds = this.#wall() / 1000;
      if (before !== undefined)
        this.#departed.set(name, { record: before, gone: this.#gone.get(name) ?? [], atSeconds });
    } else this.#sequences.set(name, record);
    this.#counts.delete(name);
    this.#states.delete(name);
    for (const [key, { cluster: then }] of this.#known) {
      this.#note(key, {}, name);
      const now = this.#known.get(key)?.cluster;
      if (now?.waitingSince !== null && (isOf(then, name) || isOf(now, name))) this.#wake(key);
    }
    const goneBefore = before === undefined && record !== null ? this.#goneBefore(record) : null;
    this.#keepGone(name, goneBefore === null ? undefined : [...goneBefore, ...(departed?.gone ?? [])]);
    this.#changed(name);
  }

  selects(key: string): boolean {
    return (this.#known.get(key)?.cluster?.places.length ?? 0) > 0;
  }

  /** What the cluster waits for. Time spent waiting with a different revision does not count. */
  waits(key: string, revision: string, nowSeconds: number): readonly FleetWait[] {
    const { cluster, facts } = this.#known.get(key) ?? unknown;
    if (cluster === null) return [];
    const own = facts.revision === revision ? cluster : { ...cluster, waitingSince: null, queuedSince: null };
    return stageWaits(own, (sequence) => this.countsOf(sequence), nowSeconds);
  }

  /**
   * Why the cluster may not begin yet although the sequence that selected it has been deleted. A process that starts
   * after the deletion learns of the sequence from a hold in the status, and measures the time from its own start.
   */
  waitsForDeparted(key: string, nowSeconds: number): readonly FleetWait[] {
    const { objects, facts, cluster } = this.#known.get(key) ?? unknown;
    if (objects === null || objects.offline) return [];
    const settled = this.#startedSeconds + sequenceSettlesSeconds;
    const isLeftHeld = facts.isHeldBySequence && cluster?.places.length === 0;
    const before: readonly FleetWait[] =
      isLeftHeld && settled > nowSeconds
        ? [{ hold: { rule: 'SequenceGone', sequence: null, until: settled }, remainingSeconds: settled - nowSeconds }]
        : [];
    const seen = [...this.#departed].flatMap(([sequence, { record, atSeconds }]) => {
      const until = atSeconds + sequenceSettlesSeconds;
      if (until <= nowSeconds) this.#departed.delete(sequence);
      if (until <= nowSeconds || record.stageOf(objects.labels) === null) return [];
      return [{ hold: { rule: 'SequenceGone', sequence, until } as const, remainingSeconds: until - nowSeconds }];
    });
    return seen.length > 0 ? seen : before;
  }

  /** Whether a later stage contains clusters that have not begun and so depend on this cluster. */
  laterStageWaits(key: string): boolean {
    return (this.#known.get(key)?.cluster?.places ?? []).some(({ sequence, stage }) =>
      waitsAfter(this.countsOf(sequence), stage),
    );
  }

  sequence(name: string): SequenceRecord | undefined {
    return this.#sequences.get(name);
  }

  countsOf(sequence: Sequence): readonly StageCount[] {
    const known = this.#counts.get(sequence.name);
    if (known !== undefined) return known;
    const gone = this.#gone.get(sequence.name) ?? [];
    const counts = stageCounts(sequence, this.#clusters(), (stage) => gone.filter((one) => one.stage === stage));
    this.#counts.set(sequence.name, counts);
    return counts;
  }

  clustersOf(name: string): readonly StagedCluster[] {
    return this.#clusters()
      .filter(({ places }) => places.some(({ sequence }) => sequence.name === name))
      .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  }

  /** The clusters that the sequence selects and a different sequence selects as well, by name. */
  conflictsOf(name: string): readonly string[] {
    return this.clustersOf(name)
      .filter(({ places }) => places.length > 1)
      .map(({ key }) => key);
  }

  /**
   * Wakes the clusters that have to decide again: since the last call their stage has opened or closed, or their turn
   * has come.
   */
  wakeConcerned(name: string): void {
    const sequence = this.#sequences.get(name)?.sequence;
    if (sequence === undefined) return;
    const counts = this.countsOf(sequence);
    const before = this.#states.get(name);
    const states = sequence.stages.map((_, index): StageState => {
      const gates = stageGates(sequence, counts, index).map(({ rule, stage, ...hold }) => [
        rule,
        stage,
        'until' in hold ? hold.until : null,
      ]);
      return {
        gates: JSON.stringify(gates),
        next: new Set(nextInStage(sequence, counts, index)),
        isWatched: waitsAfter(counts, index),
      };
    });
    this.#states.set(name, states);
    for (const [index, { gates, next, isWatched }] of states.entries()) {
      const known = before?.[index];
      if (isWatched !== (known?.isWatched ?? false))
        this.#wakeIn(name, index, ({ completeSince }) => completeSince !== null);
      if (known !== undefined && known.gates !== gates) {
        this.#wakeIn(name, index, ({ waitingSince }) => waitingSince !== null);
      } else {
        for (const key of next) if (!known?.next.has(key)) this.#wake(key);
      }
    }
  }

  #wakeIn(name: string, stage: number, is: (cluster: StagedCluster) => boolean): void {
    for (const cluster of this.#clusters()) {
      const isIn = cluster.places.some((place) => place.sequence.name === name && place.stage === stage);
      if (isIn && is(cluster)) this.#wake(cluster.key);
    }
  }

  #clusters(): readonly StagedCluster[] {
    return [...this.#known.values()].map(({ cluster }) => cluster).filter((cluster) => cluster !== null);
  }

  /** @param changing the sequence that is being changed. A cluster that it no longer selects has not left its stage. */
  #note(key: string, change: Partial<Known>, changing: string | null = null): void {
    const before = this.#known.get(key) ?? unknown;
    const known = { ...before, ...change };
    const cluster = this.#clusterOf(key, known);
    if (cluster === null && known.facts === withoutRollout && !known.promised) this.#known.delete(key);
    else this.#known.set(key, { ...known, cluster });
    if (isDeepStrictEqual(before.cluster, cluster)) return;
    for (const { sequence, stage } of before.cluster?.places ?? []) {
      const stays = cluster?.places.some((place) => place.sequence.name === sequence.name && place.stage === stage);
      if (!stays && before.cluster !== null && sequence.name !== changing) this.#leave(before.cluster, sequence, stage);
    }
    for (const one of [before.cluster, cluster]) {
      for (const { sequence } of one?.places ?? []) {
        // The cluster that leaves may have been the last one that the change had not reached.
        this.#keepGone(sequence.name);
        this.#counts.delete(sequence.name);
        if (this.#sequences.has(sequence.name)) this.#changed(sequence.name);
      }
    }
  }

  /** Records that the cluster is no longer in the stage. `was` is its last state in the stage. */
  #leave(was: StagedCluster, sequence: Sequence, index: number): void {
    const stage = sequence.stages[index];
    if (stage === undefined) return;
    const others = this.clustersOf(sequence.name);
    const isLast = !others.some(({ places }) => isIn(places, sequence.name, index));
    const soaks = was.completeSince !== null && was.completeSince + stage.soakSeconds > this.#wall() / 1000;
    const isChanging =
      was.completeSince === null || soaks || others.some(({ completeSince }) => completeSince === null);
    if (!was.failing && !(isLast && isChanging)) return;
    const gone = { stage: stage.name, cluster: was.key, failing: was.failing, followed: false };
    this.#keepGone(sequence.name, [...(this.#gone.get(sequence.name) ?? []), gone]);
  }

  /**
   * Forgets clusters that have returned to their stage. Also forgets clusters that left before a change that every
   * cluster has received by now.
   */
  #keepGone(name: string, known: readonly GoneFromStage[] = this.#gone.get(name) ?? []): void {
    const sequence = this.#sequences.get(name)?.sequence;
    if (sequence === undefined) this.#gone.delete(name);
    if (sequence === undefined || known.length === 0) return;
    const clusters = this.clustersOf(name);
    const isRolledOut = clusters.every(({ completeSince }) => completeSince !== null);
    const hasChange = clusters.some(({ waitingSince, rolling }) => waitingSince !== null || rolling);
    const stays = known.flatMap((one): readonly GoneFromStage[] => {
      const index = sequence.stages.findIndex((stage) => stage.name === one.stage);
      const inStage = clusters.filter(({ places }) => isIn(places, name, index));
      const isBack = inStage.some(({ key }) => key === one.cluster) || (!one.failing && inStage.length > 0);
      if (index < 0 || isBack || (one.followed && isRolledOut)) return [];
      return [{ ...one, followed: one.followed || hasChange }];
    });
    const last = [...new Map(stays.map((one) => [`${one.stage} ${one.cluster}`, one])).values()].slice(-mostGone);
    if (isDeepStrictEqual(last, this.#gone.get(name) ?? [])) return;
    this.#gone.set(name, last);
    this.#counts.delete(name);
    this.#changed(name);
  }

  /**
   * The clusters that left their stage according to the status that an earlier process wrote. If the status names a
   * cluster as failing, or as the last one of its stage, and the stage no longer contains it, the cluster left while no
   * process was watching.
   */
  #goneBefore({ status, sequence }: SequenceRecord): readonly GoneFromStage[] {
    return (status.stages ?? []).flatMap(({ name: stage, gone = [], clusters, failing, state, stoppedBy }) => {
      const index = sequence.stages.findIndex((one) => one.name === stage);
      const inStage = this.clustersOf(sequence.name).filter(({ places }) => isIn(places, sequence.name, index));
      const hasLeft = stoppedBy !== undefined && !inStage.some(({ key }) => key === stoppedBy);
      const isLast = clusters > 0 && inStage.length === 0 && state !== 'Complete';
      const left = { stage, cluster: stoppedBy ?? sequence.name, failing: failing > 0, followed: false };
      return [...gone.map((one) => ({ ...one, stage })), ...(hasLeft && (failing > 0 || isLast) ? [left] : [])];
    });
  }

  #clusterOf(key: string, { objects, facts, promised }: Known): StagedCluster | null {
    if (objects === null) return null;
    const { complete } = facts;
    return {
      key,
      places: objects.offline ? [] : this.#placesOf(objects),
      rolling: facts.rolling || promised,
      waitingSince: facts.waitingSince === null ? null : facts.waitingSince / 1000,
      queuedSince: facts.queuedSince === null ? null : facts.queuedSince / 1000,
      wantsTurn: facts.wantsTurn && !promised,
      // If the revision differs from the one in the status, it is unknown whether members are stale.
      completeSince:
        complete !== null && (objects.updateRevision ?? complete.revision) === complete.revision
          ? complete.since
          : null,
      failing: facts.failing || facts.refused,
    };
  }

  #placesOf({ labels }: StagedObjects): readonly Place[] {
    return [...this.#sequences.values()].flatMap(({ sequence, stageOf }) => {
      const stage = stageOf(labels);
      return stage === null ? [] : [{ sequence, stage }];
    });
  }
}

/** Clusters may begin only after their sequence has been gone for this long. */
const sequenceSettlesSeconds = 30;

interface DepartedSequence {
  readonly record: SequenceRecord;
  readonly gone: readonly GoneFromStage[];
  readonly atSeconds: number;
}

interface GoneFromStage extends GoneCluster {
  readonly stage: string;
}

const isIn = (places: readonly Place[], sequence: string, stage: number): boolean =>
  places.some((place) => place.sequence.name === sequence && place.stage === stage);

const waitsAfter = (counts: readonly StageCount[], stage: number): boolean =>
  counts.slice(stage + 1).some(({ notBegun }) => notBegun > 0);

const isOf = (cluster: StagedCluster | null | undefined, name: string): boolean =>
  cluster?.places.some(({ sequence }) => sequence.name === name) === true;
