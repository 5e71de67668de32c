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

/** What is known of a cluster, and what follows from it: `null` if the MySQLCluster is not known to exist. */
interface Known {
  readonly objects: StagedObjects | null;
  readonly facts: StageFacts;
  /** It is about to begin. The API server does not show that yet. */
  readonly promised: boolean;
  readonly cluster: StagedCluster | null;
}

const unknown: Known = { objects: null, facts: withoutRollout, promised: false, cluster: null };

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
  readonly #known = new Map<string, Known>();
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
    this.#note(key, { objects });
  }

  /** `undefined` if there is no MySQLRollout of the cluster. */
  noteRollout(key: string, facts: StageFacts = withoutRollout): void {
    this.#note(key, { facts });
  }

  /** The cluster is about to begin, or is not any more. */
  promise(key: string, promised: boolean): void {
    this.#note(key, { promised });
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
    for (const [key, { cluster: then }] of this.#known) {
      this.#note(key, {});
      const now = this.#known.get(key)?.cluster;
      if (now?.waitingSince !== null && (isOf(then, name) || isOf(now, name))) this.#wake(key);
    }
    this.#changed(name);
  }

  selects(key: string): boolean {
    return (this.#known.get(key)?.cluster?.places.length ?? 0) > 0;
  }

  /** A cluster that has waited with another revision has not waited with this one. */
  waits(key: string, revision: string, nowSeconds: number): readonly FleetWait[] {
    const { cluster, facts } = this.#known.get(key) ?? unknown;
    if (cluster === null) return [];
    const own = facts.revision === revision ? cluster : { ...cluster, waitingSince: null, queuedSince: null };
    return stageWaits(own, (sequence) => this.countsOf(sequence), nowSeconds);
  }

  /** Whether clusters of a later stage have not begun yet: they depend on how this one does. */
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
    const counts = stageCounts(sequence, this.#clusters());
    this.#counts.set(sequence.name, counts);
    return counts;
  }

  clustersOf(name: string): readonly StagedCluster[] {
    return this.#clusters()
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
    for (const cluster of this.#clusters()) {
      const isIn = cluster.places.some((place) => place.sequence.name === name && place.stage === stage);
      if (isIn && is(cluster)) this.#wake(cluster.key);
    }
  }

  #clusters(): readonly StagedCluster[] {
    return [...this.#known.values()].map(({ cluster }) => cluster).filter((cluster) => cluster !== null);
  }

  #note(key: string, change: Partial<Known>): void {
    const before = this.#known.get(key) ?? unknown;
    const known = { ...before, ...change };
    const cluster = this.#clusterOf(key, known);
    if (cluster === null && known.facts === withoutRollout && !known.promised) this.#known.delete(key);
    else this.#known.set(key, { ...known, cluster });
    if (isDeepStrictEqual(before.cluster, cluster)) return;
    for (const one of [before.cluster, cluster]) {
      for (const { sequence } of one?.places ?? []) {
        this.#counts.delete(sequence.name);
        if (this.#sequences.has(sequence.name)) this.#changed(sequence.name);
      }
    }
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

const isOf = (cluster: StagedCluster | null | undefined, name: string): boolean =>
  cluster?.places.some(({ sequence }) => sequence.name === name) === true;
