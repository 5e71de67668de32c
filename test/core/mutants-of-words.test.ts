import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { phase } from '../../src/core/reports.ts';
import { cluster, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { type Case, decideCase } from './table.ts';

const stale = () => cluster(3).templateChanged();
const lastOne = () => three(member(0).stale());

// The defaults of the other settings stand in docs/reference.md, which a test compares with them.
describe('updates in place', () => {
  it('are off by default, and then have these settings', () => {
    expect(defaultPolicy.inPlaceUpdates).to.deep.equal({
      mode: 'Never',
      containers: ['agent', 'slow-log', 'mysqld-exporter'],
      resources: true,
      metadata: [
        'app.kubernetes.io/component',
        'app.kubernetes.io/managed-by',
        'app.kubernetes.io/part-of',
        'app.kubernetes.io/version',
        'helm.sh/chart',
        'cluster-autoscaler.kubernetes.io/safe-to-evict',
        'karpenter.sh/do-not-disrupt',
        'kubectl.kubernetes.io/default-container',
      ],
      primary: 'AfterSwitchover',
    });
  });
});

describe('a rollout that has not moved for long', () => {
  const late = (one: Omit<Case, 'decides'>, seconds: number) =>
    'memory' in one.given && typeof one.given.memory === 'function'
      ? decideCase({ ...one, given: one.given.memory({ sinceProgressSeconds: seconds }) })
      : decideCase(one);
  it('is late with a step to take, too, and not before its time', () => {
    expect(late({ given: stale() }, 600).progressDeadlineExceeded).to.equal(true);
    expect(late({ given: stale() }, 599).progressDeadlineExceeded).to.equal(false);
  });
  it('is not late when it is complete', () => {
    expect(late({ given: cluster(3) }, 9999).progressDeadlineExceeded).to.equal(false);
  });

  // A label says that a pod was made, not that it works.
  for (const [sentence, given] of Object.entries({
    'the last member finds no node': three(member(0).updated().unschedulable()),
    'three updated members crash-loop': three(...[0, 1, 2].map((ordinal) => member(ordinal).updated().crashLooping())),
    'a quota keeps the last member away': cluster(3).missing(0).createFailure('exceeded quota'),
    'an updated member lags': three(member(2).updated().lagging(9999)),
  })) {
    it(`is late although every pod has the new label: ${sentence}`, () => {
      const { hold, progressDeadlineExceeded } = late({ given }, 600);
      expect(hold).not.to.equal(null);
      expect(progressDeadlineExceeded).to.equal(true);
      expect(late({ given }, 599).progressDeadlineExceeded).to.equal(false);
    });
  }

  it('names the updated member that does not participate, however many may be unavailable', () => {
    const given = cluster(5).members(member(4).updated().lagging(9999), member(3).updated().lagging(9999));
    const { hold, progressDeadlineExceeded } = late({ given, settings: { maxUnavailable: 2 } }, 600);
    expect([hold?.rule, progressDeadlineExceeded]).to.deep.equal(['UpdatedMemberNotParticipating', true]);
  });
});

describe('the phase of a cluster with one stale member', () => {
  it('is Progressing, with a step or with a hold', () => {
    expect(phase(decide(lastOne().facts(), defaultPolicy))).to.equal('Progressing');
    expect(phase(decide(lastOne().unhealthy().facts(), defaultPolicy))).to.equal('Progressing');
  });
});

describe('the report on each member', () => {
  const first = (given: Case['given']) =>
    decideCase({ given }).members.find(({ verdict }) => verdict === 'Next')?.ordinal;
  it('has the reason why it does not work before earlier restarts', () => {
    const [, one] = decideCase({ given: stale().members(member(1).down('ErrImagePull', 3)) }).members;
    expect(one?.evidence).to.deep.equal({ kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 3 });
  });
  it('has the next member while a hold blocks, in the order of the procedure', () => {
    const held = () => stale().ownWritePending('evict');
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
