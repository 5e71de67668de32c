import { membersDown, noMemberParticipating } from './not-participating.ts';
import { type Outcome, type Situation, take } from './situation.ts';

/**
 * Partition mode, in a cluster that serves nobody: it has never been initialized, or none of its members does any work.
 * The partition would keep a corrected template from them for ever, since their turn comes one after the other. So they
 * are made to come up at the update revision, those that are down alone: one that clones keeps at it. It is what MOCO's
 * documents reach for the first start by terminating the partition unset.
 */
export function startUnserved(situation: Situation): Outcome | null {
  const { members, snapshot } = situation;
  const atWork = members.some((member) => member.state !== 'down' && member.state !== 'terminating');
  if (snapshot.cluster.initialized && atWork) return null;
  return atUpdateRevision(situation, membersDown(situation));
}

/** The same once no member has participated for longer than a failover takes, though they run: a restart may be the cure. */
export function restartUnserved(situation: Situation): Outcome | null {
  const { snapshot, policy, deadlines } = situation;
  const { primaryUnavailableForSeconds: unavailable } = snapshot.cluster;
  if (unavailable === null || !deadlines.reached(unavailable, policy.failoverGraceSeconds)) return null;
  return atUpdateRevision(situation, noMemberParticipating(situation));
}

/** Below the partition the StatefulSet makes pods from the current revision. */
function atUpdateRevision({ snapshot, replicas }: Situation, outcome: Outcome | null): Outcome | null {
  const { currentRevision = '', updateRevision = '' } = snapshot.statefulSet ?? {};
  if (outcome === null || currentRevision === updateRevision) return outcome;
  return take({ kind: 'promoteRevision', revision: updateRevision, replicas });
}
