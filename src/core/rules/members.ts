import type { AskedMember } from '../on-demand-facts.ts';
import { freshSeconds } from '../replicas-behind.ts';
import { plural, withoutFullStop } from '../sentences.ts';
import { type Member, reliedOn, type Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

// Before a member that may still serve is stopped, the other members themselves are asked whether they serve. Their
// pods do not show it: for 50 s after a node has lost power, the conditions of its pods do not change
// (kube-controller-manager, --node-monitor-grace-period), and without an event MOCO checks only once a minute.

interface SilentMember {
  readonly member: number;
  readonly answer: 'notReady' | 'unknown';
  /** The message of the member's agent, or the reason why there is no answer. */
  readonly message: string;
}

/** One of the last rules, because members are not asked until no other rule holds the step. */
export const silent = {
  MembersNotAsked: rule<{ readonly members: readonly number[] }>({
    holds: ({ situation, members: taken }) => {
      const members = reliedOn(situation, taken).filter((member) => freshAnswer(situation, member) === null);
      return members.length === 0 ? null : { members: members.map(({ ordinal }) => ordinal) };
    },
    asks: ({ members }) => [{ kind: 'members', members }],
    awaits: 'members',
    sentence: ({ members }, name) =>
      `waiting for ${members.map(name).join(', ')} to report whether ${plural(members, 'it is', 'they are')} ready`,
    meaning: 'Some members that the step relies on have not been asked recently whether they are ready.',
    details:
      'These members are asked once nothing else holds, and again right before the step. An answer is valid for 5 s.',
    endedBy: ['time'],
    ends: 'By itself, within seconds.',
    routine: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, memberAnswers: everyAnswer(snapshot.members) })),
  }),
  MemberSilent: rule<SilentMember & { readonly graceSeconds: number }>({
    holds: ({ situation, members: taken }) => {
      const [first] = reliedOn(situation, taken).flatMap((member) => silenceOf(situation, member) ?? []);
      return first === undefined ? null : { ...first, graceSeconds: situation.policy.silentMemberGraceSeconds };
    },
    sentence: ({ member, answer, message, graceSeconds }, name) =>
      answer === 'notReady'
        ? `the pod of ${name(member)} is ready, but the member reports that it is not (${withoutFullStop(message)})`
        : `${name(member)} does not answer (${withoutFullStop(message)}), although its pod is ready; Kubernetes and MOCO have ${graceSeconds} s to notice that it is gone`,
    meaning:
      'A member that the step relies on does not answer, or reports that it is not ready, although its pod is ready.',
    details:
      "Before a switchover, and before a working member or a replica that may still be running is stopped, the controller asks the moco-agent of every other participating member, which asks mysqld. The controller replaces members that are down without asking. A node without power and a pod whose network is cut still look alive for a while, and MOCO, which checks once a minute, still reports the cluster as Healthy. A NetworkPolicy that blocks moco-rollout from the agents' ports has the same effect: each step waits for silentMemberGraceSeconds.",
    endedBy: ['the members', 'time'],
    ends: 'When the member answers, or when Kubernetes or MOCO has noticed that it is gone. Otherwise the hold ends silentMemberGraceSeconds (--silent-member-grace-seconds) after the first missing answer. That is longer than a dead node can appear to be alive.',
    overridable: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, memberAnswers: everyAnswer(snapshot.members) })),
  }),
};

/** Whether each of these members has answered recently. */
export const everyAnswer = (members: readonly { readonly uid: string }[]): readonly AskedMember[] =>
  members.map(({ uid }) => ({ uid, reading: { kind: 'ready' }, ageSeconds: 0, unknownForSeconds: 0 }));

/**
 * The member's answer, if it is recent enough; otherwise `null`. It stays valid for as long as a replica's answer about
 * its delay. It sets no deadline, because members are asked only when a step needs their answers.
 */
function freshAnswer({ snapshot }: Situation, { facts }: Member): AskedMember | null {
  const answer = snapshot.memberAnswers.find(({ uid }) => uid === facts.uid);
  return answer !== undefined && answer.ageSeconds < freshSeconds ? answer : null;
}

/**
 * A primary that replicates from elsewhere is not ready while its upstream is unavailable, but its replicas still
 * follow it.
 */
function silenceOf(situation: Situation, member: Member): SilentMember | null {
  const { snapshot, policy, deadlines } = situation;
  const answer = freshAnswer(situation, member);
  if (answer === null) return null;
  const { reading, unknownForSeconds, ageSeconds } = answer;
  const mayBeUnready = member.primary && snapshot.cluster.replicatesFromElsewhere;
  if (reading.kind === 'ready' || (reading.kind === 'notReady' && mayBeUnready)) return null;
  if (reading.kind === 'unknown' && deadlines.reached(unknownForSeconds, policy.silentMemberGraceSeconds)) return null;
  // The member is asked again once its answer is too old.
  deadlines.reached(ageSeconds, freshSeconds);
  return { member: member.ordinal, answer: reading.kind, message: reading.message };
}
