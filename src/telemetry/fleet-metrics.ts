import type { Registry } from 'prom-client';
import { Declared, labelValue, type Series } from './declared.ts';

/** What the leader knows of all clusters together. */
export interface FleetNumbers {
  /** How many clusters may roll at a time; `null` without a limit. */
  readonly slots: number | null;
  readonly rolling: number;
  /** Clusters with stale members whose rollout has not begun. */
  readonly waiting: number;
  readonly failing: number;
  /** Evictions that Kubernetes' disruption controller has not observed yet. */
  readonly unobservedEvictions: number;
  /** Clusters whose next eviction waits for them. */
  readonly waitingForDisruptionController: number;
}

/** What the leader knows of one stage of a MySQLRolloutSequence. */
export interface StageNumbers {
  readonly name: string;
  readonly state: string;
  readonly upToDate: number;
  readonly rolling: number;
  readonly waiting: number;
  readonly failing: number;
  /** How many of its clusters may roll at a time. */
  readonly slots: number;
}

export interface SequenceNumbers {
  readonly stages: readonly StageNumbers[];
  /** The first stage that is not complete, or `undefined`. */
  readonly stage: string | undefined;
}

type NumbersOf = () => FleetNumbers | null;

/** Whether this process leads, and if so the limits across all clusters and how far they are used. */
export class FleetMetrics extends Declared {
  #numbers: NumbersOf = () => null;
  readonly #sequences = new Map<string, SequenceNumbers>();

  constructor(registry: Registry) {
    super(registry);
    const fleet = (name: string, help: string, valueOf: (numbers: FleetNumbers) => number | null): void =>
      this.computed(`moco_rollout_fleet_${name}`, help, [], () => {
        const numbers = this.#numbers();
        const value = numbers && valueOf(numbers);
        return value === null ? [] : [[{}, value]];
      });
    fleet('slots', 'Clusters that may roll at a time; no series without a limit.', ({ slots }) => slots);
    fleet('rolling_clusters', 'Clusters whose rollout has begun.', ({ rolling }) => rolling);
    fleet('waiting_clusters', 'Clusters with stale members whose rollout has not begun.', ({ waiting }) => waiting);
    fleet(
      'failing_clusters',
      'Clusters whose revision fails, or whose rollout has begun and is stalled.',
      ({ failing }) => failing,
    );
    fleet(
      'unobserved_evictions',
      "Evictions that Kubernetes' disruption controller has not observed yet.",
      ({ unobservedEvictions }) => unobservedEvictions,
    );
    fleet(
      'evictions_waiting_clusters',
      'Clusters whose next eviction waits until the disruption controller has observed others.',
      ({ waitingForDisruptionController }) => waitingForDisruptionController,
    );
    this.computed('moco_rollout_leader', 'Whether this process leads: 1, or 0.', [], () => [
      [{}, this.#numbers() === null ? 0 : 1],
    ]);
    this.computed(
      'moco_rollout_stage_clusters',
      'Clusters of a stage of a MySQLRolloutSequence: up to date and healthy, rolling, waiting, or failing.',
      ['sequence', 'stage', 'state'],
      () =>
        this.#ofStages((labels, { upToDate, rolling, waiting, failing }) =>
          Object.entries({ upToDate, rolling, waiting, failing }).map(([state, count]) => [
            { ...labels, state: labelValue(state) },
            count,
          ]),
        ),
    );
    this.computed(
      'moco_rollout_stage_slots',
      'Clusters of a stage of a MySQLRolloutSequence that may roll at a time.',
      ['sequence', 'stage'],
      () => this.#ofStages((labels, { slots }) => [[labels, slots]]),
    );
    this.computed(
      'moco_rollout_sequence_stage',
      'The first stage of a MySQLRolloutSequence that is not complete, and its state: always 1.',
      ['sequence', 'stage', 'state'],
      () => this.#ofStages((labels, { name, state }, current) => (name === current ? [[{ ...labels, state }, 1]] : [])),
    );
  }

  /** `numbers` is called whenever the metrics are read. It returns `null` while this process does not lead. */
  observe(numbers: NumbersOf): void {
    this.#numbers = numbers;
  }

  /** `null` once the sequence does not exist any more. */
  setSequence(name: string, numbers: SequenceNumbers | null): void {
    if (numbers === null) this.#sequences.delete(name);
    else this.#sequences.set(name, numbers);
  }

  #ofStages(
    seriesOf: (
      labels: { readonly sequence: string; readonly stage: string },
      stage: StageNumbers,
      current: string | undefined,
    ) => readonly Series[],
  ): readonly Series[] {
    return [...this.#sequences].flatMap(([sequence, { stages, stage: current }]) =>
      stages.flatMap((stage) => seriesOf({ sequence, stage: stage.name }, stage, current)),
    );
  }
}
