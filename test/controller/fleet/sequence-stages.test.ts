import { expect } from 'chai';
import type { SequenceSpec } from '../../../src/api/rollout-sequence.ts';
import type { HoldRule } from '../../../src/core/decision.ts';
import type { FleetHold } from '../../../src/core/fleet/waits.ts';
import { StagedFleet } from '../../verification/fleet/staged-fleet.ts';

const tier = (name: string) => ({ matchLabels: { tier: name } });
const production: SequenceSpec = {
  selector: { matchLabels: { env: 'production' } },
  settleDuration: '5m',
  stages: [
    { name: 'canary', selector: tier('canary'), soakDuration: '1h' },
    { name: 'most', selector: tier('most'), maxConcurrent: '25%', maxFailures: 1 },
    { name: 'rest', maxConcurrent: 2 },
  ],
};

/** Two canaries, nine clusters in the middle, three others. */
function fleetOf(spec: SequenceSpec = production): StagedFleet {
  const fleet = new StagedFleet();
  fleet.sequence('production', spec);
  const names: readonly (readonly [string, number])[] = [
    ['canary', 2],
    ['most', 9],
    ['rest', 3],
  ];
  for (const [name, count] of names) {
    for (let index = 1; index <= count; index += 1) {
      fleet.add(`db/${name}-${index}`, { env: 'production', ...(name !== 'rest' && { tier: name }) });
    }
  }
  return fleet;
}

const cluster = (fleet: StagedFleet, name: string) => {
  const found = fleet.clusters.get(`db/${name}`);
  if (found === undefined) throw new Error(`Expected a cluster ${name}, got none`);
  return found;
};

function change(fleet: StagedFleet, revision: string, ...names: readonly string[]): void {
  for (const one of fleet.clusters.values()) {
    if (names.length > 0 && !names.includes(one.key.slice('db/'.length))) continue;
    one.revision = revision;
    fleet.changed(one);
    fleet.pass(one);
  }
}

function complete(fleet: StagedFleet, ...names: readonly string[]): void {
  for (const name of names) {
    const one = cluster(fleet, name);
    fleet.begin(one);
    fleet.end(one, 'complete');
  }
}

const holdOf = (fleet: StagedFleet, name: string): FleetHold | undefined =>
  fleet.waits(cluster(fleet, name)).find(({ remainingSeconds }) => remainingSeconds !== 0)?.hold;
const ruleOf = (fleet: StagedFleet, name: string): string | undefined => holdOf(fleet, name)?.rule;

describe('the stages of a fleet', () => {
  it('watch the clusters of a stage while a later one has clusters that have not begun', () => {
    const fleet = fleetOf();
    const watched = (name: string): boolean => fleet.laterStageWaits(cluster(fleet, name));
    expect(watched('canary-1')).to.equal(false);
    change(fleet, '1', 'canary-1', 'canary-2');
    complete(fleet, 'canary-1', 'canary-2');
    expect(watched('canary-1')).to.equal(false);
    fleet.awake.clear();
    change(fleet, '1', 'most-1');
    expect([...fleet.awake]).to.include.members(['db/canary-1', 'db/canary-2']);
    expect([watched('canary-1'), watched('most-2'), watched('rest-1')]).to.deep.equal([true, false, false]);
    fleet.begin(cluster(fleet, 'most-1'));
    expect(watched('canary-1')).to.equal(false);
  });

  it('restart the settling time if a change replaces one for which a cluster has waited, also before its status shows that', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'canary-1')).to.equal(undefined);
    cluster(fleet, 'canary-1').revision = '2';
    fleet.changed(cluster(fleet, 'canary-1'));
    expect(ruleOf(fleet, 'canary-1')).to.equal('AwaitingSettle');
  });

  it('let as many clusters of a stage roll as it allows, those that have waited longest first', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    expect(holdOf(fleet, 'canary-2')).to.include({ rule: 'AwaitingStageSlot', stage: 'canary', limit: 1, place: 1 });
    fleet.begin(cluster(fleet, 'canary-1'));
    expect(holdOf(fleet, 'canary-2')).to.include({ rule: 'AwaitingStageSlot', limit: 1, place: 1 });
    fleet.awake.clear();
    fleet.end(cluster(fleet, 'canary-1'), 'complete');
    expect(ruleOf(fleet, 'canary-2')).to.equal(undefined);
    expect([...fleet.awake]).to.include('db/canary-2');
  });

  it('count a cluster whose nodes are asked, which waits for no other cluster, and one whose nodes refuse as failing', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    const [one, other] = [cluster(fleet, 'canary-1'), cluster(fleet, 'canary-2')];
    const held = (rule: HoldRule): void => {
      one.status = { ...one.status, hold: { rule, message: '', since: fleet.now } };
      fleet.changed(one);
    };
    held('PreflightRunning');
    expect([ruleOf(fleet, 'canary-1'), ruleOf(fleet, 'canary-2')]).to.deep.equal([undefined, 'AwaitingStageSlot']);
    held('ImageUnavailable');
    expect([ruleOf(fleet, 'canary-1'), fleet.waits(other)[0]?.hold.rule]).to.deep.equal([undefined, 'StageFailing']);
  });

  it('wait for every cluster of an earlier stage, then for its soak', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    complete(fleet, 'canary-1');
    const earlier = { stage: 'canary', clusters: 2, unfinished: 1, cluster: 'db/canary-2' };
    expect(holdOf(fleet, 'most-1')).to.include({ rule: 'AwaitingEarlierStage', sequence: 'production', ...earlier });
    fleet.wait(60);
    complete(fleet, 'canary-2');
    expect(holdOf(fleet, 'most-1')).to.include({ rule: 'AwaitingSoak', stage: 'canary', cluster: 'db/canary-2' });
    fleet.wait(3599);
    expect(ruleOf(fleet, 'most-1')).to.equal('AwaitingSoak');
    fleet.wait(1);
    expect(ruleOf(fleet, 'most-1')).to.equal(undefined);
    expect(ruleOf(fleet, 'rest-1')).to.equal('AwaitingEarlierStage');
  });

  it('wait for a cluster of an earlier stage that is not known yet, and for one whose change is not seen yet', () => {
    const fleet = fleetOf();
    change(fleet, '1', 'most-1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'most-1')).to.equal(undefined);
    cluster(fleet, 'canary-1').revision = '1';
    fleet.changed(cluster(fleet, 'canary-1'));
    expect(holdOf(fleet, 'most-1')).to.include({ rule: 'AwaitingEarlierStage', cluster: 'db/canary-1' });
    cluster(fleet, 'canary-1').revision = '0';
    fleet.changed(cluster(fleet, 'canary-1'));
    expect(ruleOf(fleet, 'most-1')).to.equal(undefined);
    const added = fleet.add('db/canary-3', { env: 'production', tier: 'canary' });
    added.status = {};
    fleet.changed(added);
    expect(holdOf(fleet, 'most-1')).to.include({ rule: 'AwaitingEarlierStage', cluster: 'db/canary-3' });
  });

  it('wait for a person once the last cluster of an earlier stage has gone in the middle of a change', () => {
    const fleet = fleetOf();
    change(fleet, '1', 'canary-1', 'canary-2', 'most-1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'most-1')).to.equal('AwaitingEarlierStage');
    cluster(fleet, 'canary-1').offline = true;
    fleet.changed(cluster(fleet, 'canary-1'));
    expect(ruleOf(fleet, 'most-1')).to.equal('AwaitingEarlierStage');
    fleet.awake.clear();
    fleet.remove('db/canary-2');
    const gone = { rule: 'StageMemberGone', stage: 'canary', cluster: 'db/canary-2', failing: false };
    expect(holdOf(fleet, 'most-1')).to.include(gone);
    expect([...fleet.awake]).to.deep.equal(['db/most-1']);
    fleet.changeLeader();
    expect(holdOf(fleet, 'most-1')).to.include(gone);
    fleet.add('db/canary-3', { env: 'production', tier: 'canary' });
    expect(ruleOf(fleet, 'most-1')).to.equal(undefined);
  });

  for (const [how, leave] of Object.entries<(fleet: StagedFleet) => void>({
    'is deleted': (fleet) => fleet.remove('db/canary-1'),
    'is taken offline': (fleet) => {
      cluster(fleet, 'canary-1').offline = true;
      fleet.changed(cluster(fleet, 'canary-1'));
    },
    'gets other labels': (fleet) => {
      cluster(fleet, 'canary-1').labels = {};
      fleet.changed(cluster(fleet, 'canary-1'));
    },
  })) {
    it(`wait for a person when a cluster that fails ${how}, until a change has reached every cluster`, () => {
      const fleet = fleetOf();
      change(fleet, '1', 'canary-1');
      fleet.wait(300);
      fleet.begin(cluster(fleet, 'canary-1'));
      fleet.end(cluster(fleet, 'canary-1'), 'failing');
      leave(fleet);
      fleet.changeLeader();
      change(fleet, '1', 'most-1');
      const gone = { rule: 'StageMemberGone', stage: 'canary', cluster: 'db/canary-1', failing: true };
      expect(holdOf(fleet, 'most-1')).to.include(gone);
      fleet.overridden.add('StageMemberGone');
      fleet.wait(300);
      fleet.pass(cluster(fleet, 'most-1'));
      fleet.begin(cluster(fleet, 'most-1'));
      complete(fleet, 'most-1');
      fleet.overridden.clear();
      change(fleet, '2', 'most-1');
      expect(ruleOf(fleet, 'most-1')).not.to.equal('StageMemberGone');
    });
  }

  it('do not wait for a cluster that has gone while no change was on its way', () => {
    const fleet = fleetOf();
    fleet.remove('db/canary-1');
    fleet.remove('db/canary-2');
    change(fleet, '1', 'most-1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'most-1')).to.equal(undefined);
  });

  it('stop every cluster that has not begun once more clusters fail than a stage allows, until they are corrected', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    complete(fleet, 'canary-1', 'canary-2');
    fleet.wait(3600);
    for (const name of ['most-1', 'most-2']) fleet.begin(cluster(fleet, name));
    fleet.end(cluster(fleet, 'most-1'), 'failing');
    expect(ruleOf(fleet, 'most-3')).to.equal('AwaitingStageSlot');
    fleet.end(cluster(fleet, 'most-2'), 'failing');
    const failing = { rule: 'StageFailing', stage: 'most', failing: 2, maxFailures: 1, cluster: 'db/most-1' };
    expect(holdOf(fleet, 'most-3')).to.include(failing);
    expect(holdOf(fleet, 'rest-1')).to.include(failing);
    change(fleet, '2', 'canary-1');
    expect(holdOf(fleet, 'canary-1')).to.include(failing);
    change(fleet, '2', 'most-1');
    expect(cluster(fleet, 'most-1').status.rollout?.begunAt).to.equal(fleet.now);
    expect(ruleOf(fleet, 'canary-1')).to.equal('AwaitingSettle');
  });

  it('let a rollout continue that has begun, but not the one that replaces it', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    fleet.begin(cluster(fleet, 'most-1'));
    expect(fleet.waits(cluster(fleet, 'most-1'))).to.deep.equal([]);
    cluster(fleet, 'most-1').revision = '2';
    expect(ruleOf(fleet, 'most-1')).to.equal('AwaitingEarlierStage');
  });

  it('hold a cluster that two sequences select, and both of these wait for it', () => {
    const fleet = fleetOf();
    fleet.sequence('all', {
      settleDuration: 0,
      stages: [{ name: 'first', selector: tier('canary') }, { name: 'second' }],
    });
    fleet.add('db/else', {});
    change(fleet, '1');
    fleet.wait(300);
    expect(holdOf(fleet, 'canary-1')).to.deep.equal({ rule: 'SequenceConflict', sequences: ['all', 'production'] });
    expect(ruleOf(fleet, 'else')).to.equal('AwaitingEarlierStage');
    fleet.awake.clear();
    fleet.sequence('all', null);
    expect([...fleet.awake]).to.include('db/canary-1');
    expect(ruleOf(fleet, 'canary-1')).to.equal('SequenceGone');
    fleet.wait(30);
    expect(ruleOf(fleet, 'canary-1')).to.equal(undefined);
    expect(ruleOf(fleet, 'else')).to.equal(undefined);
  });

  it('wait for half a minute when their sequence is deleted, and for it when it is created again', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    fleet.sequence('production', null);
    expect(ruleOf(fleet, 'rest-1')).to.equal('SequenceGone');
    fleet.wait(1);
    fleet.sequence('production', production);
    expect(ruleOf(fleet, 'rest-1')).to.equal('AwaitingEarlierStage');
    fleet.sequence('production', null);
    fleet.wait(30);
    expect(ruleOf(fleet, 'rest-1')).to.equal(undefined);
  });

  it('wait for half a minute although their sequence was deleted before the process started, as their status shows', () => {
    const fleet = fleetOf();
    change(fleet, '1');
    fleet.wait(300);
    const rest = cluster(fleet, 'rest-1');
    fleet.pass(rest);
    expect(rest.status.hold?.rule).to.equal('AwaitingEarlierStage');
    fleet.sequence('production', null);
    fleet.wait(1);
    fleet.changeLeader();
    expect(holdOf(fleet, 'rest-1')).to.include({ rule: 'SequenceGone', sequence: null });
    fleet.pass(rest);
    fleet.wait(29);
    expect(ruleOf(fleet, 'rest-1')).to.equal('SequenceGone');
    fleet.wait(1);
    expect(ruleOf(fleet, 'rest-1')).to.equal(undefined);
    fleet.sequence('production', production);
    fleet.pass(rest);
    fleet.sequence('production', null);
    fleet.changeLeader();
    fleet.sequence('production', production);
    expect(ruleOf(fleet, 'rest-1')).to.equal('AwaitingEarlierStage');
  });

  it('hold the clusters that an unreadable sequence may select, and no others', () => {
    const fleet = fleetOf({ ...production, stages: [{ name: 'canary', maxFailures: -1 }] });
    fleet.add('db/else', { env: 'test' });
    change(fleet, '1');
    fleet.wait(300);
    expect(holdOf(fleet, 'most-1')).to.deep.equal({
      rule: 'SequenceInvalid',
      sequence: 'production',
      problem: 'expected spec.stages[0].maxFailures to be a whole number from 0 to 10000, got -1',
    });
    expect(ruleOf(fleet, 'else')).to.equal(undefined);
  });

  it('put clusters without a stage last, one at a time, if the spec has no stage for them', () => {
    const fleet = fleetOf({ ...production, stages: production.stages.slice(0, 2) });
    change(fleet, '1', 'rest-1', 'rest-2', 'most-1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'rest-1')).to.equal('AwaitingEarlierStage');
    complete(fleet, 'most-1');
    expect([ruleOf(fleet, 'rest-1'), ruleOf(fleet, 'rest-2')]).to.deep.equal([undefined, 'AwaitingStageSlot']);
  });

  it('take a changed label and a changed sequence into account at once', () => {
    const fleet = fleetOf();
    change(fleet, '1', 'canary-1', 'most-1');
    fleet.wait(300);
    expect(ruleOf(fleet, 'most-1')).to.equal('AwaitingEarlierStage');
    fleet.awake.clear();
    cluster(fleet, 'canary-1').labels = { env: 'test' };
    fleet.changed(cluster(fleet, 'canary-1'));
    expect([ruleOf(fleet, 'most-1'), fleet.awake.has('db/most-1')]).to.deep.equal([undefined, true]);
    fleet.awake.clear();
    fleet.sequence('production', { ...production, settleDuration: '10m' });
    expect([ruleOf(fleet, 'most-1'), fleet.awake.has('db/most-1')]).to.deep.equal(['AwaitingSettle', true]);
  });
});
