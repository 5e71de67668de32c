import type { RolloutProgress } from '../../api/rollout-status.ts';
import type { ClusterSnapshot, MemberFacts } from '../../core/snapshot.ts';
import { ordinalOf } from '../../moco/names.ts';
import type { Finished } from '../facts/ended-step.ts';
import { sorted } from './member-progress.ts';

type InPlaceProgress = Pick<RolloutProgress, 'disruptions'> & {
  readonly [Field in Recorded]: RolloutProgress[Field] | undefined;
};
type Recorded = 'updatedInPlace' | 'resizedInPlace' | 'primaryInPlace' | 'mysqldRestarted';

/**
 * What a rollout records of updates in place. A restart of mysqld that they were to avoid is a disruption.
 * `disruptions` are those of the steps.
 */
export function inPlaceProgressOf(
  known: Pick<RolloutProgress, 'revision' | Recorded>,
  { members }: Pick<ClusterSnapshot, 'members'>,
  ended: Finished | null,
  disruptions: number,
): InPlaceProgress {
  const isDone = ended?.result === 'done' && ended.revision === known.revision;
  const done = isDone ? ended.lastStep.pods.map(ordinalOf) : [];
  const isUpdate = ended?.lastStep.step === 'updateInPlace';
  const isResize = ended?.lastStep.step === 'resizeInPlace';
  const restarted = members.filter((member) => hasRestarted(member, known.revision)).map(({ ordinal }) => ordinal);
  const before = known.mysqldRestarted ?? [];
  const after = sorted([...before, ...restarted]);
  return {
    disruptions: disruptions + after.length - before.length,
    updatedInPlace: added(known.updatedInPlace, isUpdate ? done : []),
    resizedInPlace: added(known.resizedInPlace, isResize ? done : []),
    primaryInPlace: added(known.primaryInPlace, isUpdate && ended.sparesSwitchover ? done : []),
    mysqldRestarted: added(after, []),
  };
}

/** Before the patch that follows a resize, or after it. */
const hasRestarted = ({ revision, inPlace, restartInPlace }: MemberFacts, updateRevision: string): boolean =>
  revision === updateRevision
    ? restartInPlace?.mysqldRestarted === true
    : inPlace?.kind === 'possible' && inPlace.resize?.mysqldRestarted === true;

/** `undefined` if there are none. */
function added(known: readonly number[] | undefined, ordinals: readonly number[]): readonly number[] | undefined {
  const all = sorted([...(known ?? []), ...ordinals]);
  return all.length === 0 ? undefined : all;
}
