import { decide } from '../../src/core/decide.ts';
import type { Decision, Step, Target } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';
import type { Decide } from './decisions.ts';
import type { Broken } from './findings.ts';
import { type Family, type World, worldOf } from './world.ts';

// Controllers that are wrong in one way each. The checker has to find every one of them: that is how it is checked.

/** A wrong controller, and the smallest world in which it is looked for. */
export interface Mistake {
  readonly broken: Broken;
  readonly world: World;
}

const target = ({ ordinal, name, uid, resourceVersion }: MemberFacts): Target => ({
  ordinal,
  name,
  uid,
  resourceVersion,
});

const doing = (decision: Decision, step: Step): Decision => ({ ...decision, step, hold: null });

const isStale = (snapshot: ClusterSnapshot, { revision, leavingForSeconds }: MemberFacts): boolean =>
  revision !== snapshot.statefulSet?.updateRevision && leavingForSeconds === null;

const isReplica = ({ cluster }: ClusterSnapshot, { ordinal }: MemberFacts): boolean => ordinal !== cluster.primaryIndex;

const serves = (member: MemberFacts): boolean => member.ready && member.leavingForSeconds === null;

const runs = ({ containers, ready, leavingForSeconds }: MemberFacts): boolean =>
  leavingForSeconds === null && !ready && containers[0]?.state === 'running';

/** Where the right controller waits for one of these rules, takes the last member for which `may` holds. */
function evictsInstead(
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

const staleReplica = (snapshot: ClusterSnapshot, member: MemberFacts): boolean =>
  isStale(snapshot, member) && isReplica(snapshot, member);

const faultless = (replicas: number): World => worldOf(replicas, { faults: 0, badRevision: false, countMoves: true });

const small = (replicas: number, ...families: readonly Family[]): World =>
  worldOf(replicas, { faults: 1, badRevision: false, families: new Set(families) });

/** Every step that is right, in another way. */
const instead =
  (change: (step: Step, snapshot: ClusterSnapshot, policy: RolloutPolicy) => Step | null): Decide =>
  (snapshot, policy) => {
    const right = decide(snapshot, policy);
    const step = change(right.step, snapshot, policy);
    return step === null ? right : doing(right, step);
  };

const waits = [
  'MemberLeaving',
  'MemberMissing',
  'UpdatedMemberNotParticipating',
  'BudgetUsed',
  'ClusterNotHealthy',
  'BlockedByPDB',
  'RolesNotSettled',
];

export const mistakes: Readonly<Record<string, Mistake>> = {
  'trusts Healthy alone': {
    broken: {
      wanted: 'I2',
      decide: (snapshot, policy) =>
        snapshot.cluster.healthy ? evictsInstead(waits, staleReplica)(snapshot, policy) : decide(snapshot, policy),
    },
    world: small(3),
  },
  'ignores the budget': { broken: { wanted: 'I2', decide: evictsInstead(waits, staleReplica) }, world: small(3) },
  'evicts the primary without a demotion': {
    broken: {
      wanted: 'I3',
      decide: instead((step) =>
        step.kind === 'demote' ? { kind: 'evict', rule: 'SingleMember', targets: step.targets } : null,
      ),
    },
    world: faultless(3),
  },
  'takes the index for the end of a switchover': {
    broken: {
      wanted: 'I3',
      decide: (snapshot, policy) => decide(withRolesSettled(snapshot), policy),
    },
    world: small(3),
  },
  'deletes instead of evicting': {
    broken: { wanted: 'I4', decide: instead((step) => (step.kind === 'evict' ? { ...step, kind: 'delete' } : null)) },
    world: small(3),
  },
  'does not see that a member is updated': {
    broken: { wanted: 'I5', decide: evictsInstead(waits, isReplica) },
    world: small(3),
  },
  'deletes replicas while the primary is down': {
    broken: {
      wanted: 'I2b',
      decide: (snapshot, policy) => {
        const right = decide(snapshot, policy);
        const next = snapshot.members.findLast((member) => runs(member) && staleReplica(snapshot, member));
        if (right.hold?.rule !== 'AwaitingFailover' || !next) return right;
        return doing(right, { kind: 'delete', rule: 'MemberNotParticipating', targets: [target(next)] });
      },
    },
    world: small(3),
  },
  'goes on with a revision that fails': {
    broken: {
      wanted: 'I7',
      decide: evictsInstead([...waits, 'UpdateRevisionFailing'], staleReplica),
    },
    world: worldOf(5, { faults: 0 }),
  },
  'takes the primary first': {
    broken: {
      wanted: 'I8',
      decide: instead((step, snapshot) => {
        const primary = snapshot.members.find((member) => !isReplica(snapshot, member));
        if (step.kind !== 'evict' || !primary || !isStale(snapshot, primary)) return null;
        const revision = snapshot.statefulSet?.updateRevision ?? '';
        return { kind: 'demote', rule: 'PrimaryLast', targets: [target(primary)], revision };
      }),
    },
    world: faultless(3),
  },
  'does not say why it waits': {
    broken: {
      wanted: 'I11',
      decide: (snapshot, policy) => {
        const right = decide(snapshot, policy);
        return right.hold?.rule === 'AwaitingFailover' ? { ...right, hold: null } : right;
      },
    },
    world: small(3),
  },
  'never takes a demotion back': {
    broken: {
      wanted: 'I12',
      decide: (snapshot, policy) => {
        const right = decide(snapshot, policy);
        return right.step.kind === 'undemote'
          ? { ...right, step: { kind: 'none' }, hold: { rule: 'RolesNotSettled', members: [] } }
          : right;
      },
    },
    world: faultless(3),
  },
  'acts on what it once read': { broken: { wanted: 'I2', unconfirmed: true }, world: small(3) },
  'reads the pods before the StatefulSet': {
    broken: { wanted: 'I2b', podsFirst: true },
    world: worldOf(3, { detail: 'coarse', faults: 1, badRevision: false, families: new Set(['template']) }),
  },
  'leaves its preconditions out': {
    broken: { wanted: 'I5', unconditional: true },
    world: { ...small(3, 'late-write'), preconditions: false },
  },
  'takes a step beside an intent that it finds': {
    broken: { wanted: 'I1', unfenced: true },
    world: small(3, 'late-write'),
  },
  'forgets prevent-delete': {
    broken: {
      wanted: 'protected',
      decide: (snapshot, policy) =>
        decide({ ...snapshot, members: snapshot.members.map((one) => ({ ...one, preventDelete: false })) }, policy),
    },
    world: small(1, 'prevent-delete'),
  },
  'protects the primary alone': {
    broken: {
      wanted: 'protected',
      decide: (snapshot, policy) => {
        const members = snapshot.members.map((one) => ({
          ...one,
          preventDelete: one.preventDelete && !isReplica(snapshot, one),
        }));
        return decide({ ...snapshot, members }, policy);
      },
    },
    world: small(3, 'prevent-delete'),
  },
  'restarts a member that recovers': {
    broken: {
      wanted: 'recovering',
      decide: (snapshot, policy) =>
        decide(snapshot, { ...policy, progressDeadlineSeconds: policy.failoverGraceSeconds }),
    },
    world: small(3, 'recovery'),
  },
  'takes a primary whose upstream is away for one that is gone': {
    broken: {
      wanted: 'I3',
      decide: (snapshot, policy) => {
        const { cluster, members } = snapshot;
        const primary = members.find((member) => !isReplica(snapshot, member));
        const away = primary?.ready === false ? policy.failoverGraceSeconds : null;
        return decide(
          { ...snapshot, cluster: { ...cluster, replicatesFromElsewhere: false, primaryAwayForSeconds: away } },
          policy,
        );
      },
    },
    world: small(3, 'upstream'),
  },
  'does not listen to the user': {
    broken: {
      wanted: 'wish',
      decide: (snapshot, policy) => decide(snapshot, { ...policy, paused: false, heldOrdinals: [] }),
    },
    world: small(3, 'user'),
  },
};

/** Controllers that break no invariant and never get anywhere; what the check of progress has to say of each. */
export const dawdlers: Readonly<Record<string, { readonly decide: Decide; readonly found: 'cycle' | 'stuck' }>> = {
  'takes its demotion back as soon as it sees it, and forgets that it has tried': {
    found: 'cycle',
    decide: (snapshot, policy) => {
      const right = decide({ ...snapshot, memory: { ...snapshot.memory, switchoverTries: 0 } }, policy);
      const demoted = snapshot.members.find(({ demotedFor }) => demotedFor !== null);
      if (!demoted) return right;
      const step: Step = { kind: 'undemote', targets: [target(demoted)], reason: 'OthersDue', demoted: demoted.demote };
      return doing(right, step);
    },
  },
  'waits for a budget that nobody opens': {
    found: 'stuck',
    decide: (snapshot, policy) => {
      const right = decide(snapshot, policy);
      if (right.step.kind !== 'evict') return right;
      return { ...right, step: { kind: 'none' }, hold: { rule: 'BudgetUsed', away: [], maxUnavailable: 1 } };
    },
  },
};

/** Roles as the index says, and no waiting for writes. */
function withRolesSettled(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { cluster, members } = snapshot;
  return {
    ...snapshot,
    cluster: {
      ...cluster,
      available: true,
      healthy: true,
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
