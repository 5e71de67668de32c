import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import type { MemberReport } from '../../src/core/decision.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { type Phase, phase } from '../../src/core/reports.ts';
import { appeared, type ClusterBuilder, cluster, three } from './cluster-builder.ts';
import { member, revisionAfter, revisionBefore } from './member-builder.ts';
import { type Case, decideCase } from './table.ts';

const stale = () => cluster(3).templateChanged();
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
    'and after those that may go once something no longer holds': [
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
    'nobody is next when nothing is due': [cluster(3), ['Updated', 'Updated', 'Updated']],
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
    const five = cluster(7)
      .templateChanged()
      .members(
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

  it('puts an impaired primary after impaired replicas and before healthy ones', () => {
    const given = stale().members(member(0).impaired('slow-log'), member(1).impaired('slow-log'));
    expect(verdicts(given, { paused: true })).to.deep.equal(['Waiting Paused', 'Next Paused', 'Waiting Paused']);
    given.members(member(1));
    expect(verdicts(given, { paused: true })).to.deep.equal(['Next Paused', 'Waiting Paused', 'Waiting Paused']);
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
      comesBack: null,
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
      comesBack: null,
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

describe('the decision as a whole', () => {
  const decisionOf = (given: ClusterBuilder, settings: Case['settings'] = {}) => decideCase({ given, settings });

  it('counts the stale members, terminating ones included', () => {
    expect(decisionOf(stale().members(member(1).updated(), member(2).terminating())).stale).to.equal(2);
    expect(decisionOf(cluster(3)).stale).to.equal(0);
  });

  it('shows whether the update revision is verified', () => {
    expect(decisionOf(stale()).verified).to.equal(false);
    expect(decisionOf(stale().memory({ verified: true })).verified).to.equal(true);
    expect(decisionOf(stale().members(member(2).updated().participatingFor(4))).verified).to.equal(false);
    expect(decisionOf(stale().members(member(2).updated().participatingFor(5))).verified).to.equal(true);
  });

  const incomplete: Readonly<Record<string, ClusterBuilder>> = {
    'a member is stale': three(member(1).stale()),
    'a member is missing': cluster(3).missing(2),
    'a member does not participate': three(member(2).lagging()),
    'a member is impaired': three(member(2).impaired('slow-log')),
    'an updated member is new': three(member(2).updated().participatingFor(4)),
    'a container of an updated member has not restarted': three(member(0).restartsInPlace('agent')),
    'a container of an updated member has just restarted': three(member(0).restartedInPlace('agent', 4)),
    'a member leaves': three(member(2).terminating()),
    'there is no StatefulSet': cluster(3).statefulSet(null),
    'the StatefulSet is being deleted': cluster(3).statefulSet({ deleting: true }),
    'the StatefulSet has not been observed': cluster(3).statefulSet({ observed: false }),
    'MOCO has not applied the newest generation': cluster(3).mysqlCluster({ generation: 3 }),
    'the cluster is being scaled': cluster(3).statefulSet({ replicas: 5 }),
    'the facts cannot be': cluster(0),
  };
  it('is complete when all is done', () => expect(decisionOf(cluster(3)).complete).to.equal(true));
  it('is complete while paused or waiting for nothing but its own last write', () => {
    expect(decisionOf(cluster(3), { paused: true }).complete).to.equal(true);
    expect(decisionOf(cluster(3).ownWritePending('promote')).complete).to.equal(true);
  });
  for (const [sentence, given] of Object.entries(incomplete)) {
    it(`is not complete while ${sentence}`, () => expect(decisionOf(given).complete).to.equal(false));
  }
});

describe('the phase', () => {
  const phases: Readonly<Record<Phase, readonly (readonly [ClusterBuilder, Partial<typeof defaultPolicy>?])[]>> = {
    UpToDate: [[cluster(3)], [cluster(3), { paused: true }]],
    Progressing: [[stale()], [stale().members(member(2).terminating())]],
    Waiting: [[stale().queued(2, 1)], [stale().backupJobs({})]],
    Blocked: [[stale().settingsProblem('x')], [stale().unhealthy().memory({ sinceProgressSeconds: 10_000 })]],
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
