import { durationText, timeText } from '../fleet/times.ts';
import type { FailingStage, SettlingChange, SoakingStage, StageSlots, UnfinishedStage } from '../fleet/waits.ts';
import { withoutFullStop } from '../sentences.ts';
import { waitFor, waitIsOver } from './fleet-waits.ts';
import { rule } from './rule.ts';

const requestedBy = 'a MySQLRolloutSequence';

/** The stages of a MySQLRolloutSequence. */
export const stages = {
  SequencesUnreadable: rule<{ readonly message: string }>({
    holds: (asked) => waitFor(asked, 'SequencesUnreadable'),
    sentence: ({ message }) => `the controller cannot read MySQLRolloutSequences: ${withoutFullStop(message)}`,
    meaning: 'The controller cannot read MySQLRolloutSequences, so it is unknown which clusters go first.',
    details:
      'Any of them may select the cluster, so it begins no rollout. Rollouts that have begun go on, and members that are down are replaced. Without the CRD there are no sequences, and nothing waits for them. With `--namespaces` the controller is meant to read none.',
    endedBy: ['a person'],
    ends: 'By itself within seconds, once they can be read. If a right is missing, apply the roles of this version: `kubectl moco-rollout check` names it.',
    overridable: true,
    alarms: true,
    assumed: waitIsOver('SequencesUnreadable'),
  }),
  SequenceConflict: rule<{ readonly sequences: readonly string[] }>({
    holds: (asked) => waitFor(asked, 'SequenceConflict'),
    sentence: ({ sequences }) => `more than one MySQLRolloutSequence selects this cluster: ${sequences.join(', ')}`,
    meaning: 'More than one MySQLRolloutSequence selects the cluster.',
    details:
      'Which of them is meant is unknown, so the cluster begins no rollout. It counts in its stage of each of them.',
    endedBy: ['a person'],
    ends: 'Change a selector of the sequences, or a label of the MySQLCluster, so that one sequence remains.',
    overridable: true,
    alarms: true,
    assumed: waitIsOver('SequenceConflict'),
  }),
  SequenceInvalid: rule<{ readonly sequence: string; readonly problem: string }>({
    holds: (asked) => waitFor(asked, 'SequenceInvalid'),
    sentence: ({ sequence, problem }) => `MySQLRolloutSequence ${sequence} is invalid: ${withoutFullStop(problem)}`,
    meaning: 'A MySQLRolloutSequence that may select the cluster is invalid.',
    details: 'The CRD refuses such a spec. It may have been stored before the CRD was updated.',
    endedBy: ['a person'],
    ends: 'Correct the field that the message names.',
    overridable: true,
    alarms: true,
    assumed: waitIsOver('SequenceInvalid'),
  }),
  StageFailing: rule<FailingStage>({
    holds: (asked) => waitFor(asked, 'StageFailing'),
    sentence: ({ sequence, stage, failing, maxFailures, cluster }) =>
      `${failing} rollouts of stage ${stage} of sequence ${sequence} fail, ${cluster} among them; more than ${maxFailures} keep all others from beginning`,
    meaning: 'More rollouts of a stage fail than maxFailures allows, and no other cluster of the sequence begins.',
    details:
      'A rollout fails when its revision fails, or when it has begun and is stalled. Rollouts that have begun go on, and members that are down are replaced.',
    endedBy: ['a person'],
    ends: 'Correct the template of the failing cluster. The correction does not wait for other clusters.',
    overridable: true,
    requestedBy,
    alert: 'MocoRolloutFleetFailing',
    assumed: waitIsOver('StageFailing'),
  }),
  AwaitingEarlierStage: rule<UnfinishedStage>({
    holds: (asked) => waitFor(asked, 'AwaitingEarlierStage'),
    sentence: ({ sequence, stage, clusters, unfinished, cluster }) =>
      `stage ${stage} of sequence ${sequence} goes first: ${unfinished} of ${clusters} clusters are not up to date and healthy, ${cluster} among them`,
    meaning: 'A cluster of an earlier stage is not up to date and healthy.',
    details:
      'It is stale, rolling, failing, or not healthy, or its state is not known yet. A paused or released cluster with stale members counts as well; one that is offline does not.',
    endedBy: ['time', 'a person'],
    ends: 'By itself, when every cluster of the earlier stages is complete. `kubectl get mysqlrolloutsequences` shows how far they are.',
    overridable: true,
    requestedBy,
    assumed: waitIsOver('AwaitingEarlierStage'),
  }),
  AwaitingSoak: rule<SoakingStage>({
    holds: (asked) => waitFor(asked, 'AwaitingSoak'),
    sentence: ({ sequence, stage, soakSeconds, until, cluster }) =>
      `stage ${stage} of sequence ${sequence} soaks for ${durationText(soakSeconds)}, until ${timeText(until)}: ${cluster} was the last to become complete`,
    meaning: 'The clusters of an earlier stage have not been complete and healthy for its soakDuration yet.',
    details: 'The time starts again whenever one of them is not complete or not healthy.',
    endedBy: ['time'],
    ends: 'By itself, at the time that the message names.',
    overridable: true,
    requestedBy,
    assumed: waitIsOver('AwaitingSoak'),
  }),
  AwaitingSettle: rule<SettlingChange>({
    holds: (asked) => waitFor(asked, 'AwaitingSettle'),
    sentence: ({ sequence, settleSeconds, until }) =>
      `sequence ${sequence} lets a change settle for ${durationText(settleSeconds)}, until ${timeText(until)}: it may not have reached the earlier stages yet`,
    meaning: 'The cluster has not been stale for the settleDuration of its sequence yet.',
    details: 'A change may reach the clusters of an earlier stage later than this one.',
    endedBy: ['time'],
    ends: 'By itself, at the time that the message names.',
    overridable: true,
    requestedBy,
    assumed: waitIsOver('AwaitingSettle'),
  }),
  AwaitingStageSlot: rule<StageSlots>({
    holds: (asked) => waitFor(asked, 'AwaitingStageSlot'),
    sentence: ({ sequence, stage, limit, place }) =>
      `${limit === 1 ? '1 cluster' : `${limit} clusters`} of stage ${stage} of sequence ${sequence} may be rolling at a time; this one is number ${place} in the queue`,
    meaning: 'As many clusters of the stage are rolling as its maxConcurrent allows.',
    endedBy: ['time'],
    ends: 'By itself, when another cluster of the stage is done.',
    overridable: true,
    requestedBy,
    assumed: waitIsOver('AwaitingStageSlot'),
  }),
};
