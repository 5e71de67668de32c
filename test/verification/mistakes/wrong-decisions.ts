import { decide } from '../../../src/core/decide.ts';
import type { Decision, Step, Target } from '../../../src/core/decision.ts';
import type { RolloutPolicy } from '../../../src/core/policy.ts';
import type { ClusterSnapshot, LastRun, MemberFacts } from '../../../src/core/snapshot.ts';
import type { StepRule } from '../../../src/core/step.ts';
import { dataRevision, everyOrdinal } from '../../core/judged-data.ts';
import type { Decide } from '../explorer/decisions.ts';
import type { Substitution } from './mistake.ts';

// What decisions with a mistake are made of.

export const target = ({ ordinal, name, uid, resourceVersion }: MemberFacts): Target => ({
  ordinal,
  name,
  uid,
  resourceVersion,
});

export const doing = (decision: Decision, step: Step): Decision => ({ ...decision, step, hold: null });

export const isStale = (snapshot: ClusterSnapshot, { revision, terminatingForSeconds }: MemberFacts): boolean =>
  revision !== snapshot.statefulSet?.updateRevision && terminatingForSeconds === null;

export const isReplica = ({ cluster }: ClusterSnapshot, { ordinal }: MemberFacts): boolean =>
  ordinal !== cluster.primaryIndex;

const serves = (member: MemberFacts): boolean => member.ready && member.terminatingForSeconds === null;

export const runs = ({ containers, ready, terminatingForSeconds }: MemberFacts): boolean =>
  terminatingForSeconds === null && !ready && containers[0]?.state === 'running';

/** Where the right controller waits for one of these rules, takes the last member for which `may` holds. */
export function evictsInstead(
  rules: readonly string[],
  may: (snapshot: ClusterSnapshot, member: MemberFacts) => boolean,
): Decide {
  return (snapshot, policy) => {
    const right = decide(snapshot, policy);
    const next = snapshot.members.findLast((member) => serves(member) && may(snapshot, member));
    if (right.hold === null || !rules.includes(right.hold.rule) || !next) return right;
    return doing(right, { kind: 'evict', rule: 'ReplicaHealthy', targets: [target(next)] });
  };
}

export const staleReplica = (snapshot: ClusterSnapshot, member: MemberFacts): boolean =>
  isStale(snapshot, member) && isReplica(snapshot, member);

/** Every step that is right, in another way. */
export const instead =
  (change: (step: Step, snapshot: ClusterSnapshot, policy: RolloutPolicy) => Step | null): Decide =>
  (snapshot, policy) => {
    const right = decide(snapshot, policy);
    const step = change(right.step, snapshot, policy);
    return step === null ? right : doing(right, step);
  };

type Deletion = Extract<Step, { readonly kind: 'delete' }>;

/** Waits where the right controller would delete members by that rule, and `may` holds. */
export const neverDeletes =
  (rule: StepRule, may: (snapshot: ClusterSnapshot, step: Deletion) => boolean = () => true): Decide =>
  (snapshot, policy) => {
    const right = decide(snapshot, policy);
    const { step } = right;
    if (step.kind !== 'delete' || step.rule !== rule || !may(snapshot, step)) return right;
    return {
      ...right,
      step: { kind: 'none' },
      hold: { rule: 'MaxUnavailableReached', unavailable: [], maxUnavailable: 1 },
    };
  };

export const waits = [
  'MemberTerminating',
  'MemberMissing',
  'UpdatedMemberNotParticipating',
  'MaxUnavailableReached',
  'ClusterNotHealthy',
  'BlockedByPDB',
  'RolesNotSettled',
];

/** Roles as the index says, and no waiting for writes. */
export function withRolesSettled(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { cluster, members } = snapshot;
  return {
    ...snapshot,
    cluster: {
      ...cluster,
      available: true,
      healthy: true,
      mocoState: 'Healthy',
      syncedReplicas: cluster.replicas,
      primarySettledForSeconds: 100,
    },
    members: members.map((one) => ({
      ...one,
      role: one.ordinal === cluster.primaryIndex ? 'primary' : 'replica',
      participatingForSeconds: one.ready ? 100 : null,
      demote: false,
      demotedFor: null,
    })),
  };
}

/** What the kubelet has said last, even if it has lost touch since. */
export function readyByContainers(member: MemberFacts): MemberFacts {
  return { ...member, ready: member.containers.every(({ ready }) => ready) };
}

/** Its image could not be had. */
export function neverStarted(member: MemberFacts): MemberFacts {
  const containers = member.containers.map((one) =>
    one.part === 'mysqld'
      ? { ...one, state: 'waiting' as const, reason: 'ImagePullBackOff', restarts: 0, hasRun: false }
      : one,
  );
  return { ...member, phase: 'Pending', containers };
}

/** What a controller sees that reads every member in another way. */
export const ofEveryMember = (
  snapshot: ClusterSnapshot,
  read: (member: MemberFacts) => MemberFacts,
): ClusterSnapshot => ({ ...snapshot, members: snapshot.members.map(read) });

/** What a controller sees that knows the data of every member in another way. */
export function withData(snapshot: ClusterSnapshot, revisionOf: (ordinal: number) => string | null): ClusterSnapshot {
  const lastRuns = everyOrdinal(snapshot).flatMap((ordinal): readonly LastRun[] => {
    const revision = revisionOf(ordinal);
    return revision === null ? [] : [{ ordinal, revision, image: null, version: null, worked: true }];
  });
  return { ...snapshot, lastRuns, dataRecords: [] };
}

/** Its data are of the update revision only while a pod shows so that exists, once a member has verified it. */
export function dataByWhatIsVerified(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { statefulSet, members, memory } = snapshot;
  return withData(snapshot, (ordinal) => {
    const pod = members.find((one) => one.ordinal === ordinal);
    const isNewer = memory.verified && pod?.revision === statefulSet?.updateRevision && pod?.phase !== 'Pending';
    return (isNewer ? statefulSet?.updateRevision : statefulSet?.currentRevision) ?? null;
  });
}

/** What was not recorded has not happened. */
export const unknownDataAsBefore = (snapshot: ClusterSnapshot): ClusterSnapshot =>
  withData(snapshot, (ordinal) => dataRevision(snapshot, ordinal) ?? snapshot.statefulSet?.currentRevision ?? null);

/** Every next pod has a node. */
export const withPlaces = (snapshot: ClusterSnapshot): ClusterSnapshot =>
  ofEveryMember(snapshot, (one) => {
    const { recreatable } = one;
    return recreatable.kind === 'asked' ? { ...one, recreatable: { ...recreatable, tied: null } } : one;
  });

/** New pods start at the current revision. */
export function withRevisionsKept(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { statefulSet: set } = snapshot;
  if (set === null) return snapshot;
  const keeping = { newPods: 'CurrentRevision', strategy: 'RollingUpdate', partition: set.replicas } as const;
  return { ...snapshot, statefulSet: { ...set, ...keeping } };
}

/** The right decision about a snapshot that the mistaken controller misreads. */
export const misreading =
  (read: (snapshot: ClusterSnapshot) => ClusterSnapshot): Decide =>
  (snapshot, policy) =>
    decide(read(snapshot), policy);

/** The right decision about members that the mistaken controller misreads. */
export const misreadingMembers = (read: (member: MemberFacts, snapshot: ClusterSnapshot) => MemberFacts): Decide =>
  misreading((snapshot) => ofEveryMember(snapshot, (one) => read(one, snapshot)));

/** Changes the right decision. */
export const changing =
  (change: (right: Decision, snapshot: ClusterSnapshot, policy: RolloutPolicy) => Decision): Decide =>
  (snapshot, policy) =>
    change(decide(snapshot, policy), snapshot, policy);

/** Replaces a module of the program with one of `modules`. */
export const replaced = (importer: string, imported: string, name: string): Substitution => ({
  importer,
  imported,
  substitute: import.meta.resolve(`./modules/${name}.ts`),
});
