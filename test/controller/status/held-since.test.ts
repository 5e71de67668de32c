import { expect } from 'chai';
import { Bench, type Process } from '../bench.ts';

describe('a hold that has not ended', () => {
  /** Kubernetes has not observed this generation of the StatefulSet, or has. */
  const observed = (bench: Bench, generation: number, by: number): void =>
    bench.changeStatefulSet({ metadata: { generation }, status: { observedGeneration: by } });

  const series = async ({ registry }: Process): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('moco_rollout_hold_since'));

  async function paused() {
    const bench = new Bench();
    observed(bench, 5, 5);
    bench.setting({ paused: true });
    const program = await bench.started();
    const { hold } = bench.status;
    expect(hold?.rule).to.equal('Paused');
    bench.world.freeze(60_000);
    return { bench, program, hold };
  }

  it('stays as it is while a brief one covers it', async () => {
    const { bench, program, hold } = await paused();
    const lines = program.log.lines.length;
    const before = await series(program);
    observed(bench, 6, 5);
    await program.work();
    expect(bench.status.hold).to.deep.equal(hold);
    expect(await series(program)).to.include.members(before);
    observed(bench, 6, 6);
    await program.work();
    expect(bench.status.hold).to.deep.equal(hold);
    expect(await series(program)).to.deep.equal(before);
    expect(program.log.lines.slice(lines).map(({ level }) => level)).to.not.include('info');
    expect(program.events.filter(({ reason }) => reason === 'Paused')).to.have.length(1);
  });

  it('is shown with the time at which it began once what covered it is over', async () => {
    const { bench, program, hold } = await paused();
    observed(bench, 6, 5);
    await program.work();
    await program.workAfter(15_000);
    expect(bench.status.hold?.rule).to.equal('StatefulSetNotObserved');
    observed(bench, 6, 6);
    await program.workAfter(5000);
    expect(bench.status.hold).to.deep.equal(hold);
  });

  it('ends all the same if a person ends it while it is covered', async () => {
    const { bench, program } = await paused();
    observed(bench, 6, 5);
    await program.work();
    bench.setting({ paused: false });
    await program.work();
    expect(bench.status.hold).to.equal(undefined);
  });
});
