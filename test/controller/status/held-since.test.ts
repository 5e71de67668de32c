import { expect } from 'chai';
import { jobs } from '../../../src/kube/resource.ts';
import { Bench, type Process } from '../bench.ts';
import { emergencyBackup } from '../moco-objects.ts';

describe('a hold that has not ended', () => {
  /** Kubernetes has not observed this generation of the StatefulSet, or has. */
  const observed = (bench: Bench, generation: number, by: number): void =>
    bench.changeStatefulSet({ metadata: { generation }, status: { observedGeneration: by } });

  const series = async ({ registry }: Process): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('moco_rollout_hold_since'));

  async function held() {
    const bench = new Bench();
    observed(bench, 5, 5);
    bench.server.create(jobs, emergencyBackup);
    const program = await bench.started();
    const { hold } = bench.status;
    expect(hold?.rule).to.equal('BackupRunning');
    bench.world.freeze(60_000);
    return { bench, program, hold };
  }

  it('stays as it is while a brief one covers it', async () => {
    const { bench, program, hold } = await held();
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
    expect(program.events.filter(({ reason }) => reason === 'BackupRunning')).to.have.length(1);
  });

  it('is shown with the time at which it began once what covered it is over', async () => {
    const { bench, program, hold } = await held();
    observed(bench, 6, 5);
    await program.work();
    await program.workAfter(15_000);
    expect(bench.status.hold?.rule).to.equal('StatefulSetNotObserved');
    observed(bench, 6, 6);
    await program.workAfter(5000);
    expect(bench.status.hold).to.deep.equal(hold);
  });

  it('ends all the same if it ends while it is covered', async () => {
    const { bench, program } = await held();
    observed(bench, 6, 5);
    await program.work();
    bench.server.remove(jobs, 'emergency-backup');
    await program.work();
    expect(bench.status.hold).to.equal(undefined);
  });
});
