import * as z from 'zod';
import { identityOf, type Json, object } from '../base/json.ts';
import { othersStage, type Sequence, type Stage } from '../core/fleet/stage-counts.ts';
import type { Stored } from '../kube/store.ts';
import type { Labels } from '../moco/records.ts';
import { selectorOf, selects } from '../moco/selects.ts';
import { condition } from './rollout-status.ts';
import {
  count,
  countOrPercentage,
  duration,
  flag,
  generation,
  type Infer,
  labelSelector,
  listBy,
  listOf,
  oneOf,
  optional,
  ownKind,
  percentage,
  problemOf,
  secondsOf,
  struct,
  text,
  time,
  validations,
  whole,
  written,
} from './schema.ts';

// MySQLRolloutSequence (moco-rollout.io/v1alpha1), cluster-scoped: which clusters begin their rollouts first, and how
// long the clusters of one stage have to stay healthy before the next stage begins.

export const sequenceKind = ownKind('mysqlrolloutsequences', 'MySQLRolloutSequence', false);

const mostStages = 32;
/** The status lists at most this many clusters that left their stage. More than that do not leave by accident. */
export const mostGone = 100;
const mostConcurrent = 10_000;
const stageName = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';

const stage = struct(
  {
    name: z
      .string('a text')
      .max(63, 'a text of up to 63 characters')
      .regex(new RegExp(stageName), 'lower case letters, digits and dashes')
      .meta({ description: 'The name of the stage.' }),
    ...optional({
      selector: labelSelector(
        'The MySQLClusters of the stage, by their labels. A cluster that several stages select belongs to the first of ' +
          'them. Only the last stage can leave it out: it has the clusters that no other stage selects.',
      ),
      maxConcurrent: countOrPercentage<number | string>(mostConcurrent).meta({
        'x-kubernetes-int-or-string': true,
        minimum: 1,
        maximum: mostConcurrent,
        pattern: percentage,
        description:
          'The number of clusters of the stage that may be rolling at a time: a number, or a percentage of the ' +
          "stage's clusters, which is rounded down. It is never less than one. Defaults to 1.",
      }),
      soakDuration: duration(
        'How long every cluster of the stage has to be complete and healthy before a later stage begins, such as ' +
          '"24h". The time starts again when one of them is not. Defaults to 0s.',
      ),
      maxFailures: whole(
        0,
        10_000,
        'If more clusters of the stage fail than this, no other cluster of the sequence begins. Defaults to 0.',
      ),
    }),
  },
  'A stage: clusters that begin together.',
);

const onlyTheLast = 'only the last stage can leave out the selector';

const stages = listBy(
  'name',
  stage,
  mostStages,
  'The stages, the first one first. Clusters that the sequence selects and no stage does come last, one at a time, ' +
    'unless the last stage has no selector.',
)
  .min(1, 'a list of at least 1')
  .superRefine((all, context) => {
    const at = all.slice(0, -1).findIndex(({ selector }) => selector === undefined);
    if (at >= 0) context.addIssue({ code: 'custom', path: [at, 'selector'], message: `set, since ${onlyTheLast}` });
  })
  .meta(
    validations({
      rule: 'self.all(one, has(one.selector) || one.name == self[size(self) - 1].name)',
      message: onlyTheLast,
    }),
  );

export const sequenceSpec = struct(
  {
    stages,
    ...optional({
      selector: labelSelector(
        'The MySQLClusters of the sequence, by their labels. If it is empty or left out, the sequence applies to all ' +
          'MySQLClusters. A cluster that two sequences select begins no rollout.',
      ),
      settleDuration: duration(
        'How long a cluster has to be stale before it begins a rollout, since a change may reach the clusters of an ' +
          'earlier stage later. Defaults to 5m.',
      ),
    }),
  },
  'Which MySQLClusters begin their rollouts first. Rollouts that have begun continue, and members that are down do not wait, except those that are only waiting to start.',
);

export const sequenceDefaults = { settleDuration: '5m', maxConcurrent: 1, soakDuration: 0, maxFailures: 0 } as const;

export type SequenceSpec = Infer<typeof sequenceSpec>;

const clusterName = (description: string) => text(317, description);

const stageStatus = struct(
  {
    name: text(63, `The name of the stage; ${othersStage} for the clusters that no stage of the spec selects.`),
    state: oneOf(
      ['Empty', 'Waiting', 'Rolling', 'Failing', 'Soaking', 'Complete'],
      'What the stage is doing: Empty if it has no clusters, Waiting for an earlier stage or for a cluster that is not ' +
        'healthy, Rolling, Failing if more rollouts fail than maxFailures, Soaking once all are complete, and Complete ' +
        'after soakDuration.',
    ),
    clusters: count('The number of clusters of the stage that are not offline.'),
    upToDate: count('The number of clusters whose rollout is complete and that are healthy.'),
    rolling: count('The number of clusters whose rollout has begun.'),
    waiting: count('The number of clusters whose rollout has not begun.'),
    failing: count('The number of clusters whose revision fails, or whose rollout has begun and is stalled.'),
    ...optional({
      soakedUntil: time('When the soak of the stage ends.'),
      gone: listBy(
        'cluster',
        struct(
          {
            cluster: clusterName('The cluster, as NAMESPACE/NAME.'),
            failing: flag('Whether its rollout failed.'),
            followed: flag('Whether a cluster of the sequence has had a change to roll out since.'),
          },
          'A cluster that has left the stage.',
        ),
        mostGone,
        'The clusters that failed in the stage, or were its last one, and have left it in the middle of a change. Others ' +
          'begin no rollout (StageMemberGone) until a person lets them.',
      ),
      stoppedBy: clusterName(
        'The cluster, as NAMESPACE/NAME, that keeps later stages from beginning: one that fails, or one that is not complete.',
      ),
    }),
  },
  'The state of a stage.',
);

export const sequenceStatus = written(
  optional({
    observedGeneration: generation('The generation of the spec that the status describes.'),
    stage: text(63, 'The name of the first stage that is not complete.'),
    clusters: count('The number of clusters of the sequence that are not offline.'),
    upToDateClusters: count('The number of clusters that are up to date and healthy.'),
    rollingClusters: count('The number of clusters whose rollout has begun.'),
    failingClusters: count('The number of clusters whose rollout fails.'),
    stages: listBy('name', stageStatus, mostStages + 1, 'The stages, the first one first.'),
    conflicts: listOf(
      clusterName('A cluster, as NAMESPACE/NAME.'),
      100,
      'Clusters that another sequence selects as well. They begin no rollout.',
    ),
    conditions: listBy(
      'type',
      condition,
      32,
      'Ready: every stage is complete. Progressing: rollouts of the sequence are in progress, or only wait for time. ' +
        'Stalled: no rollout can begin until a person helps.',
    ),
  }),
  'What the controller observed. Only the controller writes it.',
);

export type SequenceStatus = Infer<typeof sequenceStatus>;
export type StageStatus = NonNullable<SequenceStatus['stages']>[number];

export interface SequenceRecord extends Stored {
  readonly generation: number;
  /** The spec as stored, not validated yet. */
  readonly spec: unknown;
  readonly status: SequenceStatus;
  readonly sequence: Sequence;
  /**
   * Returns the index of the stage to which a cluster with these labels belongs; `null` if the sequence does not select
   * it.
   */
  readonly stageOf: (labels: Labels) => number | null;
}

export function projectSequence(raw: Json): SequenceRecord {
  const { spec = {}, status = {} } = raw;
  const own = identityOf(raw);
  return {
    ...own,
    spec,
    status: problemOf(sequenceStatus, status, 'status') === null ? (status as SequenceStatus) : {},
    ...sequenceOf(own.name, spec),
  };
}

/** The schema of the CRD makes the same checks, but it may have changed since an object was stored. */
export function sequenceOf(name: string, spec: unknown): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const problem = problemOf(sequenceSpec, spec, 'spec');
  return problem === null ? readable(name, spec as SequenceSpec) : unreadableSequence(name, spec, problem);
}

function readable(name: string, spec: SequenceSpec): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const withoutOthers = spec.stages.at(-1)?.selector !== undefined;
  const stages = [...spec.stages, ...(withoutOthers ? [{ name: othersStage }] : [])];
  const selectors = stages.map(({ selector }) => selector);
  const settleSeconds = secondsOf(spec.settleDuration ?? sequenceDefaults.settleDuration) ?? 0;
  return {
    sequence: { name, problem: null, settleSeconds, stages: stages.map(stageOf) },
    stageOf: (labels) =>
      selects(selectorOf(spec.selector), labels)
        ? selectors.findIndex((selector) => selector === undefined || selects(selectorOf(selector), labels))
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

/**
 * A sequence that cannot be read is assumed to select every cluster. If its selector can be read, clusters that the
 * selector excludes are not affected.
 */
function unreadableSequence(
  name: string,
  spec: unknown,
  problem: string,
): Pick<SequenceRecord, 'sequence' | 'stageOf'> {
  const { selector } = object(spec);
  const known = selector === undefined || problemOf(sequenceSpec.shape.selector, selector, '') === null;
  const stage = stageOf({ name: othersStage });
  return {
    sequence: { name, problem, settleSeconds: 0, stages: [stage] },
    stageOf: (labels) => (known && !selects(selectorOf(selector), labels) ? null : 0),
  };
}
