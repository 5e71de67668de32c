import { changed } from '../expected.ts';
import { type Uncloneable, uncloneable } from '../mysqld-data.ts';
import {
  type EndingClaim,
  freshRecreatableSeconds,
  hasToBeRead,
  justCreated,
  mostClaims,
  type TiedToNode,
  type UnjudgedPlacement,
} from '../on-demand-facts.ts';
import type { Question } from '../questions.ts';
import { plural, pointedOut } from '../sentences.ts';
import type { Member, Situation } from '../situation.ts';
import type { MemberFacts } from '../snapshot.ts';
import { after, rule } from './rule.ts';

// Rules about data that would be lost with a pod, and about whether the pod could be recreated.

export const recreatable = {
  ClaimTerminating: rule<{
    readonly member: number;
    readonly claims: readonly EndingClaim[];
    /** The two versions that would prevent a clone of the member afterwards; `null` if it could be cloned. */
    readonly uncloneable: Uncloneable | null;
  }>({
    holds: ({ situation, step, members }) => {
      const member = members.find(({ facts }) => endingClaims(facts).length > 0);
      if (member === undefined) return null;
      readAgain(situation, member);
      return {
        member: member.ordinal,
        claims: endingClaims(member.facts),
        uncloneable: uncloneable(situation, step, member),
      };
    },
    asks: ({ member }, situation) => asksAboutRecreation([member], situation),
    sentence: ({ member, claims, uncloneable: versions }, name) =>
      `deleting ${name(member)} ${claims.every(isUnread) ? 'may' : 'would'} destroy its data: ${claims.map(explainClaim).join('; ')}` +
      (versions === null ? '' : `; mysqld ${versions.mysqld} cannot clone the primary, which runs ${versions.donor}`),
    meaning: 'A PersistentVolumeClaim of the member no longer keeps its data: only the running pod may still keep it.',
    details:
      'The claim is being deleted, is gone, is not Bound, or was created after the pod had started, or its PersistentVolume is gone or being deleted. If a member mounts more than 32 claims, the controller checks none of them and holds the member. Once the deletion of a claim has been requested, Kubernetes keeps the claim until no pod uses it (kubernetes.io/pvc-protection). A deletion cannot be withdrawn. A pod keeps using the volume that it has mounted, but its successor mounts the volume that the claim names at that time. Whatever ends the pod frees the claim: a drain, an eviction, a deletion, or the restart of a member that is down.',
    endedBy: ['a person'],
    ends: 'Give the member a new claim. First make sure that the other members have all of the data, and make a backup. Then keep the volume (`persistentVolumeReclaimPolicy: Retain` of the PersistentVolume), or give the member up: `kubectl moco-rollout override NAME ClaimTerminating`.',
    overridable: true,
    overriding:
      'moco-rollout then ends the pod, and with it the last use of the volume: THIS DESTROYS THE DATA OF THE MEMBER. It comes back empty, and MOCO clones it from the primary if the primary runs a version of the same series (before 8.0.37: the same version). In a cluster with one member the database is lost',
    alarms: true,
    assumed: null,
  }),
  NodeTakesNoPods: rule<{ readonly member: number } & TiedToNode>({
    holds: ({ situation, members }) => {
      const member = members.find(({ facts }) => tiedOf(facts) !== null);
      const tied = member === undefined ? null : tiedOf(member.facts);
      if (member === undefined || tied === null) return null;
      readAgain(situation, member);
      return { member: member.ordinal, ...tied };
    },
    asks: ({ member }, situation) => asksAboutRecreation([member], situation),
    sentence: ({ member, ...tied }, name) => explainTied(name(member), tied),
    meaning: 'The node of the member accepts no pods, and no other node can run the member.',
    details:
      'The node is cordoned, drained, tainted, not ready, under pressure or gone. The volume of the member, or a nodeSelector, a nodeName or a required node affinity of the update revision, rules out all other nodes that accept pods. Whether a node has room is not considered. Members on nodes that are being drained go first if they can move.',
    endedBy: ['a person', 'Kubernetes'],
    ends: 'By itself, once the node accepts pods again: `kubectl uncordon NODE`, or remove the taint. If the node never comes back, the volume is lost with it: give the member a new claim.',
    overridable: true,
    assumed: after('moment', (snapshot, { member }) =>
      changed(snapshot, [{ ordinal: member }], (facts) => ({
        ...facts,
        recreatable: facts.recreatable.kind === 'asked' ? { ...facts.recreatable, tied: null } : facts.recreatable,
      })),
    ),
  }),
  PlacementUnknown: rule<{ readonly member: number } & UnjudgedPlacement>({
    holds: ({ situation, members }) => {
      const member = members.find(({ facts }) => unjudgedOf(facts) !== null);
      const unjudged = member === undefined ? null : unjudgedOf(member.facts);
      if (member === undefined || unjudged === null) return null;
      readAgain(situation, member);
      return { member: member.ordinal, ...unjudged };
    },
    asks: ({ member }, situation) => asksAboutRecreation([member], situation),
    sentence: ({ member, ...unjudged }, name) => explainUnjudged(name(member), unjudged),
    meaning:
      'The next pod of the member has too many constraints for the controller to find out which nodes can run it.',
    details:
      'The controller compares the constraints of the pod with every node if the node of the member accepts no pods, or if the update revision has a required `podAntiAffinity` or a `topologySpreadConstraint` with `DoNotSchedule`. It compares at most 64 constraints of each kind, with 256 values in total, because anyone who may edit a MySQLCluster can write them. If there are more, it is unknown whether the next pod would stay Pending.',
    endedBy: ['a person'],
    ends: 'Remove constraints from `spec.podTemplate` of the MySQLCluster until their number is within the limit that the message names. If a webhook adds them to pods, change the webhook.',
    overridable: true,
    alarms: true,
    assumed: null,
  }),
  SuccessorRefused: rule<{ readonly member: number; readonly message: string }>({
    holds: ({ situation, members }) => {
      const member = members.find(({ facts }) => refusalOf(facts) !== null);
      const message = member === undefined ? null : refusalOf(member.facts);
      if (member === undefined || message === null) return null;
      readAgain(situation, member);
      return { member: member.ordinal, message };
    },
    asks: ({ member }, situation) => asksAboutRecreation([member], situation),
    sentence: ({ member, message }, name) => explainRefusal(name(member), message),
    meaning: 'The API server would not admit a new pod for the member.',
    details:
      'A dry run tried to create the pod that the StatefulSet controller would create from the update revision. It was refused because of a quota, PodSecurity, an admission policy, a webhook or an invalid field. The share of a quota that the existing pod uses counts as free. The dry run is sent with the identity of moco-rollout: a policy that checks who creates the pod may treat the StatefulSet controller differently.',
    endedBy: ['a person'],
    ends: 'Change what the message names: the quota, the policy, the webhook, or the template. The controller tries again every minute.',
    overridable: true,
    alarms: true,
    assumed: null,
  }),
};

/** One of the last rules, because facts about the next pod of a member are read only once nothing else holds. */
export const unread = {
  RecreationUnknown: rule<{ readonly members: readonly number[] }>({
    holds: ({ members }) => {
      const asked = members.filter(({ facts }) => hasToBeRead(facts.recreatable));
      return asked.length === 0 ? null : { members: asked.map(({ ordinal }) => ordinal) };
    },
    asks: ({ members }, situation) => asksAboutRecreation(members, situation),
    awaits: 'recreatable',
    sentence: ({ members }, name) => `checking whether ${members.map(name).join(', ')} can be recreated`,
    meaning: 'The controller has not checked recently enough whether a member can be recreated.',
    details: 'It checks this once nothing else holds, and again right before the step. A result is valid for a minute.',
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
          recreatable: { ...justCreated, ...member.recreatable, ageSeconds: 0 },
        }),
      ),
    ),
  }),
};

/**
 * The claims with data that end with the pod. An unschedulable pod mounts nothing: if its claim is missing, the
 * StatefulSet controller creates a new claim anyway. For any other pod the kubelet may have mounted the volume,
 * whatever containers are running.
 */
export const endingClaims = ({ recreatable, unschedulable }: MemberFacts): readonly EndingClaim[] =>
  (recreatable.kind === 'asked' ? recreatable.claims : []).filter(
    ({ state }) => state === 'terminating' || state === 'unread' || unschedulable === null,
  );

/** If there is no reading, `RecreationUnknown` holds the member. That rule guards the same effects as these rules. */
const tiedOf = ({ recreatable }: MemberFacts): TiedToNode | null =>
  recreatable.kind === 'asked' ? recreatable.tied : null;

const unjudgedOf = ({ recreatable }: MemberFacts): UnjudgedPlacement | null =>
  recreatable.kind === 'asked' ? recreatable.unjudged : null;

const refusalOf = ({ recreatable }: MemberFacts): string | null =>
  recreatable.kind === 'asked' ? recreatable.refusal : null;

const claimSentences: Readonly<Record<EndingClaim['state'], (name: string) => string>> = {
  terminating: (name) => `its claim ${name} is being deleted and will disappear with the pod`,
  missing: (name) => `its claim ${name} no longer exists`,
  lost: (name) => `its claim ${name} has lost its PersistentVolume`,
  unbound: (name) => `its claim ${name} is not bound to a PersistentVolume`,
  replaced: (name) => `its claim ${name} was replaced after the pod had started`,
  volumeMissing: (name) => `the PersistentVolume of its claim ${name} does not exist, or belongs to another claim`,
  unread: (name) => `it mounts more than ${mostClaims} claims, among them ${name}, so they are not checked`,
  volumeTerminating: (name) => `the PersistentVolume of its claim ${name} is being deleted`,
};

const isUnread = ({ state }: EndingClaim): boolean => state === 'unread';

const explainClaim = ({ name, state }: EndingClaim): string => claimSentences[state](name);

export function asksAboutRecreation(ordinals: readonly number[], { members }: Situation): readonly Question[] {
  const asked = members.filter(({ ordinal, facts }) => ordinals.includes(ordinal) && hasToBeRead(facts.recreatable));
  return asked.length === 0 ? [] : [{ kind: 'recreatable', members: asked.map(({ ordinal }) => ordinal) }];
}

/** If a reading holds a step, the member is read again once the reading is too old. */
export function readAgain({ deadlines }: Situation, { facts: { recreatable } }: Member): void {
  if (recreatable.kind === 'asked') deadlines.reached(recreatable.ageSeconds, freshRecreatableSeconds);
}

const explainTied = (member: string, { nodeName, refusals, ties }: TiedToNode): string =>
  `a new pod of ${member} would stay Pending: its node ${nodeName} ${refusals.join(' and ')}, and ` +
  (ties.length === 0
    ? 'no other node accepts pods'
    : `${ties.join(' and ')} ${plural(ties, 'rules', 'rule')} out every other node that accepts pods`);

const explainUnjudged = (member: string, { what, most, got }: UnjudgedPlacement): string =>
  `it is unknown which nodes can run a new pod of ${member}: expected at most ${most} ${what}, got ${got}; remove some`;

const explainRefusal = (member: string, message: string): string =>
  `the API server would not admit a new pod of ${member}: ${pointedOut(message)}`;

/**
 * The reasons for which the member could not be recreated now. Each reason is a sentence without a full stop, for
 * people.
 */
export const obstacles = (facts: MemberFacts): readonly string[] => {
  const { name } = facts;
  const [tied, unjudged, refusal] = [tiedOf(facts), unjudgedOf(facts), refusalOf(facts)];
  return [
    ...endingClaims(facts).map((claim) => `${name} would lose its data with its pod: ${explainClaim(claim)}`),
    ...(tied === null ? [] : [explainTied(name, tied)]),
    ...(unjudged === null ? [] : [explainUnjudged(name, unjudged)]),
    ...(refusal === null ? [] : [explainRefusal(name, refusal)]),
  ];
};
