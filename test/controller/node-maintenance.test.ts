import { expect } from 'chai';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import { pods } from '../../src/kube/resource.ts';
import { Bench, member, type Process } from './bench.ts';
import { revisionBefore } from './moco-objects.ts';
import { heldByMoco } from './object-server.ts';
import { switchOver } from './whole-rollout.ts';

/** Each member on a node of its own, and one more node. */
function spread(stale: boolean): Bench {
  const bench = new Bench({ stale });
  bench.spread();
  return bench;
}
async function started(stale: boolean, settings: Partial<RolloutPolicy>): Promise<readonly [Bench, Process]> {
  const bench = spread(stale);
  return [bench, await bench.started(settings)];
}

describe('members on a node that is being taken out of service', () => {
  it('are evicted, and the status says which node it is', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Evacuate' });
    bench.cordon(2);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.nodeMaintenance).to.deep.equal({ setting: 'Evacuate' });
    expect(bench.status.lastStep).to.include({ step: 'evict', rule: 'NodeLeaving' });
    expect(bench.status, 'it belongs to no rollout').to.not.have.property('rollout');
    const evicted = program.events.find(({ action }) => action === 'NodeLeaving');
    expect(evicted).to.include({
      reason: 'Evicted',
      note: 'evicting moco-test-2: its node is being taken out of service (node n-2 is cordoned)',
    });
  });

  it('are named in the status while they have to stay', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Evacuate', paused: true });
    bench.cordon(2);
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.members?.[2]?.leaving).to.equal('node n-2 is cordoned');
  });

  it('stay if the node was uncordoned right before the eviction', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Evacuate' });
    bench.cordon(2);
    program.sync();
    bench.cordon(2, false);
    await program.pass();
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
  });

  it('go once the primary is moved, and the mark of the demotion goes with MOCO’s annotation', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Evacuate' });
    bench.cordon(0);
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0']);
    expect(bench.server.find(pods, member(0))?.metadata.annotations).to.include({
      'moco.cybozu.com/demote': 'true',
      'moco-rollout.io/demoted-for': 'node-leaving',
    });
    switchOver(bench, 0, 1);
    await program.workAfter(5000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'evict 0']);
  });

  it('stay primary if the node is uncordoned before MOCO moves it', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Switchover' });
    bench.cordon(0);
    await program.work();
    bench.cordon(0, false);
    await program.reportAll();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.lastStep).to.include({ step: 'undemote', rule: 'NodeStays' });
    expect(bench.status.nodeMaintenance).to.deep.equal({ setting: 'Switchover' });
  });

  it('are tried again only after a while if MOCO does not move the primary, even by the next process', async () => {
    const [bench, program] = await started(false, { nodeMaintenance: 'Switchover' });
    bench.cordon(0);
    await program.work();
    await program.workAfter(90_000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.nodeMaintenance?.tries?.count).to.equal(1);
    expect(bench.status.hold?.rule).to.equal('SwitchoverFailing');
    const next = await bench.started({ nodeMaintenance: 'Switchover' });
    await next.workAfter(60_000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    await next.workAfter(240_000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'demote 0']);
    bench.cordon(0, false);
    await next.work();
    expect(bench.status.nodeMaintenance, 'the node stays').to.deep.equal({ setting: 'Switchover' });
  });
});

describe('members on a node that is being taken out of service, in a rollout', () => {
  const never = { maintenanceWindows: [{ schedule: '0 1 1 1 *', duration: '1h' }] };

  it('keep their revision outside of the maintenance windows, and still wait for their update', async () => {
    const bench = spread(true);
    bench.server.admit = heldByMoco;
    bench.setting(never);
    const program = await bench.started({ nodeMaintenance: 'Evacuate' });
    bench.cordon(2);
    await program.work();
    expect(bench.steps.filter((step) => step !== 'setStrategy')).to.deep.equal(['keepRevisions', 'evict 2']);
    expect(bench.status.rollout).to.deep.include({ waiting: [0, 1, 2], disruptions: 0 });
    bench.replace(2, { revision: revisionBefore, node: 'n-3' });
    await program.workAfter(60_000);
    expect(bench.steps.filter((step) => step.startsWith('evict'))).to.deep.equal(['evict 2']);
    expect(bench.status.rollout).to.deep.include({ waiting: [0, 1, 2], disruptions: 0 });
    expect(bench.status.hold?.rule).to.equal('OutsideMaintenanceWindow');
  });

  it('are the only ones that are updated while the rollout waits for the nodes', async () => {
    const [bench, program] = await started(true, { rolloutsDuringMaintenance: 'Wait' });
    expect(bench.status.hold?.rule, 'for ten minutes after the start').to.equal('AwaitingNodeMaintenance');
    await program.workAfter(590_000);
    bench.cordon(1);
    await program.work();
    expect(bench.steps.filter((step) => step.startsWith('evict'))).to.deep.equal(['evict 1']);
    bench.replace(1, { node: 'n-3' });
    await program.workAfter(60_000);
    expect(bench.status.hold?.rule).to.equal('AwaitingNodeMaintenance');
    expect(bench.steps.filter((step) => step.startsWith('evict'))).to.deep.equal(['evict 1']);
    await program.workAfter(600_000);
    expect(bench.steps.filter((step) => step.startsWith('evict'))).to.deep.equal(['evict 1', 'evict 2']);
  });
});
