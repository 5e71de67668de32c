import { isDeepStrictEqual } from 'node:util';
import { sequenceKind } from '../api/rollout-sequence.ts';
import type { World } from '../base/world.ts';
import { isConflict, isNotFound } from '../kube/api-error.ts';
import type { EventRecorder } from '../kube/event-recorder.ts';
import type { RunResult } from '../kube/work-queue.ts';
import type { StatusClient } from '../objects/status-client.ts';
import type { FleetMetrics } from '../telemetry/metrics.ts';
import type { Stages } from './fleet/sequence-stages.ts';
import { sequenceChangesAt, sequenceEvents, sequenceNumbers, sequenceStatusOf } from './fleet/sequence-status.ts';

export interface SequenceContext {
  readonly stages: Stages;
  readonly apiFor: (signal: AbortSignal) => Pick<StatusClient, 'replaceStatus'>;
  readonly world: Pick<World, 'wall' | 'monotonic'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<FleetMetrics, 'setSequence'>;
  readonly isLeading: () => boolean;
}

/** The shortest time between two writes of a status. It bounds the work when many clusters change at once. */
const writeIntervalMilliseconds = 1000;

/**
 * Wakes the affected clusters when the clusters of a MySQLRolloutSequence change, and writes the status of the
 * sequence. Clusters do not depend on this status: each cluster decides by itself.
 */
export class SequenceReconciler {
  readonly #context: SequenceContext;
  /** When each sequence was last written, on the monotonic clock. */
  readonly #writtenAt = new Map<string, number>();

  constructor(context: SequenceContext) {
    this.#context = context;
  }

  /** Rejects if the API server does not respond or refuses the status; the work queue retries. */
  async reconcile(name: string, signal: AbortSignal): Promise<RunResult> {
    const { stages, apiFor, world, recorder, metrics, isLeading } = this.#context;
    if (!isLeading()) return {};
    stages.wakeConcerned(name);
    const record = stages.sequence(name);
    if (record === undefined) {
      this.#writtenAt.delete(name);
      metrics.setSequence(name, null);
      return {};
    }
    const nowSeconds = world.wall() / 1000;
    const observation = {
      record,
      counts: stages.countsOf(record.sequence),
      conflicts: stages.conflictsOf(name),
      nowSeconds,
    };
    const status = sequenceStatusOf(observation);
    metrics.setSequence(name, sequenceNumbers(observation, status));
    const changesAt = sequenceChangesAt(observation);
    const requeue = changesAt === null ? {} : { requeueAfterMilliseconds: (changesAt - nowSeconds) * 1000 };
    if (isDeepStrictEqual(status, record.status)) return requeue;
    const writeIn =
      (this.#writtenAt.get(name) ?? Number.NEGATIVE_INFINITY) + writeIntervalMilliseconds - world.monotonic();
    if (writeIn > 0) return { requeueAfterMilliseconds: writeIn };
    this.#writtenAt.set(name, world.monotonic());
    try {
      await apiFor(signal).replaceStatus(sequenceKind, record, { spec: record.spec, status });
    } catch (error) {
      // The watch will deliver the newer sequence, or its deletion, and start another pass.
      if (isConflict(error) || isNotFound(error)) return requeue;
      throw error;
    }
    for (const event of sequenceEvents(record, status)) recorder.record(event);
    return requeue;
  }
}
