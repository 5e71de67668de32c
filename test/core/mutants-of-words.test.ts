import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import { firstHold } from '../../src/core/gates.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { phase } from '../../src/core/reports.ts';
import type { HoldRule } from '../../src/core/rules/catalogue.ts';
import { survey } from '../../src/core/situation.ts';
import { cluster, fleetFailing, fleetHolds, three } from './cluster-builder.ts';
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

/** Waits that somebody has asked for. */
const requestedByUser: Readonly<Partial<Record<HoldRule, Omit<Case, 'decides'>>>> = {
  Released: { given: stale().released().atPartition(3) },
  ReconciliationStopped: { given: stale().mysqlCluster({ reconciliationStopped: true }) },
  ClusteringStopped: { given: stale().mysqlCluster({ clusteringStopped: true }) },
  Offline: { given: stale().mysqlCluster({ offline: true }) },
  ForcedRollingUpdate: { given: stale().mysqlCluster({ forcedRollingUpdate: true }) },
  Paused: { given: stale(), settings: { paused: true } },
  StageFailing: { given: stale().waitingForOthers(fleetHolds.StageFailing) },
  AwaitingEarlierStage: { given: stale().waitingForOthers(fleetHolds.AwaitingEarlierStage) },
  AwaitingSoak: { given: stale().waitingForOthers(fleetHolds.AwaitingSoak) },
  AwaitingSettle: { given: stale().waitingForOthers(fleetHolds.AwaitingSettle) },
  AwaitingStageSlot: { given: stale().waitingForOthers(fleetHolds.AwaitingStageSlot) },
  FleetFailing: { given: stale().waitingForOthers(fleetFailing) },
  AwaitingFleetSlot: { given: stale().queued(1, 1) },
  AwaitingFleetInterval: { given: stale().interval(60, 30) },
  OutsideMaintenanceWindow: { given: stale().maintenance([[60, 600]]) },
  Blackout: { given: stale().maintenance(null, [-60, 60]) },
  AwaitingApproval: { given: lastOne(), settings: { primaryUpdatePolicy: 'Manual' } },
  PrimaryWaitsForPinned: { given: lastOne().members(member(1).stale()), settings: { pinnedOrdinals: [1] } },
  PartitionReached: { given: stale(), settings: { partition: 3 } },
  ClusterDeleting: { given: stale().mysqlCluster({ deleting: true }) },
};
/** Waits that nobody has asked for. */
const inTheWay: Readonly<Partial<Record<HoldRule, Omit<Case, 'decides'>>>> = {
  BlockedByPDB: { given: stale().budgets({ disruptionsAllowed: 0 }) },
  ClusterNotHealthy: { given: stale().unhealthy() },
  MemberMissing: { given: stale().missing(1) },
  NotReconciled: { given: stale().mysqlCluster({ succeededGeneration: null }) },
  SwitchoverFailing: { given: lastOne().memory({ switchoverTries: 4 }) },
  ConfirmationTooSlow: { given: stale().stepFailed({ cause: 'tooSlow' }) },
  StepRefused: { given: stale().stepFailed({}) },
  UpdateRevisionFailing: { given: stale().members(member(2).updated().crashLooping()) },
};

describe('a rollout that has not moved for long', () => {
  const late = (one: Omit<Case, 'decides'>, seconds: number) =>
    'memory' in one.given && typeof one.given.memory === 'function'
      ? decideCase({ ...one, given: one.given.memory({ sinceProgressSeconds: seconds }) })
      : decideCase(one);
  for (const [rule, one] of Object.entries(requestedByUser)) {
    it(`is not late when it waits for ${rule}`, () => {
      const { hold, progressDeadlineExceeded } = late(one, 9999);
      expect([hold?.rule, progressDeadlineExceeded]).to.deep.equal([rule, false]);
    });
  }
  for (const [rule, one] of Object.entries(inTheWay)) {
    it(`is late when it waits for ${rule}`, () => {
      const { hold, progressDeadlineExceeded } = late(one, 600);
      expect([hold?.rule, progressDeadlineExceeded]).to.deep.equal([rule, true]);
    });
  }
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

describe('the hold for a strategy that is not OnDelete', () => {
  it('says whether the StatefulSet has the label', () => {
    const holdOf = (labelled: boolean) => {
      const facts = stale().statefulSet({ strategy: 'RollingUpdate', labelled }).facts();
      return firstHold(survey(facts, defaultPolicy), { kind: 'none' }, [{ kind: 'acts', member: null }]);
    };
    expect(holdOf(true)).to.deep.equal({ rule: 'StrategyNotOnDelete', labelled: true });
    expect(holdOf(false)).to.deep.equal({ rule: 'StrategyNotOnDelete', labelled: false });
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
