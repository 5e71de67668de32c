import { type SequenceStatus, type StageStatus, sequenceKind } from '../../api/rollout-sequence.ts';
import type { Occurrence } from '../../kube/event-recorder.ts';
import type { SequenceRecord } from '../facts/sequence-record.ts';

/**
 * What to tell of the change from the stored status to this one: each stage that completes or fails, and what stalls
 * it.
 */
export function sequenceEvents(
  { name, uid, status: before }: SequenceRecord,
  after: SequenceStatus,
): readonly Occurrence[] {
  const { group, version, kind } = sequenceKind;
  const regarding = { apiVersion: `${group}/${version}`, kind, namespace: '', name, uid };
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
