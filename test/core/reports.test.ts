import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { MemberReport } from '../../src/core/decision.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { type Phase, phase } from '../../src/core/reports.ts';
import { appeared, type ClusterBuilder, cluster, stale, three } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { type Case, decideCase } from './table.ts';

const reportsOf = (given: ClusterBuilder, settings: Case['settings'] = {}): readonly MemberReport[] =>
  decideCase({ given, settings }).members;
const verdicts = (given: ClusterBuilder, settings: Case['settings'] = {}): readonly string[] =>
  reportsOf(given, settings).map(({ verdict, rule }) => (rule === null ? verdict : `${verdict} ${rule}`));

describe('the verdict of each member', () => {
  const lines: Readonly<Record<string, readonly [ClusterBuilder, readonly string[], Case['settings']?]>> = {
    'the target of a step is next': [stale(), ['Waiting', 'Waiting', 'Next']],
    'all targets are': [
      stale().members(member(0).down('ErrImagePull'), member(2).down('ErrImagePull')),
      ['Next', 'Waiting', 'Next'],
    ],
    'the one asked to hand over is': [three(member(0).stale()), ['Next', 'Updated', 'Updated']],
    'while something holds, the first in turn is next, under its rule': [
      stale().unhealthy(),
      ['Waiting ClusterNotHealthy', 'Waiting ClusterNotHealthy', 'Next ClusterNotHealthy'],
    ],
    'one that MOCO protects is next only after those that may go': [
      stale().members(member(2).preventDelete()),
      ['Waiting', 'Next', 'Waiting'],
    ],
    'and after those that may be replaced once something no longer holds': [
      stale().members(member(2).preventDelete()).unhealthy(),
      ['Waiting ClusterNotHealthy', 'Next ClusterNotHealthy', 'Waiting ClusterNotHealthy'],
    ],
    'an updated one starts until it has settled': [
      stale().members(member(2).updated().participatingFor(1)),
      ['Waiting UpdatedMemberNotParticipating', 'Next UpdatedMemberNotParticipating', 'Starting'],
    ],
    'the partition keeps back': [
      three(member(0).stale(), member(1).stale()),
      ['BelowPartition PartitionReached', 'BelowPartition PartitionReached', 'Updated'],
      { partition: 2 },
    ],
    'a missing one is missing, without a rule of its own': [
      stale().missing(1),
      ['Waiting MemberMissing', 'Missing', 'Next MemberMissing'],
    ],
    'a terminating one is terminating, stale or not': [
      stale().members(member(1).updated().terminating(), member(2).terminating()),
      ['Next MemberTerminating', 'Terminating', 'Terminating'],
    ],
    'the primary that awaits its switchover is next': [
      three(member(0).stale().demotedByUs()),
      ['Next AwaitingSwitchover', 'Updated', 'Updated'],
    ],
    'no member is next when nothing is due': [cluster(3), ['Updated', 'Updated', 'Updated']],
    'the one whose demotion is taken back is not next for that': [
      three(member(0).stale().demotedByUs(), member(1).stale()),
      ['Waiting', 'Next', 'Updated'],
    ],
    'those that fail at the new revision start, and the others wait for it': [
      stale().members(member(2).updated().down('ErrImagePull')),
      ['Waiting UpdateRevisionFailing', 'Next UpdateRevisionFailing', 'Starting'],
    ],
  };
  for (const [sentence, [given, expected, settings]] of Object.entries(lines)) {
    it(sentence, () => expect(verdicts(given, settings)).to.deep.equal(expected));
  }

  it('is Next in the order of the procedure', () => {
    const five = stale(7).members(
      member(1).down('ErrImagePull'),
      member(2).unreachable(),
      member(3).lagging(),
      member(4).impaired('slow-log'),
      member(6).terminating(),
    );
    const order: number[] = [];
    for (let gone = 0; gone < 6; gone++) {
      const next = reportsOf(five, { paused: true }).find(({ verdict }) => verdict === 'Next');
      if (!next) break;
      order.push(next.ordinal);
      five.members(member(next.ordinal).updated());
    }
    // One whose node is lost waits for the others that do not participate.
    expect(order).to.deep.equal([1, 3, 2, 4, 5, 0]);
  });
});

describe('the report of each member', () => {
  it('names the member, its action and the reason', () => {
    const [first, second, third] = reportsOf(
      cluster(3).primaryAt(1).members(member(0).stale().crashLooping(), member(2).updated()),
    );
    expect(first).to.deep.equal({
      ordinal: 0,
      name: 'moco-test-0',
      role: 'replica',
      revision: revisionBefore,
      updated: false,
      ready: false,
      participating: false,
      state: 'running',
      evidence: { kind: 'crashLooping', container: 'mysqld', restarts: 3 },
      verdict: 'Next',
      recreated: null,
      rule: null,
    });
    expect(second).to.deep.include({ role: 'primary', revision: revisionAfter, updated: true, ready: true });
    expect(third).to.deep.include({ state: 'participating', participating: true, evidence: null, verdict: 'Updated' });
  });

  it('has a line for a pod that does not exist, primary or not', () => {
    const [first, second] = reportsOf(stale().missing(0, 1));
    expect(first).to.deep.equal({
      ordinal: 0,
      name: null,
      role: 'primary',
      revision: null,
      updated: false,
      ready: false,
      participating: false,
      state: 'missing',
      evidence: null,
      verdict: 'Missing',
      recreated: null,
      rule: null,
    });
    expect(second).to.deep.include({ role: 'replica', state: 'missing' });
  });

  it('is in the order of the ordinals', () => {
    const ordinals = reportsOf(cluster(5).missing(0, 3)).map(({ ordinal }) => ordinal);
    expect(ordinals).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('accepts contradictory facts', () => {
    const absurd = reportsOf(cluster(3).mysqlCluster({ replicas: Number.POSITIVE_INFINITY }));
    expect(absurd.map(({ ordinal }) => ordinal)).to.deep.equal([0, 1, 2]);
  });
});

describe('the phase', () => {
  const phases: Readonly<Record<Phase, readonly (readonly [ClusterBuilder, Partial<typeof defaultPolicy>?])[]>> = {
    UpToDate: [[cluster(3)], [cluster(3), { paused: true }]],
    Progressing: [[stale()], [stale().members(member(2).terminating())], [three(member(0).stale()).unhealthy()]],
    Waiting: [[stale().queued(2, 1)], [stale().backupJobs({})]],
    Blocked: [[stale().but({ settingsProblem: 'x' })], [stale().unhealthy().memory({ sinceProgressSeconds: 10_000 })]],
    Settling: [[three(member(2).lagging())]],
    Paused: [[stale(), { paused: true }]],
    AwaitingApproval: [[three(member(0).stale()), { primaryUpdatePolicy: 'Manual' }]],
    PartitionReached: [[stale(), { partition: 3 }]],
    Failing: [
      [stale().members(member(2).updated().crashLooping())],
      [three(member(0).stale()).memory({ switchoverTries: 4 })],
      [stale().memory({ recentRevisions: appeared(1, 2, 3, 4) })],
      [stale().atPartition(3).members(member(0).stale().down('ErrImagePull')), { mode: 'Partition' }],
      [stale().stepFailed({})],
    ],
    Off: [[stale().released().atPartition(3)], [stale().mysqlCluster({ forcedRollingUpdate: true })]],
  };
  for (const [expected, cases] of Object.entries(phases)) {
    it(`is ${expected}`, () => {
      for (const [given, settings] of cases) {
        expect(phase(decide(given.facts(), { ...defaultPolicy, ...settings }))).to.equal(expected);
      }
    });
  }
});

describe('the next member', () => {
  const first = (given: Case['given']) =>
    decideCase({ given }).members.find(({ verdict }) => verdict === 'Next')?.ordinal;
  it('has the reason why it does not work before earlier restarts', () => {
    const [, one] = decideCase({ given: stale().members(member(1).down('ErrImagePull', 3)) }).members;
    expect(one?.evidence).to.deep.equal({ kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 3 });
  });
  it('has the next member while a hold blocks, in the order of the procedure', () => {
    const held = () => stale().but({ ownWritePending: 'evict' });
    expect(first(held())).to.equal(2);
    expect(first(held().members(member(1).lagging()))).to.equal(1);
    expect(first(held().members(member(1).impaired('slow-log')))).to.equal(1);
    expect(first(held().members(member(0).impaired('slow-log')))).to.equal(0);
    expect(first(held().members(member(0).impaired('slow-log'), member(1).impaired('slow-log')))).to.equal(1);
    expect(first(held().primaryAt(2))).to.equal(1);
    expect(first(held().primaryAt(2).members(member(2).lagging()))).to.equal(2);
    expect(first(held().primaryAt(2).members(member(2).impaired('slow-log'), member(1).lagging()))).to.equal(1);
    expect(first(held().primaryAt(2).members(member(2).impaired('slow-log'), member(0).impaired('slow-log')))).to.equal(
      0,
    );
    expect(first(held().members(member(0).unreachable(), member(1).lagging()))).to.equal(1);
    expect(first(held().members(member(0).down('ErrImagePull'), member(1).unreachable()))).to.equal(0);
  });
});
