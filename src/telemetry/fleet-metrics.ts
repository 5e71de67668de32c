import { Gauge, type Registry } from 'prom-client';

/** What the leader knows of all clusters together. */
export interface FleetNumbers {
  /** How many clusters may roll at a time; `null` without a limit. */
  readonly slots: number | null;
  readonly rolling: number;
  /** Clusters with stale members whose rollout has not begun. */
  readonly waiting: number;
  readonly failing: number;
}

export interface StageNumbers {
  readonly name: string;
  readonly upToDate: number;
  readonly rolling: number;
  readonly waiting: number;
  readonly failing: number;
}

interface StageLabels {
  readonly sequence: string;
  readonly stage: string;
  readonly state: string;
}

type NumbersOf = () => FleetNumbers | null;

/** Limits across all clusters, and how far they are used. There are no series where no controller leads. */
export class FleetMetrics {
  #numbers: NumbersOf = () => null;
  readonly #stageClusters: Gauge<'sequence' | 'stage' | 'state'>;
  /** By sequence: the series it has. */
  readonly #series = new Map<string, readonly StageLabels[]>();

  constructor(registry: Registry) {
    this.#stageClusters = new Gauge({
      name: 'moco_rollout_stage_clusters',
      help: 'Clusters of a stage of a MySQLRolloutSequence: up to date and healthy, rolling, waiting, or failing.',
      labelNames: ['sequence', 'stage', 'state'],
      registers: [registry],
    });
    this.#gauge(
      registry,
      'slots',
      'Clusters that may roll at a time; no series without a limit.',
      ({ slots }) => slots,
    );
    this.#gauge(registry, 'rolling_clusters', 'Clusters whose rollout has begun.', ({ rolling }) => rolling);
    this.#gauge(
      registry,
      'waiting_clusters',
      'Clusters with stale members whose rollout has not begun.',
      ({ waiting }) => waiting,
    );
    this.#gauge(
      registry,
      'failing_clusters',
      'Clusters whose revision fails, or whose rollout has begun and is stalled.',
      ({ failing }) => failing,
    );
  }

  /** `numbers` is called whenever the metrics are read. It returns `null` while this process does not lead. */
  observe(numbers: NumbersOf): void {
    this.#numbers = numbers;
  }

  /** Replaces all series of the sequence. */
  setStages(sequence: string, stages: readonly StageNumbers[]): void {
    for (const labels of this.#series.get(sequence) ?? []) this.#stageClusters.remove({ ...labels });
    const series = stages.flatMap(({ name: stage, upToDate, rolling, waiting, failing }) =>
      Object.entries({ upToDate, rolling, waiting, failing }).map(([state, count]) => {
        const labels = { sequence, stage, state };
        this.#stageClusters.set(labels, count);
        return labels;
      }),
    );
    if (series.length === 0) this.#series.delete(sequence);
    else this.#series.set(sequence, series);
  }

  #gauge(registry: Registry, name: string, help: string, valueOf: (numbers: FleetNumbers) => number | null): void {
    const value = (): number | null => {
      const numbers = this.#numbers();
      return numbers && valueOf(numbers);
    };
    registry.registerMetric(
      new Gauge({
        registers: [],
        name: `moco_rollout_fleet_${name}`,
        help,
        collect() {
          const now = value();
          this.reset();
          if (now === null) this.remove();
          else this.set(now);
        },
      }),
    );
  }
}
