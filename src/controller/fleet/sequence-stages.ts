import { isDeepStrictEqual } from 'node:util';
import type { SequenceRecord } from '../../api/rollout-sequence.ts';
import {
  type Place,
  type Sequence,
  type StageCount,
  type StagedCluster,
  stageCounts,
} from '../../core/fleet/stage-counts.ts';
import { nextInStage, stageGates, stageWaits } from '../../core/fleet/stage-waits.ts';
import type { FleetWait } from '../../core/fleet/waits.ts';
import { withoutRollout } from './fleet-standing.ts';

/** What a MySQLCluster and its StatefulSet say that matters for stages. */
export interface StagedObjects {
  readonly labels: Readonly<Record<string, string>>;
  /** An offline cluster has no pods: it counts in no stage. */
  readonly offline: boolean;
  /** `null` while it is unknown. */
  readonly updateRevision: string | null;
}

export type StageFacts = typeof withoutRollout;

/** What the clusters of a stage wait for, and who is next: when this changes, clusters have to be woken. */
interface StageState {
  readonly gates: string;
  readonly next: ReadonlySet<string>;
  /** A later stage has clusters that have not begun. */
  readonly isWatched: boolean;
}

/**
 * The stages of all sequences, from the objects of the API server. Counts are made anew when they are asked for after a
 * change: one pass over the clusters, whatever has changed.
 */
export class Stages {
  readonly #wake: (key: string) => void;
  readonly #changed: (sequence: string) => void;
  readonly #sequences = new Map<string, SequenceRecord>();
  readonly #objects = new Map<string, StagedObjects>();
  readonly #facts = new Map<string, StageFacts>();
  readonly #promised = new Set<string>();
  readonly #clusters = new Map<string, StagedCluster>();
  readonly #counts = new Map<string, readonly StageCount[]>();
  readonly #states = new Map<string, readonly StageState[]>();

  /**
   * `wake` is called with each cluster that may have to decide anew, `changed` with each sequence whose clusters
   * changed.
   */
  constructor(wake: (key: string) => void, changed: (sequence: string) => void) {
    this.#wake = wake;
    this.#changed = changed;
  }

  /** `null` if the MySQLCluster does not exist or is being deleted. */
  noteCluster(key: string, objects: StagedObjects | null): void {
    const before = this.#objects.get(key);
    if (objects !== null && isDeepStrictEqual(before, objects)) return;
    if (objects === null) this.#objects.delete(key);
    else this.#objects.set(key, objects);
    this.#update(key);
  }

  /** `undefined` if there is no MySQLRollout of the cluster. */
  noteRollout(key: string, facts: StageFacts | undefined): void {
    if (facts === undefined) this.#facts.delete(key);
    else this.#facts.set(key, facts);
    this.#update(key);
  }

  /** The cluster is about to begin. The API server does not show that yet. */
  promise(key: string, promised: boolean): void {
    if (promised) this.#promised.add(key);
    else this.#promised.delete(key);
    this.#update(key);
  }

  /** Everybody who waits for the sequence, or would wait for it now, decides anew. */
  noteSequence(name: string, record: SequenceRecord | null): void {
    const before = this.#sequences.get(name);
    if (before !== undefined && before.uid === record?.uid && before.generation === record.generation) {
      this.#sequences.set(name, record);
      return;
    }
    if (record === null) this.#sequences.delete(name);
    else this.#sequences.set(name, record);
    this.#counts.delete(name);
    this.#states.delete(name);
    for (const key of this.#objects.keys()) {
      const then = this.#clusters.get(key);
      this.#update(key);
      const now = this.#clusters.get(key);
      if (now?.waitingSince !== null && (isOf(then, name) || isOf(now, name))) this.#wake(key);
    }
    this.#changed(name);
  }

  selects(key: string): boolean {
    return (this.#clusters.get(key)?.places.length ?? 0) > 0;
  }

  /** A cluster that has waited with another revision has not waited with this one. */
  waits(key: string, revision: string, nowSeconds: number): readonly FleetWait[] {
    const cluster = this.#clusters.get(key);
    if (cluster === undefined) return [];
    const waitingSince = this.#facts.get(key)?.revision === revision ? cluster.waitingSince : null;
    return stageWaits({ ...cluster, waitingSince }, (sequence) => this.countsOf(sequence), nowSeconds);
  }

  /** Whether clusters of a later stage have not begun yet: they depend on how this one does. */
  laterStageWaits(key: string): boolean {
    return (this.#clusters.get(key)?.places ?? []).some(({ sequence, stage }) =>
      waitsAfter(this.countsOf(sequence), stage),
    );
  }

  sequence(name: string): SequenceRecord | undefined {
    return this.#sequences.get(name);
  }

  countsOf(sequence: Sequence): readonly StageCount[] {
    const known = this.#counts.get(sequence.name);
    if (known !== undefined) return known;
    const counts = stageCounts(sequence, this.#clusters.values());
    this.#counts.set(sequence.name, counts);
    return counts;
  }

  clustersOf(name: string): readonly StagedCluster[] {
    return [...this.#clusters.values()]
      .filter(({ places }) => places.some(({ sequence }) => sequence.name === name))
      .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  }

  /** The clusters that the sequence selects and another one selects as well, by name. */
  conflictsOf(name: string): readonly string[] {
    return this.clustersOf(name)
      .filter(({ places }) => places.length > 1)
      .map(({ key }) => key);
  }

  /**
   * Wakes the clusters for which something has changed since the last time: a stage has opened or closed, or they are
   * next.
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
    for (const cluster of this.#clusters.values()) {
      const isIn = cluster.places.some((place) => place.sequence.name === name && place.stage === stage);
      if (isIn && is(cluster)) this.#wake(cluster.key);
    }
  }

  #update(key: string): void {
    const before = this.#clusters.get(key);
    const now = this.#clusterOf(key);
    if (now === null) this.#clusters.delete(key);
    else this.#clusters.set(key, now);
    if (now !== null && isDeepStrictEqual(before, now)) return;
    for (const cluster of [before, now]) {
      for (const { sequence } of cluster?.places ?? []) {
        this.#counts.delete(sequence.name);
        if (this.#sequences.has(sequence.name)) this.#changed(sequence.name);
      }
    }
  }

  #clusterOf(key: string): StagedCluster | null {
    const objects = this.#objects.get(key);
    if (objects === undefined) return null;
    const facts = this.#facts.get(key) ?? withoutRollout;
    const promised = this.#promised.has(key);
    const { complete } = facts;
    return {
      key,
      places: objects.offline ? [] : this.#placesOf(objects),
      rolling: facts.rolling || promised,
      waitingSince: facts.waitingSince === null ? null : facts.waitingSince / 1000,
      wantsTurn: facts.wantsTurn && !promised,
      // Another revision than that of the status: whether members are stale is not known yet.
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

const waitsAfter = (counts: readonly StageCount[], stage: number): boolean =>
  counts.slice(stage + 1).some(({ notBegun }) => notBegun > 0);

const isOf = (cluster: StagedCluster | undefined, name: string): boolean =>
  cluster?.places.some(({ sequence }) => sequence.name === name) === true;
