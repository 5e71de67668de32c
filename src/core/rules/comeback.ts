import { endingClaims, explainClaim, readAgain } from '../comeback.ts';
import { type EndingClaim, hasToBeRead, justCreated } from '../comeback-reading.ts';
import { changed } from '../expected.ts';
import { after, rule } from './rule.ts';

/** A member would not come back as what it was. */
export const comeback = {
  ClaimTerminating: rule<{ readonly member: number; readonly claims: readonly EndingClaim[] }>({
    holds: ({ situation, members }) => {
      const member = members.find(({ facts }) => endingClaims(facts).length > 0);
      if (member === undefined) return null;
      readAgain(situation, member);
      return { member: member.ordinal, claims: endingClaims(member.facts) };
    },
    sentence: ({ member, claims }, name) =>
      `the end of ${name(member)} would destroy its data: ${claims.map(explainClaim).join(' and ')}`,
    meaning:
      'A PersistentVolumeClaim of the member is being deleted, or is gone, and only its running pod keeps the data.',
    details:
      'Kubernetes keeps a claim whose deletion has been requested until no pod uses it (kubernetes.io/pvc-protection). A deletion can not be taken back. Any end of the pod frees the claim: a drain, an eviction, a deletion, and the restart of a member that is down.',
    endedBy: ['a person'],
    ends: 'By another claim. First make sure that the other members have all data, and take a backup. Then keep the volume (`persistentVolumeReclaimPolicy: Retain` of the PersistentVolume), or give the member up: `override NAME ClaimTerminating`.',
    overridable: true,
    overriding:
      'moco-rollout then ends the pod, and with it Kubernetes deletes the claim: THIS DESTROYS THE DATA OF THE MEMBER. It comes back empty and is cloned from the primary. In a cluster with one member the database is lost',
    alarms: true,
    assumed: null,
  }),
};

/** In the group of the steps: what a member needs is only read once nothing else holds. */
export const unread = {
  ComebackUnknown: rule<{ readonly members: readonly number[] }>({
    holds: ({ members }) => {
      const asked = members.filter(({ facts }) => hasToBeRead(facts.comeback));
      return asked.length === 0 ? null : { members: asked.map(({ ordinal }) => ordinal) };
    },
    sentence: ({ members }, name) => `it is being read whether ${members.map(name).join(', ')} can come back`,
    meaning: 'What decides whether a member can come back has not been read recently enough for a step.',
    details: 'It is read once nothing else holds, counts for a minute, and is read again right before the step.',
    endedBy: ['time'],
    ends: 'By itself, within seconds.',
    routine: true,
    brief: true,
    assumed: after('moment', (snapshot, { members }) =>
      changed(
        snapshot,
        members.map((ordinal) => ({ ordinal })),
        (member) => ({
          ...member,
          comeback: { ...justCreated, ...member.comeback, ageSeconds: 0 },
        }),
      ),
    ),
  }),
};
