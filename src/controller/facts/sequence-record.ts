import {
  type SequenceSpec,
  type SequenceStatus,
  sequenceDefaults,
  sequenceSpec,
  sequenceStatus,
} from '../../api/rollout-sequence.ts';
import { problemOf, secondsOf } from '../../api/schema.ts';
import { othersStage, type Sequence, type Stage } from '../../core/fleet/stage-counts.ts';
import type { Stored } from '../../kube/store.ts';
import { type Json, object, text, whole } from '../../moco/json.ts';
import type { LabelSelector } from '../../moco/records.ts';
import { selects } from '../../moco/selects.ts';

type Labels = Readonly<Record<string, string>>;

/** A MySQLRolloutSequence as the cache keeps it. */
export interface SequenceRecord extends Stored {
  readonly generation: number;
  /** As stored, not validated yet. */
  readonly spec: unknown;
  readonly status: SequenceStatus;
  readonly sequence: Sequence;
  /** The index of the stage that a cluster with these labels belongs to; `null` if the sequence does not select it. */
  readonly stageOf: (labels: Labels) => number | null;
}

export function projectSequence({ metadata, spec = {}, status = {} }: Json): SequenceRecord {
  const { name, uid, resourceVersion, generation } = object(metadata);
  return {
    namespace: '',
    name: text(name) ?? '',
    uid: text(uid) ?? '',
    resourceVersion: text(resourceVersion) ?? '',
    generation: whole(generation, 0),
    spec,
    status: problemOf(sequenceStatus, status, 'status') === null ? (status as SequenceStatus) : {},
    ...sequenceOf(text(name) ?? '', spec),
  };
}

/** The schema of the CRD checks the same, but objects from before a schema change may violate it. */
export function sequenceOf(name: string, spec: unknown): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const problem = problemOf(sequenceSpec, spec, 'spec');
  return problem === null ? readable(name, spec as SequenceSpec) : unreadable(name, spec, problem);
}

function readable(name: string, spec: SequenceSpec): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const withoutOthers = spec.stages.at(-1)?.selector !== undefined;
  const stages = [...spec.stages, ...(withoutOthers ? [{ name: othersStage }] : [])];
  const selectors = stages.map(({ selector }) => selector);
  const settleSeconds = secondsOf(spec.settleDuration ?? sequenceDefaults.settleDuration) ?? 0;
  return {
    sequence: { name, problem: null, settleSeconds, stages: stages.map(stageOf) },
    stageOf: (labels) =>
      selects(completed(spec.selector), labels)
        ? selectors.findIndex((selector) => selector === undefined || selects(completed(selector), labels))
        : null,
  };
}

type StageSpec = Pick<SequenceSpec['stages'][number], 'name' | 'maxConcurrent' | 'soakDuration' | 'maxFailures'>;

function stageOf({ name, maxConcurrent, soakDuration, maxFailures }: StageSpec): Stage {
  return {
    name,
    maxConcurrent: maxConcurrent ?? sequenceDefaults.maxConcurrent,
    soakSeconds: secondsOf(soakDuration ?? sequenceDefaults.soakDuration) ?? 0,
    maxFailures: maxFailures ?? sequenceDefaults.maxFailures,
  };
}

/** A sequence counts for every cluster that its selector, if that can be read, does not exclude. */
function unreadable(name: string, spec: unknown, problem: string): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const { selector } = object(spec);
  const known = selector === undefined || problemOf(sequenceSpec.shape.selector, selector, '') === null;
  const stage = stageOf({ name: othersStage });
  return {
    sequence: { name, problem, settleSeconds: 0, stages: [stage] },
    stageOf: (labels) => (known && !selects(completed(selector as SequenceSpec['selector']), labels) ? null : 0),
  };
}

/** An absent selector selects everything. */
function completed({ matchLabels = {}, matchExpressions = [] }: SequenceSpec['selector'] = {}): LabelSelector {
  return { matchLabels, matchExpressions: matchExpressions.map((one) => ({ values: [], ...one })) };
}
