import type { RolloutProgress } from '../../api/rollout-status.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import type { Finished } from '../observe/cluster-state.ts';
import { ordinalOf, sorted } from './member-progress.ts';

type InPlaceProgress = Pick<RolloutProgress, 'disruptions'> & {
  readonly [Field in 'updatedInPlace' | 'mysqldRestarted']: RolloutProgress[Field] | undefined;
};

/**
 * What a rollout records of updates in place. A restart of mysqld that they were to avoid is a disruption. `disruptions`
 * are those of the steps.
 */
export function inPlaceProgressOf(
  known: Pick<RolloutProgress, 'revision' | 'updatedInPlace' | 'mysqldRestarted'>,
  { members }: Pick<ClusterSnapshot, 'members'>,
  ended: Finished | null,
  disruptions: number,
): InPlaceProgress {
  const isDone =
    ended?.lastStep.step === 'updateInPlace' && ended.result === 'done' && ended.revision === known.revision;
  const updated = isDone ? ended.lastStep.pods.map(ordinalOf) : [];
  const restarted = members
    .filter(({ revision, restartInPlace }) => revision === known.revision && restartInPlace?.mysqldRestarted === true)
    .map(({ ordinal }) => ordinal);
  const before = known.mysqldRestarted ?? [];
  const after = sorted([...before, ...restarted]);
  return {
    disruptions: disruptions + after.length - before.length,
    updatedInPlace: orAbsent(sorted([...(known.updatedInPlace ?? []), ...updated])),
    mysqldRestarted: orAbsent(after),
  };
}

const orAbsent = (ordinals: readonly number[]): readonly number[] | undefined =>
  ordinals.length === 0 ? undefined : ordinals;
