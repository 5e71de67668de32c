import { membersDown, noMemberParticipating } from './not-participating.ts';
import { type Outcome, type Situation, take } from './situation.ts';

/**
 * Partition mode, in a cluster that serves nobody: it has never been initialized, or none of its members does any work.
 * The partition would keep a corrected template from them for ever, since their turn comes one after the other. So they
 * are made to come up at the update revision, those that are down alone: one that clones keeps at it. It is what MOCO's
 * documents reach for the first start by terminating the partition unset.
 *
 * A deletion can fail for some of them while others start to serve. So once the current revision is the update revision,
 * a member that is down is deleted in any case: it comes up updated, whatever the partition.
 */
export function startUnserved(situation: Situation): Outcome | null {
  const { members, snapshot } = situation;
  const atWork = members.some((member) => member.state !== 'down' && member.state !== 'terminating');
  if (snapshot.cluster.initialized && atWork && !comesUpUpdated(situation)) return null;
  return atUpdateRevision(situation, membersDown(situation));
}

/** The same once no member has participated for longer than a failover takes, though they run: a restart may be the cure. */
export function restartUnserved(situation: Situation): Outcome | null {
  const { snapshot, policy, deadlines } = situation;
  const { primaryUnavailableForSeconds: unavailable } = snapshot.cluster;
  if (unavailable === null || !deadlines.reached(unavailable, policy.failoverGraceSeconds)) return null;
  return atUpdateRevision(situation, noMemberParticipating(situation));
}

function atUpdateRevision(situation: Situation, outcome: Outcome | null): Outcome | null {
  const { snapshot, replicas } = situation;
  if (outcome === null || comesUpUpdated(situation)) return outcome;
  return take({ kind: 'promoteRevision', revision: snapshot.statefulSet?.updateRevision ?? '', replicas });
}

/** Below the partition the StatefulSet controller makes pods from the current revision. */
function comesUpUpdated({ snapshot }: Situation): boolean {
  const { currentRevision = '', updateRevision = '' } = snapshot.statefulSet ?? {};
  return currentRevision === updateRevision;
}
