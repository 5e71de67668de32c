import type { Hold } from '../../src/core/decision.ts';
import type { DelayReading } from '../../src/core/on-demand-facts.ts';
import type { ReplicaBehind } from '../../src/core/replicas-behind.ts';
import { cluster, lastOne, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, demotes, evicts, holds, lowers, play, when } from './table.ts';

const behind = (seconds: number): DelayReading => ({ kind: 'delay', seconds });
const unknown: DelayReading = { kind: 'unknown', message: 'ECONNREFUSED' };
const stopped: DelayReading = { kind: 'notReplicating', message: 'replication thread are stopped' };

type BehindHold = Extract<Hold, { rule: 'ReplicasBehind' }>;

/** The primary waits for these replicas. */
const waits = (replicas: readonly ReplicaBehind[], more: Partial<BehindHold> = {}): Case['decides'] =>
  holds({
    rule: 'ReplicasBehind',
    member: 0,
    limitSeconds: 1,
    graceSeconds: 30,
    replicas,
    acknowledging: null,
    ...more,
  });
const waitsFor = (ordinal: number, reading: DelayReading | null): Case['decides'] => waits([{ ordinal, reading }]);

describe('the replica that MOCO would choose', () => {
  play({
    'is waited for from the limit on': when(lastOne().delay(1, behind(1)), waitsFor(1, behind(1)), {}, 5),
    'may be as far behind as the user says': when(lastOne().delay(1, behind(9.9)), demotes(0), {
      maxReplicaDelaySeconds: 10,
    }),
    'is waited for while its agent says that it does not replicate': when(
      lastOne().delay(1, stopped),
      waitsFor(1, stopped),
    ),
    'is the one with the lowest ordinal, whichever is primary': when(
      cluster(3).primaryAt(1).members(member(1).stale()).delay(0, behind(41)),
      waits([{ ordinal: 0, reading: behind(41) }], { member: 1 }),
    ),
  });
});

describe('a replica that MOCO would not choose', () => {
  play({
    'is waited for as well, since MOCO stops its replication before it lets writes in': when(
      lastOne().delay(2, behind(1), { ageSeconds: 3 }),
      waitsFor(2, behind(1)),
      {},
      2,
    ),
    'is waited for beside the one that MOCO would choose': when(
      lastOne().delay(1, behind(3)).delay(2, stopped),
      waits([
        { ordinal: 1, reading: behind(3) },
        { ordinal: 2, reading: stopped },
      ]),
    ),
    'is not waited for if it does not participate: others wait for it': when(
      cluster(5).members(member(0).stale(), member(4).lagging()).delay(4, behind(41)),
      holds({ rule: 'MaxUnavailableReached', unavailable: [4], maxUnavailable: 1 }),
      { maxUnavailable: 2 },
    ),
  });
});

describe('a delay that cannot be read', () => {
  play({
    'is waited for just below the grace': when(
      lastOne().delay(1, unknown, { ageSeconds: 1, unknownForSeconds: 28 }),
      waitsFor(1, unknown),
      {},
      2,
    ),
    'is not waited for after the grace': when(lastOne().delay(1, unknown, { unknownForSeconds: 30 }), demotes(0)),
    'is waited for as long as the user says': when(
      lastOne().delay(1, unknown, { unknownForSeconds: 3599 }),
      waits([{ ordinal: 1, reading: unknown }], { graceSeconds: 3600 }),
      { replicaDelayGraceSeconds: 3600 },
    ),
    'is not waited for at all without a grace': when(lastOne().delay(1, unknown), demotes(0), {
      replicaDelayGraceSeconds: 0,
    }),
    'does not excuse another replica that is behind': when(
      lastOne().delay(1, behind(41)).delay(2, unknown, { unknownForSeconds: 30 }),
      waitsFor(1, behind(41)),
    ),
  });
});

describe('a reading', () => {
  play({
    'counts just below five seconds': when(lastOne().delay(1, behind(0), { ageSeconds: 4.9 }), demotes(0)),
    'counts as none from five seconds on': when(lastOne().delay(1, behind(0), { ageSeconds: 5 }), waitsFor(1, null)),
    'of the primary does not matter': when(lastOne().delay(0, behind(41)), demotes(0)),
    'is not asked for while the user keeps the primary': when(
      lastOne().delay(1, behind(0), { ageSeconds: 60 }),
      holds({ rule: 'AwaitingApproval', member: 0, revision: '7966559688' }),
      { primaryUpdatePolicy: 'Manual' },
    ),
    'is not asked for outside of the maintenance windows': when(
      lastOne().maintenance([]).delay(1, behind(0), { ageSeconds: 60 }),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: null, neededSeconds: 190, opensAt: null }),
    ),
    'is not asked for before a failed step is tried again': when(
      lastOne().delay(1, behind(0), { ageSeconds: 60 }).stepFailed({ step: 'demote uid-0 7966559688', message: 'no' }),
      holds({ rule: 'StepRefused', message: 'no' }),
    ),
    'does not matter to a replica that goes': when(
      stale().delay(1, behind(41)).delay(2, behind(41)),
      evicts('ReplicaHealthy', 2),
    ),
    'does not matter to a single member': when(stale(1).delay(0, behind(41)), evicts('SingleMember', 0)),
    'matters to an impaired primary as well, whose deletion is a failover': when(
      three(member(0).stale().impaired('slow-log')).delay(1, behind(41)),
      waitsFor(1, behind(41)),
    ),
  });
});

describe('a partition that reaches the primary', () => {
  const inPartitions = { mode: 'Partition' } as const;
  play({
    'stays while the replica that MOCO would choose is behind': when(
      lastOne().atPartition(1).delay(1, behind(41)),
      waitsFor(1, behind(41)),
      inPartitions,
    ),
    'is lowered once it has caught up': when(
      lastOne().atPartition(1).delay(1, behind(0)),
      lowers('ReplicaHealthy', 0, 0),
      inPartitions,
    ),
    'is lowered to a replica whichever is behind': when(
      stale().atPartition(3).delay(1, behind(41)),
      lowers('ReplicaHealthy', 2, 2),
      inPartitions,
    ),
    'is lowered to a primary that does not participate, which MOCO would not switch away from': when(
      three(member(0).stale().lagging()).atPartition(1).delay(1, behind(41)).primaryUnavailableFor(180),
      lowers('MemberNotParticipating', 0, 0),
      inPartitions,
    ),
  });
});
