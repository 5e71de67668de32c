import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.ts';
import { canAcknowledge, classify, crashLoop, isParticipating } from '../../src/core/member.ts';
import { isPossibleSize } from '../../src/core/situation.ts';
import { cluster, three } from './cluster-builder.ts';
import { type MemberBuilder, member } from './member-builder.ts';
import { decideCase, deletes, holds, play, when } from './table.ts';

const factsOf = (builder: MemberBuilder) => builder.facts(0, 'revision');
const stateOf = (builder: MemberBuilder) => classify(factsOf(builder), false, new Deadlines()).state;
const stale = (replicas = 3) => cluster(replicas).templateChanged();

describe('a member behind a lost kubelet', () => {
  it('may have one container only', () => {
    const { containers } = factsOf(member(1));
    expect(
      stateOf(
        member(1)
          .unreachable()
          .but({ containers: containers.slice(0, 1) }),
      ),
    ).to.equal('unreachable');
    expect(stateOf(member(1).unreachable().but({ containers: [] }))).to.equal('running');
  });
  it('may have an init container that runs on as a sidecar, and is ready', () => {
    const sidecar = member(1).initContainer('proxy', { state: 'running', reason: null, ready: true });
    expect(stateOf(sidecar.unreachable())).to.equal('unreachable');
  });
  it('may have init containers that are behind it, ready or not', () => {
    const behind = member(1).initContainer('moco-init', { ready: false, reason: 'Completed' });
    expect(stateOf(behind.unreachable())).to.equal('unreachable');
  });
  it('has been running: one that has not begun is simply not ready', () => {
    expect(stateOf(member(1).unreachable().but({ phase: 'Pending' }))).to.equal('participating');
  });
  it('does not participate, nor does one that is terminating', () => {
    expect(isParticipating(factsOf(member(1)), false)).to.equal(true);
    expect(isParticipating(factsOf(member(1).unreachable()), false)).to.equal(false);
    expect(isParticipating(factsOf(member(1).terminating()), false)).to.equal(false);
  });
  it('counts as evidence neither for nor against its revision, whatever an init container did', () => {
    const before = { ready: false, readySinceRestart: false, restarts: 2, reason: 'Completed' } as const;
    const { hold } = decideCase({
      given: stale().members(member(2).updated().unreachable().initContainer('moco-init', before)),
    });
    expect(hold?.rule).to.equal('UpdatedMemberNotParticipating');
  });
});

describe('a container', () => {
  it('that was terminated does not wait, whatever its reason', () => {
    const ended = { state: 'terminated', reason: 'CrashLoopBackOff' } as const;
    expect(stateOf(member(1).creating(1).initContainer('moco-init', ended))).to.equal('running');
  });
  it('that is ready does not crash, whatever was before', () => {
    expect(crashLoop(factsOf(member(1).container('mysqld', { restarts: 5, readySinceRestart: false })))).to.equal(null);
  });
  it('that was terminated acknowledges nothing, though it had started', () => {
    const gone = member(1).container('mysqld', { ready: false, state: 'terminated', reason: 'Error', started: true });
    expect(canAcknowledge(factsOf(gone), stateOf(gone), false, false, false)).to.equal(false);
  });
});

describe('the size of a cluster', () => {
  it('is at most 1000, and whole', () => {
    const sizes = [0, 0.5, 1, 1000, 1001, -1, Number.NaN];
    expect(sizes.filter(isPossibleSize)).to.deep.equal([1, 1000]);
  });
  it('that is not a number has no missing members', () => {
    const none = { ...cluster(1).facts(), members: [] };
    const given = { ...none, cluster: { ...none.cluster, replicas: Number.NaN } };
    expect(decideCase({ given }).members).to.deep.equal([]);
  });
  play({
    'an ordinal is whole': when(
      stale().members(member(2).but({ ordinal: 0.5 })),
      holds({ rule: 'SnapshotInconsistent', problem: 'a pod has the ordinal 0.5' }),
    ),
  });
});

describe('members that do not participate', () => {
  play({
    'no member is taken when all due members are unreachable and none participates': when(
      three(
        member(0).updated().lagging(),
        member(1).stale().unreachable(),
        member(2).stale().unreachable(),
      ).primaryUnavailableFor(180),
      holds({ rule: 'FailoverUnfinished', primary: 0, member: 2, graceSeconds: 180, said: null }),
    ),
    'the primary is not taken for a replica when too few others participate': when(
      three(member(0).stale().lagging(), member(2).updated().lagging()).primaryUnavailableFor(180),
      holds({ rule: 'AwaitingFailover', primary: 0, replica: null, graceSeconds: 180 }),
    ),
    'one that acknowledges nothing goes whatever the others do': when(
      stale().members(member(1).errant(), member(2).errant()),
      deletes('MemberNotParticipating', 2),
    ),
    'one that acknowledges stays while the primary itself does not': when(
      stale(5).members(member(0).impaired('agent'), member(4).lagging()),
      holds({ rule: 'NotEnoughAcknowledging', member: 4, others: 3, needed: 3 }),
    ),
    'the grace of a single one starts when its time is unknown': when(
      stale(1).members(member(0).lagging()).mysqlCluster({ primaryUnavailableForSeconds: null }),
      holds({ rule: 'AwaitingRecovery', member: 0, graceSeconds: 180 }),
      {},
      180,
    ),
    'the grace of a new primary starts when its time is unknown': when(
      stale().mysqlCluster({ available: false, primarySettledForSeconds: null }),
      holds({ rule: 'RolesNotSettled', members: [0], unavailable: true }),
      {},
      180,
    ),
    'of the impaired the primary is the last, wherever it is': when(
      stale().primaryAt(2).members(member(2).impaired('slow-log'), member(1).impaired('slow-log')),
      deletes('MemberImpaired', 1),
    ),
  });
});

describe('a revision that fails', () => {
  const crashing = { kind: 'crashLooping', container: 'mysqld', restarts: 3 } as const;
  const failing = (members: readonly MemberBuilder[]) =>
    stale(5)
      .members(member(4).updated().crashLooping(), ...members)
      .memory({ sinceProgressSeconds: 600 });
  const down = member(3).down('ErrImagePull');
  play({
    'goes to no member while a bare majority participates, however long': when(
      failing([down]),
      holds({ rule: 'UpdateRevisionFailing', member: 4, evidence: crashing }),
    ),
    'goes to no member while exactly a majority does': when(
      failing([down]).members(member(2)),
      holds({ rule: 'UpdateRevisionFailing', member: 4, evidence: crashing }),
    ),
    'goes to members that are down once no majority does': when(
      failing([down, member(2).lagging()]),
      deletes('MemberDown', 3),
    ),
    'is one whose database serves while its agent crashes': when(
      stale().members(member(2).updated().impaired('agent').participatingFor(1)),
      holds({
        rule: 'UpdateRevisionFailing',
        member: 2,
        evidence: { kind: 'crashLooping', container: 'agent', restarts: 4 },
      }),
    ),
  });
});
