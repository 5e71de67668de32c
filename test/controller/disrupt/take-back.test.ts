import { expect } from 'chai';
import { Bench, type Process } from '../bench.ts';
import { switchOver } from '../whole-rollout.ts';

const third = 'moco-test-third';
const metric = 'moco_rollout_switchovers_total';

/** A rollout in which only the primary is left, and MOCO has just been asked to move it. */
async function demoted(): Promise<readonly [Bench, Process]> {
  const bench = new Bench();
  bench.replace(2);
  bench.replace(1);
  const program = await bench.started();
  expect(bench.steps).to.deep.equal(['demote 0']);
  return [bench, program];
}

describe('a switchover during which the template changes', () => {
  it('is cancelled, and the rollout of the new template completes without waiting for a retry', async () => {
    const [bench, program] = await demoted();
    bench.changeStatefulSet({ status: { updateRevision: third } });
    await program.work();
    const counted = await program.registry.getSingleMetricAsString(metric);
    expect(counted)
      .to.match(/\{outcome="TakenBack"\} 1$/m)
      .and.not.match(/\{outcome="Done"\} [1-9]/);
    for (const ordinal of [2, 1]) {
      bench.replace(ordinal, { revision: third });
      await program.work();
    }
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'evict 2', 'evict 1', 'demote 0']);
    expect(bench.status.hold?.rule).to.equal('AwaitingSwitchover');
    expect(bench.status.rollout).to.include({ revision: third }).and.to.have.nested.property('tries.count', 0);
    switchOver(bench, 0, 1);
    await program.work();
    bench.replace(0, { revision: third });
    await program.work();
    expect(bench.steps.slice(5)).to.deep.equal(['evict 0', 'promoteRevision']);
    expect(bench.status.history?.at(-1)).to.include({ revision: third, switchovers: 1 });
  });

  it('does not count failures of the previous revision for the new one', async () => {
    const [bench, program] = await demoted();
    bench.world.freeze(90_000);
    await program.turn();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    bench.changeStatefulSet({ status: { updateRevision: third } });
    await program.work();
    expect(bench.status.rollout).to.include({ revision: third }).and.to.not.have.property('tries');
  });
});

describe('a switchover that the user prevents', () => {
  it('does not count as failed: it is requested again as soon as the user allows it', async () => {
    const [bench, program] = await demoted();
    bench.setting({ paused: true });
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(bench.status.rollout).to.not.have.property('tries');
    expect(await program.registry.getSingleMetricAsString(metric)).to.match(/\{outcome="TakenBack"\} 1$/m);
    bench.setting({ paused: false });
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'demote 0']);
  });

  it('does not change the number of failed switchovers', async () => {
    const [bench, program] = await demoted();
    await program.workAfter(90_000);
    await program.workAfter(300_000);
    bench.setting({ paused: true });
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'demote 0', 'undemote 0']);
    expect(bench.status.rollout?.tries).to.have.all.keys('count', 'lastEndedAt').and.to.include({ count: 1 });
  });

  it('does not count as failed if the process dies right after cancelling it', async () => {
    const [bench, dying] = await demoted();
    bench.setting({ paused: true });
    await dying.turn();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.intent).to.include({ step: 'undemote', rule: 'Paused' });
    await bench.start().work();
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.rollout).to.not.have.property('tries');
  });
});
