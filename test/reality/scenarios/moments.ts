import { isBack, isUpdated, type Sight } from '../sight/sight.ts';
import type { RealityCluster } from './reality-cluster.ts';

// The moments in the middle of a rollout at which scenarios do something.

/** The first member is at work at the new revision, the others are still to come. */
export function firstIsBack(cluster: RealityCluster): Promise<void> {
  return cluster.until('the first member to be back', (sight) => updated(sight) === 1);
}

/** Every replica is at work at the new revision; the primary is next. */
export function replicasAreBack(cluster: RealityCluster): Promise<void> {
  return cluster.until('every replica to be back', (sight) => updated(sight) === sight.members.length - 1);
}

/** A member has begun to terminate. */
export function someoneGoes(cluster: RealityCluster): Promise<void> {
  return cluster.until('a member to go', ({ members }) => members.some(({ terminating }) => terminating));
}

/** Another member has become primary, and takes writes. */
export function primaryMoves(cluster: RealityCluster, from: number): Promise<void> {
  return cluster.until(
    'the primary to have moved',
    ({ primary, available, members }) =>
      primary !== from && available && members.some(({ ordinal, role }) => ordinal === primary && role === 'primary'),
  );
}

/** Somebody calls the primary not ready. */
export function primaryIsNotReady(cluster: RealityCluster): Promise<void> {
  return cluster.until('the primary to be not ready', ({ primary, members }) =>
    members.some(({ ordinal, ready }) => ordinal === primary && !ready),
  );
}

/** Every member but that one runs, and none of them serves or replicates. */
export function othersOnlyRun(cluster: RealityCluster, ordinal: number | null): Promise<void> {
  return cluster.until('members to run and not to participate', ({ members }) =>
    members.every((member) => member.ordinal === ordinal || member.state === 'running'),
  );
}

const updated = (sight: Sight): number =>
  sight.members.filter((member) => isBack(member) && isUpdated(member, sight)).length;
