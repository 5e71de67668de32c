import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import { cluster } from '../cluster-builder.ts';
import { type MemberBuilder, member } from '../member-builder.ts';
import { isPrimarySettled, mysqldReady, ordinals, type Pod, podAt, serves, type World } from './world.ts';

const longSeconds = 100_000;
const age = (long: boolean): number => (long ? longSeconds : 0);
export const revisionName = (revision: number): string => `revision-${revision}`;

/** What the controller reads of a world. */
export function viewOf(world: World): ClusterSnapshot {
  const present = ordinals(world).filter((ordinal) => podAt(world, ordinal) !== null);
  return cluster(world.pods.length)
    .primaryAt(world.primary)
    .members(...present.map((ordinal) => memberOf(world, ordinal, podAt(world, ordinal) as Pod)))
    .missing(...ordinals(world).filter((ordinal) => podAt(world, ordinal) === null))
    .mysqlCluster({
      healthy: world.report.healthy,
      available: world.report.available,
      syncedReplicas: world.report.synced,
      primaryUnavailableForSeconds: serves(world, world.primary) ? null : age(world.unavailableLong),
      primarySettledForSeconds: isPrimarySettled(world) ? age(world.primarySettledLong) : null,
    })
    .statefulSet({
      updateRevision: revisionName(world.template),
      currentRevision: revisionName(world.currentRevision),
    })
    .budgets(...(world.pods.length < 3 ? [] : [{ disruptionsAllowed: world.disruptionsAllowed, closed: world.backup }]))
    .maintenance([world.windowOpen ? [-1, longSeconds] : [longSeconds, 2 * longSeconds]])
    .memory({
      verified: world.verified,
      takenDown: world.takenDown,
      switchoverTries: world.tries,
      sinceLastTrySeconds: age(world.triedLong),
      sinceProgressSeconds: age(world.progressLong),
    })
    .facts();
}

function memberOf(world: World, ordinal: number, pod: Pod): MemberBuilder {
  const one = bodyOf(world, ordinal, pod);
  if (pod.sidecarBroken) one.impaired('slow-log');
  if (pod.lost) one.unreachable();
  if (pod.terminating) one.terminating(0);
  return one.but({
    uid: `uid-${pod.uid}`,
    revision: revisionName(pod.revision),
    role: pod.role,
    participatingForSeconds: serves(world, ordinal) ? age(pod.participatesLong) : null,
    demote: pod.demote !== null,
    demotedFor: pod.mark === null ? null : revisionName(pod.mark),
    demoteForSeconds: pod.demote === null ? 0 : age(pod.demotedLong),
  });
}

function bodyOf(world: World, ordinal: number, pod: Pod): MemberBuilder {
  switch (pod.body) {
    case 'creating':
      return member(ordinal).creating(age(pod.idleLong));
    case 'starting':
      return pod.looping ? member(ordinal).crashLooping() : member(ordinal).starting();
    case 'crashed':
      return member(ordinal).down('CrashLoopBackOff');
    case 'up':
      return mysqldReady(world, ordinal) ? member(ordinal) : member(ordinal).lagging();
  }
}
