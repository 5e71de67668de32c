import type { AskedMember } from '../on-demand-facts.ts';
import { freshSeconds } from '../replicas-behind.ts';
import { plural, withoutFullStop } from '../sentences.ts';
import { type Member, reliedOn, type Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

// Before a working member is stopped, the other members themselves are asked. For 50 s after a node has lost its power,
// the conditions of its pods stay as they were (kube-controller-manager, --node-monitor-grace-period), and without an
// event MOCO checks only once a minute.

interface SilentMember {
  readonly member: number;
  readonly answer: 'notReady' | 'unknown';
  /** The words of its agent, or why there is no answer. */
  readonly message: string;
}

/** Among the last rules: members are asked only once nothing else holds. */
export const silent = {
  MembersNotAsked: rule<{ readonly members: readonly number[] }>({
    holds: ({ situation, members: taken }) => {
      const members = reliedOn(situation, taken).filter((member) => freshAnswer(situation, member) === null);
      return members.length === 0 ? null : { members: members.map(({ ordinal }) => ordinal) };
    },
    asks: ({ members }) => [{ kind: 'members', members }],
    awaits: 'members',
    sentence: ({ members }, name) =>
      `waiting for the ${plural(members, 'answer', 'answers')} of ${members.map(name).join(', ')}`,
    meaning: 'Members that the step relies on have not been asked recently enough whether they serve.',
    details: 'They are asked once nothing else holds, and again right before the step. An answer is valid for 5 s.',
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
      (answer === 'notReady'
        ? `${name(member)} reports that it is not ready, although its pod is`
        : `${name(member)} does not answer, although its pod is ready; Kubernetes and MOCO have ${graceSeconds} s to notice that it is gone`) +
      `: ${withoutFullStop(message)}`,
    meaning: 'A member that the step relies on does not answer, although its pod is ready.',
    details:
      "Before a member that works is stopped, and before a switchover, every other member that participates is asked: its moco-agent, which asks mysqld. A node that has lost its power, and a pod whose network is cut, look alive for a while, and MOCO, which looks once a minute, calls the cluster Healthy meanwhile. A NetworkPolicy that keeps moco-rollout from the agents' ports looks the same, and makes each step wait for silentMemberGraceSeconds.",
    endedBy: ['the members', 'time'],
    ends: 'When the member answers, or when Kubernetes or MOCO has noticed that it is gone. Otherwise it ends silentMemberGraceSeconds (--silent-member-grace-seconds) after the first missing answer. That is longer than a dead node can look alive.',
    overridable: true,
    brief: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, memberAnswers: everyAnswer(snapshot.members) })),
  }),
};

/** Each of these members has answered recently. */
export const everyAnswer = (members: readonly { readonly uid: string }[]): readonly AskedMember[] =>
  members.map(({ uid }) => ({ uid, reading: { kind: 'ready' }, ageSeconds: 0, unknownForSeconds: 0 }));

/**
 * An answer stays valid for as long as those of replicas do, but sets no deadline: members are asked only when a step
 * needs their answers. `null` if there is no valid answer.
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
