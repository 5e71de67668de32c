import type { Hold } from '../../src/core/decision.ts';
import type { DelayReading } from '../../src/core/on-demand-facts.ts';
import type { ReplicaBehind } from '../../src/core/replicas-behind.ts';
import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, demotes, evicts, holds, lowers, play } from './table.ts';

const lastOne = () => cluster(3).members(member(0).stale());
const behind = (seconds: number): DelayReading => ({ kind: 'delay', seconds });
const unknown: DelayReading = { kind: 'unknown', message: 'ECONNREFUSED' };
const stopped: DelayReading = { kind: 'notReplicating', message: 'replication thread are stopped' };

type BehindHold = Extract<Hold, { rule: 'ReplicasBehind' }>;

/** The primary waits for these replicas. */
const waits = (replicas: readonly ReplicaBehind[], more: Partial<BehindHold> = {}): Case['decides'] =>
  holds({ rule: 'ReplicasBehind', member: 0, limitSeconds: 1, graceSeconds: 30, replicas, ...more });
const waitsFor = (ordinal: number, reading: DelayReading | null): Case['decides'] => waits([{ ordinal, reading }]);

describe('the replica that MOCO would choose', () => {
  play({
    'is waited for from the limit on': {
      given: lastOne().delay(1, behind(1)),
      decides: waitsFor(1, behind(1)),
      requeueAfterSeconds: 5,
    },
    'is not waited for below the limit': { given: lastOne().delay(1, behind(0.999)), decides: demotes(0) },
    'may be as far behind as the user says': {
      given: lastOne().delay(1, behind(9.9)),
      settings: { maxReplicaDelaySeconds: 10 },
      decides: demotes(0),
    },
    'is waited for while it is far behind': {
      given: lastOne().delay(1, behind(41)),
      decides: waitsFor(1, behind(41)),
    },
    'is waited for while its agent says that it does not replicate': {
      given: lastOne().delay(1, stopped),
      decides: waitsFor(1, stopped),
    },
    'is the one with the lowest ordinal, whoever is primary': {
      given: cluster(3).primaryAt(1).members(member(1).stale()).delay(0, behind(41)),
      decides: waits([{ ordinal: 0, reading: behind(41) }], { member: 1 }),
    },
  });
});

describe('a replica that MOCO would not choose', () => {
  play({
    'is waited for as well, since MOCO stops its replication before it lets writes in': {
      given: lastOne().delay(2, behind(1), { ageSeconds: 3 }),
      decides: waitsFor(2, behind(1)),
      requeueAfterSeconds: 2,
    },
    'is waited for beside the one that MOCO would choose': {
      given: lastOne().delay(1, behind(3)).delay(2, stopped),
      decides: waits([
        { ordinal: 1, reading: behind(3) },
        { ordinal: 2, reading: stopped },
      ]),
    },
    'is not waited for if it does not participate: others wait for it': {
      given: cluster(5).members(member(0).stale(), member(4).lagging()).delay(4, behind(41)),
      settings: { maxUnavailable: 2 },
      decides: holds({ rule: 'MaxUnavailableReached', unavailable: [4], maxUnavailable: 1 }),
    },
  });
});

describe('a delay that cannot be read', () => {
  play({
    'is waited for just below the grace': {
      given: lastOne().delay(1, unknown, { ageSeconds: 1, unknownForSeconds: 28 }),
      decides: waitsFor(1, unknown),
      requeueAfterSeconds: 2,
    },
    'is not waited for after the grace': {
      given: lastOne().delay(1, unknown, { unknownForSeconds: 30 }),
      decides: demotes(0),
    },
    'is waited for as long as the user says': {
      given: lastOne().delay(1, unknown, { unknownForSeconds: 3599 }),
      settings: { replicaDelayGraceSeconds: 3600 },
      decides: waits([{ ordinal: 1, reading: unknown }], { graceSeconds: 3600 }),
    },
    'is not waited for at all without a grace': {
      given: lastOne().delay(1, unknown),
      settings: { replicaDelayGraceSeconds: 0 },
      decides: demotes(0),
    },
    'does not excuse another replica that is behind': {
      given: lastOne().delay(1, behind(41)).delay(2, unknown, { unknownForSeconds: 30 }),
      decides: waitsFor(1, behind(41)),
    },
  });
});

describe('a reading', () => {
  play({
    'counts just below five seconds': {
      given: lastOne().delay(1, behind(0), { ageSeconds: 4.9 }),
      decides: demotes(0),
    },
    'counts as none from five seconds on': {
      given: lastOne().delay(1, behind(0), { ageSeconds: 5 }),
      decides: waitsFor(1, null),
    },
    'of the primary does not matter': { given: lastOne().delay(0, behind(41)), decides: demotes(0) },
    'is not asked for while the user keeps the primary': {
      given: lastOne().delay(1, behind(0), { ageSeconds: 60 }),
      settings: { primaryUpdatePolicy: 'Manual' },
      decides: holds({ rule: 'AwaitingApproval', member: 0, revision: '7966559688' }),
    },
    'is not asked for outside of the maintenance windows': {
      given: lastOne().maintenance([]).delay(1, behind(0), { ageSeconds: 60 }),
      decides: holds({ rule: 'OutsideMaintenanceWindow', closesAt: null, neededSeconds: 190, opensAt: null }),
    },
    'is not asked for before a failed step is tried again': {
      given: lastOne()
        .delay(1, behind(0), { ageSeconds: 60 })
        .stepFailed({ step: 'demote uid-0 7966559688', message: 'no' }),
      decides: holds({ rule: 'StepRefused', message: 'no' }),
    },
    'does not matter to a replica that goes': {
      given: cluster(3).templateChanged().delay(1, behind(41)).delay(2, behind(41)),
      decides: evicts('ReplicaHealthy', 2),
    },
    'does not matter to a single member': {
      given: cluster(1).templateChanged().delay(0, behind(41)),
      decides: evicts('SingleMember', 0),
    },
    'matters to an impaired primary as well, whose deletion is a failover': {
      given: cluster(3).members(member(0).stale().impaired('slow-log')).delay(1, behind(41)),
      decides: waitsFor(1, behind(41)),
    },
  });
});

describe('a partition that takes the primary', () => {
  const inPartitions = { mode: 'Partition' } as const;
  play({
    'stays while the replica that MOCO would choose is behind': {
      given: lastOne().atPartition(1).delay(1, behind(41)),
      settings: inPartitions,
      decides: waitsFor(1, behind(41)),
    },
    'is lowered once it has caught up': {
      given: lastOne().atPartition(1).delay(1, behind(0)),
      settings: inPartitions,
      decides: lowers('ReplicaHealthy', 0, 0),
    },
    'is lowered to a replica whoever is behind': {
      given: cluster(3).templateChanged().atPartition(3).delay(1, behind(41)),
      settings: inPartitions,
      decides: lowers('ReplicaHealthy', 2, 2),
    },
    'is lowered to a primary that does not participate, which MOCO would not switch away from': {
      given: cluster(3)
        .members(member(0).stale().lagging())
        .atPartition(1)
        .delay(1, behind(41))
        .primaryUnavailableFor(180),
      settings: inPartitions,
      decides: lowers('MemberNotParticipating', 0, 0),
    },
  });
});
