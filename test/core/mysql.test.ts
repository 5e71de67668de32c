import type { Hold } from '../../src/core/decision.ts';
import type { MemberSaid } from '../../src/core/on-demand-facts.ts';
import type { ReplicaBehind } from '../../src/core/replicas-behind.ts';
import { cluster } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { caughtUp, openWrite, shownWrite } from './mysql-readings.ts';
import { type Case, deletes, demotes, evicts, holds, play } from './table.ts';

type BehindHold = Extract<Hold, { rule: 'ReplicasBehind' }>;

const lacks = (missing: number): MemberSaid => ({ ...caughtUp, missing });
const silent: MemberSaid = { kind: 'unknown', message: 'no answer within 1 s' };
/** 2 is updated and back. 1 is next. */
const oneIsNext = () => cluster(3).members(member(0).stale(), member(1).stale());
const lastOne = () => cluster(3).members(member(0).stale());

const waits = (member: number, more: Partial<BehindHold>, ...replicas: readonly ReplicaBehind[]): Case['decides'] =>
  holds({ rule: 'ReplicasBehind', member, limitSeconds: null, graceSeconds: 30, replicas, ...more });
const lacking = (ordinal: number, transactions: number): ReplicaBehind => ({
  ordinal,
  reading: { kind: 'notReceived', transactions },
});

describe('the next replica', () => {
  play({
    'goes once the others have received what the primary had committed': {
      given: oneIsNext().mysql(),
      decides: evicts('ReplicaHealthy', 1),
    },
    'waits for one that has come back and received nothing yet': {
      given: oneIsNext().mysql({ says: { 2: lacks(145) } }),
      decides: waits(1, {}, lacking(2, 145)),
      requeueAfterSeconds: 5,
    },
    'does not wait until it has applied that': {
      given: oneIsNext().mysql({ says: { 2: { ...caughtUp, unapplied: 9 } } }),
      decides: evicts('ReplicaHealthy', 1),
    },
    'waits until somebody has been asked': {
      given: oneIsNext().mysql({ ageSeconds: null }),
      decides: waits(1, {}, { ordinal: 2, reading: null }),
    },
    'waits if they were asked too long ago': {
      given: oneIsNext().mysql({ ageSeconds: 5 }),
      decides: waits(1, {}, { ordinal: 2, reading: null }),
    },
    'waits for one that does not answer, for a while': {
      given: oneIsNext().mysql({ says: { 2: silent }, unknownForSeconds: 28 }),
      decides: waits(1, {}, { ordinal: 2, reading: silent }),
      requeueAfterSeconds: 2,
    },
    'does not wait for that longer than the grace': {
      given: oneIsNext().mysql({ says: { 2: silent }, unknownForSeconds: 30 }),
      decides: evicts('ReplicaHealthy', 1),
    },
    'waits for a primary that does not say what it has committed, for a while': {
      given: oneIsNext().mysql({ says: { 0: silent, 2: { ...caughtUp, missing: null } } }),
      decides: waits(
        1,
        {},
        {
          ordinal: 2,
          reading: { kind: 'unknown', message: 'the primary does not say: no answer within 1 s' },
        },
      ),
    },
    'goes as without if nobody can be asked': {
      given: oneIsNext().mysql({
        ageSeconds: 0,
        problem: 'the controller may not read the Secret',
        says: { 2: lacks(9) },
      }),
      decides: evicts('ReplicaHealthy', 1),
    },
    'goes while the rule is overridden': {
      given: oneIsNext().mysql({ says: { 2: lacks(145) } }),
      settings: { overrides: [{ rule: 'ReplicasBehind', remainingSeconds: 60 }] },
      decides: evicts('ReplicaHealthy', 1),
    },
    'goes while as many may be away': {
      given: cluster(5)
        .members(member(0).stale(), member(1).stale(), member(2).stale(), member(3).stale())
        .mysql({ says: { 4: lacks(3) } }),
      settings: { maxUnavailable: 2 },
      decides: evicts('ReplicaHealthy', 3),
    },
    'waits if one is away and another one has received nothing': {
      given: cluster(5)
        .members(member(0).stale(), member(1).stale(), member(2).stale(), member(3).updated().starting())
        .mysql({ says: { 4: lacks(3) } }),
      settings: { maxUnavailable: 2 },
      decides: waits(2, {}, lacking(4, 3)),
    },
    'waits as well where the StatefulSet replaces it': {
      given: oneIsNext()
        .atPartition(2)
        .mysql({ says: { 2: lacks(145) } }),
      settings: { mode: 'Partition' },
      decides: waits(1, {}, lacking(2, 145)),
    },
  });
});

describe('a replica that runs without participating', () => {
  const broken = () => cluster(3).members(member(0).stale(), member(1).stale().lagging(200));
  play({
    'is restarted while the other one acknowledges': {
      given: broken().mysql(),
      decides: deletes('MemberNotParticipating', 1),
    },
    'is not while the other one has received nothing': {
      given: broken().mysql({ ageSeconds: 29, says: { 2: lacks(9) } }),
      decides: holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
    },
    'is once that was said too long ago': {
      given: broken().mysql({ ageSeconds: 30, says: { 2: lacks(9) } }),
      decides: deletes('MemberNotParticipating', 1),
    },
  });
});

describe('a switchover', () => {
  const waitsFor = (...replicas: readonly ReplicaBehind[]) => waits(0, { limitSeconds: 1 }, ...replicas);
  play({
    'waits until every replica has received and applied': {
      given: lastOne().mysql({ says: { 1: lacks(2), 2: { ...caughtUp, unapplied: 1 } } }),
      decides: waitsFor(lacking(1, 2), { ordinal: 2, reading: { kind: 'notApplied', transactions: 1 } }),
    },
    'begins once they have': { given: lastOne().mysql(), decides: demotes(0) },
    'waits for writes until they end, if it is to': {
      given: lastOne().mysql({ writes: [openWrite, { ...openWrite, session: 43 }], waitedForWritesSeconds: 9000 }),
      settings: { longWritePolicy: 'Hold' },
      decides: holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 1, graceSeconds: null }),
    },
    'begins after its grace': {
      given: lastOne().mysql({ writes: [openWrite], waitedForWritesSeconds: 60 }),
      decides: demotes(0),
    },
    'begins at once without a grace': {
      given: lastOne().mysql({ writes: [openWrite] }),
      settings: { longWriteGraceSeconds: 0 },
      decides: demotes(0),
    },
    'asks for writes before it begins': {
      given: cluster(1).templateChanged().mysql({ ageSeconds: null }),
      decides: holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    },
    'does not take writes that nobody was asked about for none': {
      given: lastOne().mysql({ writes: null }),
      decides: holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    },
    'waits for a primary that does not say, no longer than for a replica': {
      given: lastOne().mysql({ writes: null, says: { 0: silent }, unknownForSeconds: 29 }),
      decides: holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    },
    'begins without a primary that has not said for as long': {
      given: lastOne().mysql({ writes: null, says: { 0: silent }, unknownForSeconds: 30 }),
      decides: demotes(0),
    },
    'does not ask for writes while nobody can be asked': {
      given: lastOne().mysql({ problem: 'no', writes: [openWrite] }),
      decides: demotes(0),
    },
    'waits for writes where the StatefulSet replaces the primary': {
      given: lastOne()
        .atPartition(1)
        .mysql({ writes: [openWrite] }),
      settings: { mode: 'Partition' },
      decides: holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 0, graceSeconds: 60 }),
    },
  });
});

describe('a failover that goes on', () => {
  const applying = { ...caughtUp, missing: null, unapplied: 7 };
  const unserved = () =>
    cluster(3)
      .templateChanged()
      .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(200), member(2).lagging(200))
      .primaryUnavailableFor(200)
      .memory({ verified: true });
  const unfinished = (said: typeof applying | null) =>
    holds({ rule: 'FailoverUnfinished', primary: 0, member: 2, graceSeconds: 180, said });
  play({
    'shows whether the applier works': {
      given: unserved().mysql({ ageSeconds: 29, says: { 2: applying } }),
      decides: unfinished(applying),
      requeueAfterSeconds: 1,
    },
    'is held as without once that is old': {
      given: unserved().mysql({ ageSeconds: 30, says: { 2: applying } }),
      decides: unfinished(null),
    },
    'is held as without if the replica does not answer': {
      given: unserved().mysql({ says: { 2: silent } }),
      decides: unfinished(null),
    },
  });
});
