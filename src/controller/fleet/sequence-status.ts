import {
  type SequenceRecord,
  type SequenceStatus,
  type StageStatus,
  sequenceKind,
} from '../../api/rollout-sequence.ts';
import type { Condition } from '../../api/rollout-status.ts';
import { omitUndefined } from '../../base/json.ts';
import { concurrencyOf, othersStage, type Stage, type StageCount } from '../../core/fleet/stage-counts.ts';
import { stageGates } from '../../core/fleet/stage-waits.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { notYet } from '../../core/rules/fleet.ts';
import { timeText } from '../../core/sentences.ts';
import { type Occurrence, referenceTo } from '../../kube/event.ts';
import type { SequenceNumbers } from '../../telemetry/metrics.ts';
import { conditionsAfter } from '../facts/policy-in-force.ts';

// The status of a MySQLRolloutSequence, from the counts of its stages.

/** The facts about a sequence at one moment. */
export interface SequenceObservation {
  readonly record: SequenceRecord;
  readonly counts: readonly StageCount[];
  /** Clusters that a different sequence selects as well, by name. */
  readonly conflicts: readonly string[];
  readonly nowSeconds: number;
}

/** The most conflicts that the CRD allows in the status. */
const mostConflicts = 100;

type Finding = Pick<Condition, 'reason' | 'message'>;

/**
 * The status that follows from an observation. Parts that have not changed are taken from the stored status as they
 * are.
 */
export function sequenceStatusOf(observation: SequenceObservation): SequenceStatus {
  const { record, counts, conflicts } = observation;
  const stages = stageStatuses(observation);
  const sum = (of: (count: StageCount) => number): number => counts.reduce((total, count) => total + of(count), 0);
  return omitUndefined<SequenceStatus>({
    observedGeneration: record.generation,
    stage: stages.find(({ state }) => state !== 'Complete' && state !== 'Empty')?.name,
    clusters: sum(({ clusters }) => clusters),
    upToDateClusters: sum(({ upToDate }) => upToDate),
    rollingClusters: sum(({ rolling }) => rolling),
    failingClusters: sum(({ failing }) => failing),
    stages,
    conflicts: conflicts.length === 0 ? undefined : conflicts.slice(0, mostConflicts),
    conditions: sequenceConditions(observation, stages),
  });
}

/** The metrics of the same observation. */
export function sequenceNumbers(
  { record }: SequenceObservation,
  { stages = [], stage }: SequenceStatus,
): SequenceNumbers {
  const specs = new Map(record.sequence.stages.map((one) => [one.name, one]));
  return {
    stage,
    stages: stages.flatMap((one) => {
      const spec = specs.get(one.name);
      return spec === undefined ? [] : [{ ...one, slots: concurrencyOf(spec, one.clusters) }];
    }),
  };
}

/** When the status next changes without a change of any object, in Unix seconds; `null` if it does not. */
export function sequenceChangesAt({ counts, record, nowSeconds }: SequenceObservation): number | null {
  const ends = record.sequence.stages
    .map((stage, index) => soakEnd(stage, counts[index]))
    .filter((end) => end !== null)
    .filter((end) => end > nowSeconds);
  return ends.length === 0 ? null : Math.min(...ends);
}

function soakEnd({ soakSeconds }: Stage, count: StageCount | undefined): number | null {
  return count === undefined || count.last === null || count.unfinished !== null
    ? null
    : count.last.since + soakSeconds;
}

function stageStatuses(observation: SequenceObservation): readonly StageStatus[] {
  const { record, counts } = observation;
  return record.sequence.stages.flatMap((stage, index) => {
    const count = counts[index];
    if (count === undefined) return [];
    const { clusters, upToDate, rolling, waiting, failing, gone } = count;
    const state = stageState(observation, stage, index, count);
    const soakedUntil = state === 'Soaking' ? timeText(soakEnd(stage, count) ?? 0) : undefined;
    const stoppedBy = count.failed ?? count.unfinished ?? gone[0]?.cluster;
    return [
      omitUndefined<StageStatus>({
        name: stage.name,
        state,
        clusters,
        upToDate,
        rolling,
        waiting,
        failing,
        soakedUntil,
        stoppedBy,
        gone:
          gone.length === 0
            ? undefined
            : gone.map(({ cluster, failing: failed, followed }) => ({ cluster, failing: failed, followed })),
      }),
    ];
  });
}

function stageState(
  { record, counts, nowSeconds }: SequenceObservation,
  stage: Stage,
  index: number,
  count: StageCount,
): StageStatus['state'] {
  if (count.gone.some((one) => one.failing)) return 'Failing';
  if (count.clusters === 0) return count.gone.length > 0 ? 'Waiting' : 'Empty';
  if (count.failing > stage.maxFailures) return 'Failing';
  const until = soakEnd(stage, count);
  if (until !== null) return until > nowSeconds ? 'Soaking' : 'Complete';
  const waits = stageGates(record.sequence, counts, index).some(
    (gate) => !('until' in gate) || gate.until > nowSeconds,
  );
  // Clusters that a person holds back, for example by a freeze, do not begin.
  return count.rolling > 0 || (count.queue.length > 0 && !waits) ? 'Rolling' : 'Waiting';
}

/** `Ready`: every stage is complete. `Stalled`: a person has to act. `Progressing`: neither. */
function sequenceConditions(
  { record, counts, conflicts, nowSeconds }: SequenceObservation,
  stages: readonly StageStatus[],
): readonly Condition[] {
  const stalled = stalledBy({ record, counts, conflicts, nowSeconds });
  const nothing = stages.every(({ state }) => state === 'Empty');
  const empty: Finding = { reason: 'NoClusters', message: 'the selectors select no cluster' };
  const current = stages.find(({ state }) => state !== 'Complete' && state !== 'Empty');
  const complete: Finding = { reason: 'Complete', message: 'every cluster is up to date and healthy' };
  const finding = stalled ?? (nothing ? empty : sayingEmpty(current ? progressFinding(current) : complete, stages));
  const one = conditionsAfter(record.status.conditions, record.generation, timeText(Math.floor(nowSeconds)));
  const condition = (type: string, is: boolean): Condition => one(type, { status: is ? 'True' : 'False', ...finding });
  const ready = stalled === null && !nothing && current === undefined;
  return [
    condition('Ready', ready),
    condition('Progressing', stalled === null && current !== undefined),
    condition('Stalled', stalled !== null),
  ];
}

function stalledBy({ record, counts, conflicts }: SequenceObservation): Finding | null {
  const { name, problem } = record.sequence;
  const message = (hold: Parameters<typeof explainHold>[0]): Finding => ({
    reason: hold.rule,
    message: explainHold(hold, String),
  });
  if (problem !== null) return message({ rule: 'SequenceInvalid', sequence: name, problem });
  const [cluster] = conflicts;
  if (cluster !== undefined) {
    return {
      reason: 'SequenceConflict',
      message: `${conflicts.length} of the clusters are selected by a different sequence as well, including ${cluster}`,
    };
  }
  const gates = record.sequence.stages.flatMap((_, index) => stageGates(record.sequence, counts, index));
  const [stopping] = gates.filter(({ rule }) => rule === 'StageFailing' || rule === 'StageMemberGone');
  return stopping === undefined ? null : message(stopping);
}

function progressFinding({ name, state, clusters, upToDate, soakedUntil, stoppedBy }: StageStatus): Finding {
  if (soakedUntil !== undefined) return { reason: 'Soaking', message: `stage ${name} soaks until ${soakedUntil}` };
  const left = clusters - upToDate;
  const waitsFor =
    stoppedBy === undefined || left === 0
      ? 'all clusters are up to date and healthy'
      : notYet(left, clusters, stoppedBy);
  return { reason: state, message: `stage ${name}: ${waitsFor}` };
}

/**
 * Adds stages without clusters to the message. They may be a mistake: without canaries nothing reveals a bad change.
 */
function sayingEmpty({ reason, message }: Finding, stages: readonly StageStatus[]): Finding {
  const empty = stages.filter(({ name, state }) => state === 'Empty' && name !== othersStage).map(({ name }) => name);
  return { reason, message: empty.length === 0 ? message : `${message}; without clusters: ${empty.join(', ')}` };
}

/**
 * The Events for the changes from the stored status to this one: one for each stage that became complete, and one if
 * the sequence stalls for a new reason.
 */
export function sequenceEvents(record: SequenceRecord, after: SequenceStatus): readonly Occurrence[] {
  const { status: before } = record;
  const regarding = referenceTo(sequenceKind, record);
  const event = (type: 'Normal' | 'Warning', reason: string, note: string): Occurrence => ({
    regarding,
    type,
    reason,
    action: 'Sequencing',
    note,
  });
  const stateBefore = (stage: string) => before.stages?.find((one) => one.name === stage)?.state;
  const reached = (state: StageStatus['state']): readonly StageStatus[] =>
    (after.stages ?? []).filter((one) => one.state === state && stateBefore(one.name) !== state);
  const completed = reached('Complete').filter(({ name: stage }) => stateBefore(stage) !== undefined);
  const stalled = after.conditions?.find(({ type }) => type === 'Stalled');
  const known = before.conditions?.find(({ type }) => type === 'Stalled');
  const isNew = stalled?.status === 'True' && (known?.status !== 'True' || known.reason !== stalled.reason);
  return [
    ...completed.map((stage) =>
      event('Normal', 'StageComplete', `stage ${stage.name} is complete: ${stage.clusters} clusters`),
    ),
    ...(isNew ? [event('Warning', stalled.reason, stalled.message)] : []),
  ];
}
