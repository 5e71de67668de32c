import type { Hold } from '../../src/core/decision.ts';
import type { MemberSaid, ReplicaSaid } from '../../src/core/on-demand-facts.ts';
import type { ReplicaBehind } from '../../src/core/replicas-behind.ts';
import { cluster, lastOne, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { caughtUp, openWrite, shownWrite } from './mysql-readings.ts';
import { type Case, deletes, demotes, evicts, holds, play, when } from './table.ts';

type BehindHold = Extract<Hold, { rule: 'ReplicasBehind' }>;

const lacks = (missing: number): ReplicaSaid => ({ ...caughtUp, missing });
const silent = { kind: 'unknown', message: 'no answer within 1 s' } as const satisfies MemberSaid;
const noSecret = (forSeconds: number) => ({ message: 'there is no Secret', forSeconds });
/** 2 is updated and back. 1 is next. */
const oneIsNext = () => three(member(0).stale(), member(1).stale());

const waits = (member: number, more: Partial<BehindHold>, ...replicas: readonly ReplicaBehind[]): Case['decides'] =>
  holds({
    rule: 'ReplicasBehind',
    member,
    limitSeconds: null,
    graceSeconds: 120,
    replicas,
    acknowledging: null,
    ...more,
  });
const lacking = (ordinal: number, transactions: number): ReplicaBehind => ({
  ordinal,
  reading: { kind: 'notReceived', transactions, silent: null },
});

describe('the next replica', () => {
  play({
    'is replaced once the others have received what the primary had committed': when(
      oneIsNext().mysql(),
      evicts('ReplicaHealthy', 1),
    ),
    'waits for one that has come back and received nothing yet': when(
      oneIsNext().mysql({ says: { 2: lacks(145) } }),
      waits(1, {}, lacking(2, 145)),
      {},
      5,
    ),
    'does not wait until it has applied that': when(
      oneIsNext().mysql({ says: { 2: { ...caughtUp, unapplied: 9 } } }),
      evicts('ReplicaHealthy', 1),
    ),
    'waits until a member was asked': when(
      oneIsNext().mysql({ ageSeconds: null }),
      waits(1, {}, { ordinal: 2, reading: null }),
    ),
    'waits if they were asked too long ago': when(
      oneIsNext().mysql({ ageSeconds: 5 }),
      waits(1, {}, { ordinal: 2, reading: null }),
    ),
    'waits for one that does not answer, for a while': when(
      oneIsNext().mysql({ says: { 2: silent }, unknownForSeconds: 118 }),
      waits(1, {}, { ordinal: 2, reading: silent }),
      {},
      2,
    ),
    'does not wait for that longer than the grace': when(
      oneIsNext().mysql({ says: { 2: silent }, unknownForSeconds: 120 }),
      evicts('ReplicaHealthy', 1),
    ),
    'waits for a primary that does not say what it has committed, for a while': when(
      oneIsNext().mysql({ says: { 0: silent, 2: { ...caughtUp, missing: null } } }),
      waits(
        1,
        {},
        { ordinal: 2, reading: { kind: 'unknown', message: 'the primary does not say: no answer within 1 s' } },
      ),
    ),
    'continues as without once no member could be asked for a while': when(
      oneIsNext().mysql({ problem: noSecret(30), says: { 2: silent }, last: { 2: lacks(9) }, unknownForSeconds: 30 }),
      evicts('ReplicaHealthy', 1),
    ),
    'forgets nothing that a replica has said because the Secret is made anew': when(
      oneIsNext().mysql({ problem: noSecret(29), says: { 2: silent }, last: { 2: lacks(9) } }),
      waits(1, {}, { ordinal: 2, reading: { kind: 'notReceived', transactions: 9, silent: silent.message } }),
    ),
    'asks again before it goes without': when(
      oneIsNext().mysql({ ageSeconds: 5, problem: noSecret(30), says: { 2: silent }, unknownForSeconds: 30 }),
      waits(1, {}, { ordinal: 2, reading: null }),
    ),
    'goes while the rule is overridden': when(
      oneIsNext().mysql({ says: { 2: lacks(145) } }),
      evicts('ReplicaHealthy', 1),
      { overrides: [{ rule: 'ReplicasBehind', remainingSeconds: 60 }] },
    ),
    'goes while as many may be away': when(
      cluster(5)
        .members(member(0).stale(), member(1).stale(), member(2).stale(), member(3).stale())
        .mysql({ says: { 4: lacks(3) } }),
      evicts('ReplicaHealthy', 3),
      { maxUnavailable: 2 },
    ),
    'waits if one is away and another one has received nothing': when(
      cluster(5)
        .members(member(0).stale(), member(1).stale(), member(2).stale(), member(3).updated().starting())
        .mysql({ says: { 4: lacks(3) } }),
      waits(2, {}, lacking(4, 3)),
      { maxUnavailable: 2 },
    ),
    'waits for one that has received all of it and receives no more': when(
      oneIsNext().mysql({ says: { 2: { ...caughtUp, receiver: { runs: false, error: 1045 } } } }),
      waits(1, {}, { ordinal: 2, reading: { kind: 'notReceiving', error: 1045, silent: null } }),
      {},
      5,
    ),
    'waits for one whose receiver has an error': when(
      oneIsNext().mysql({ says: { 2: { ...caughtUp, receiver: { runs: true, error: 2003 } } } }),
      waits(1, {}, { ordinal: 2, reading: { kind: 'notReceiving', error: 2003, silent: null } }),
    ),
    'waits for one that has received all of it and acknowledges nothing': when(
      oneIsNext().mysql({ says: { 2: { ...caughtUp, semiSync: false } } }),
      waits(1, {}, { ordinal: 2, reading: { kind: 'notAcknowledging', silent: null } }),
    ),
    'goes where no commit waits for an acknowledgement': when(
      oneIsNext().mysql({
        says: { 0: { kind: 'primary', needed: 0, acknowledging: 0 }, 2: { ...caughtUp, semiSync: false } },
      }),
      evicts('ReplicaHealthy', 1),
    ),
    'waits if the primary counts too few that acknowledge without it': when(
      oneIsNext().mysql({ says: { 0: { kind: 'primary', needed: 1, acknowledging: 1 } } }),
      waits(1, { acknowledging: { others: 0, needed: 1 } }),
      {},
      5,
    ),
    'goes if it acknowledges nothing itself': when(
      oneIsNext().mysql({
        says: { 0: { kind: 'primary', needed: 1, acknowledging: 1 }, 1: { ...caughtUp, semiSync: false } },
      }),
      evicts('ReplicaHealthy', 1),
    ),
    'waits for one that lacked something and has not answered since, however long': when(
      oneIsNext().mysql({ says: { 2: silent }, last: { 2: lacks(145) }, unknownForSeconds: 3000 }),
      waits(1, {}, { ordinal: 2, reading: { kind: 'notReceived', transactions: 145, silent: 'no answer within 1 s' } }),
      {},
      5,
    ),
    'waits for one that lacked something while the primary does not say what it has committed since': when(
      oneIsNext().mysql({
        says: { 0: silent, 2: { ...caughtUp, missing: null } },
        last: { 2: lacks(145) },
        unknownForSeconds: 3000,
      }),
      waits(
        1,
        {},
        {
          ordinal: 2,
          reading: { kind: 'notReceived', transactions: 145, silent: 'the primary does not say: no answer within 1 s' },
        },
      ),
    ),
    'waits as well where the StatefulSet replaces it': when(
      oneIsNext()
        .atPartition(2)
        .mysql({ says: { 2: lacks(145) } }),
      waits(1, {}, lacking(2, 145)),
      { mode: 'Partition' },
    ),
  });
});

describe('a replica that runs without participating', () => {
  const broken = () => three(member(0).stale(), member(1).stale().lagging(200));
  play({
    'is restarted while the other one acknowledges': when(broken().mysql(), deletes('MemberNotParticipating', 1)),
    'is restarted while the other one has not applied all that it has received': when(
      broken().mysql({ says: { 2: { ...caughtUp, unapplied: 9 } } }),
      deletes('MemberNotParticipating', 1),
    ),
    'is not while the other one has received nothing': when(
      broken().mysql({ ageSeconds: 29, says: { 2: lacks(9) } }),
      holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
    ),
    'is not while that one has not answered since': when(
      broken().mysql({ ageSeconds: 0, says: { 2: silent }, last: { 2: lacks(9) }, unknownForSeconds: 3000 }),
      holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
      {},
      30,
    ),
    'is not while the other one receives nothing': when(
      broken().mysql({ says: { 2: { ...caughtUp, receiver: { runs: false, error: 0 } } } }),
      holds({ rule: 'NotEnoughAcknowledging', member: 1, others: 1, needed: 2 }),
    ),
    'is once it has been so for the progress deadline': when(
      cluster(3)
        .members(member(0).stale(), member(1).stale().lagging(600))
        .mysql({ says: { 2: lacks(9) } }),
      deletes('MemberNotParticipating', 1),
    ),
  });
});

describe('a switchover', () => {
  const waitsFor = (...replicas: readonly ReplicaBehind[]) => waits(0, { limitSeconds: 1 }, ...replicas);
  play({
    'waits until every replica has received and applied': when(
      lastOne().mysql({ says: { 1: lacks(2), 2: { ...caughtUp, unapplied: 1 } } }),
      waitsFor(lacking(1, 2), { ordinal: 2, reading: { kind: 'notApplied', transactions: 1, silent: null } }),
    ),
    'begins once they have': when(lastOne().mysql(), demotes(0)),
    'waits for what a replica has not applied, although the primary does not answer': when(
      lastOne().mysql({ says: { 0: silent, 1: { ...caughtUp, missing: null, unapplied: 4 } }, unknownForSeconds: 30 }),
      waitsFor({
        ordinal: 1,
        reading: { kind: 'notApplied', transactions: 4, silent: 'the primary does not say: no answer within 1 s' },
      }),
    ),
    'waits for a replica that had not applied everything and has not answered since': when(
      lastOne().mysql({ says: { 1: silent }, last: { 1: { ...caughtUp, unapplied: 4 } }, unknownForSeconds: 3000 }),
      waitsFor({ ordinal: 1, reading: { kind: 'notApplied', transactions: 4, silent: 'no answer within 1 s' } }),
    ),
    'waits for the write that a primary without an answer since had open, if it is to': when(
      lastOne().mysql({ says: { 0: silent }, unknownForSeconds: 3000, writes: [openWrite] }),
      holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 0, graceSeconds: null }),
      { longWritePolicy: 'Hold' },
    ),
    'waits for writes until they end, if it is to': when(
      lastOne().mysql({ writes: [openWrite, { ...openWrite, session: 43 }], waitedForWritesSeconds: 9000 }),
      holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 1, graceSeconds: null }),
      { longWritePolicy: 'Hold' },
    ),
    'begins after its grace': when(lastOne().mysql({ writes: [openWrite], waitedForWritesSeconds: 60 }), demotes(0)),
    'begins at once without a grace': when(lastOne().mysql({ writes: [openWrite] }), demotes(0), {
      longWriteGraceSeconds: 0,
    }),
    'asks for writes before it begins': when(
      stale(1).mysql({ ageSeconds: null }),
      holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    ),
    'asks for them anew if that was too long ago': when(
      stale(1).mysql({ ageSeconds: 5 }),
      holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    ),
    'does not treat writes that were not asked for as none': when(
      lastOne().mysql({ writes: null }),
      holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    ),
    'waits for a primary that does not say, no longer than for a replica': when(
      lastOne().mysql({ writes: null, says: { 0: silent }, unknownForSeconds: 29 }),
      holds({ rule: 'LongWrite', member: 0, write: null, others: 0, graceSeconds: 60 }),
    ),
    'begins without a primary that has not said for as long': when(
      lastOne().mysql({ writes: null, says: { 0: silent }, unknownForSeconds: 30 }),
      demotes(0),
    ),
    'does so wherever the primary is': when(
      cluster(3)
        .primaryAt(1)
        .members(member(1).stale())
        .mysql({ writes: null, says: { 1: silent }, unknownForSeconds: 30 }),
      demotes(1),
    ),
    'does not ask for writes while no member can be asked': when(
      lastOne().mysql({ problem: noSecret(30), writes: [openWrite] }),
      demotes(0),
    ),
    'keeps to the writes that it knows of because the Secret is made anew': when(
      lastOne().mysql({ problem: noSecret(29), says: { 0: silent }, writes: [openWrite] }),
      holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 0, graceSeconds: 60 }),
    ),
    'waits for writes where the StatefulSet replaces the primary': when(
      lastOne()
        .atPartition(1)
        .mysql({ writes: [openWrite] }),
      holds({ rule: 'LongWrite', member: 0, write: shownWrite, others: 0, graceSeconds: 60 }),
      { mode: 'Partition' },
    ),
  });
});

describe('a failover that continues', () => {
  const applying = { ...caughtUp, missing: null, unapplied: 7 };
  const unserved = () =>
    stale()
      .members(member(0).updated().down('CrashLoopBackOff'), member(1).lagging(200), member(2).lagging(200))
      .primaryUnavailableFor(200)
      .memory({ verified: true });
  const unfinished = (said: typeof applying | null) =>
    holds({ rule: 'FailoverUnfinished', primary: 0, member: 2, graceSeconds: 180, state: null, said });
  play({
    'shows whether the applier works': when(
      unserved().mysql({ ageSeconds: 29, says: { 2: applying } }),
      unfinished(applying),
      {},
      1,
    ),
    'is held as without once that is old': when(
      unserved().mysql({ ageSeconds: 30, says: { 2: applying } }),
      unfinished(null),
    ),
    'is held as without if the replica does not answer': when(
      unserved().mysql({ says: { 2: silent } }),
      unfinished(null),
    ),
  });
});
