import { expect } from 'chai';
import { Bench, type Process } from './bench.ts';

const statusPath = /mysqlrollouts\/test\/status$/;
const answers = (bench: Bench): readonly number[] =>
  bench.server.writes.filter(({ path }) => statusPath.test(path)).map(({ status }) => status);
const written = (bench: Bench): number => answers(bench).length;

/** At rest: everything that there is to say has been said, a while ago. */
async function resting(): Promise<[Bench, Process]> {
  const bench = new Bench({ stale: false });
  const program = bench.start();
  await program.work();
  bench.world.freeze(60_000);
  return [bench, program];
}

describe('publishing the status', () => {
  it('writes what is new at once, and then nothing while nothing is', async () => {
    const [bench, program] = await resting();
    const before = written(bench);
    bench.wish({ paused: true });
    program.sync();
    await program.pass();
    expect(written(bench)).to.equal(before + 1);
    for (let minute = 0; minute < 10; minute += 1) {
      program.sync();
      await program.pass();
      bench.world.freeze(60_000);
    }
    expect(written(bench)).to.equal(before + 1);
  });

  it('puts what changes within half a second into one write, and asks to be called for it', async () => {
    const [bench, program] = await resting();
    const before = written(bench);
    for (const [ordinal, wait] of [
      [2, undefined],
      [1, 400],
      [0, 300],
    ] as const) {
      bench.mysqld(ordinal, 'starting');
      program.sync();
      expect((await program.pass()).requeueAfterMilliseconds ?? 10_000).to.be.at.most(wait ?? 10_000);
      bench.world.freeze(100);
    }
    expect(written(bench)).to.equal(before + 1);
    expect(bench.status.participatingReplicas).to.equal(2);
    bench.world.freeze(200);
    await program.pass();
    expect(written(bench)).to.equal(before + 2);
    expect(bench.status.participatingReplicas).to.equal(0);
  });

  it('writes numbers and sentences at most once in 30 s while rules and verdicts stay as they are', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.wish({ paused: true });
    await program.work();
    bench.world.freeze(60_000);
    const before = written(bench);
    for (let second = 0; second < 61; second += 1) {
      bench.mysqld(2, second % 2 === 0 ? 'starting' : 'ready');
      program.sync();
      const { requeueAfterMilliseconds } = await program.pass();
      if (second < 30 && second % 2 === 1) {
        expect(requeueAfterMilliseconds, `second ${second}`).to.be.at.most(30_000 - second * 1000);
      }
      bench.world.freeze(1000);
    }
    expect(written(bench) - before, 'at the start and half a minute later').to.equal(2);
    bench.wish({ paused: false, heldMembers: [{ ordinal: 2, reason: 'kept for a look' }] });
    program.sync();
    await program.pass();
    expect(written(bench) - before, 'another rule waits for nothing').to.be.at.least(3);
  });

  it('lets an intent wait for nothing', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.wish({ paused: true });
    program.sync();
    await program.pass();
    bench.wish({ paused: false });
    program.sync();
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.world.monotonic()).to.equal(0);
  });

  it('gives way to whoever has written in between, and says it again on top of that', async () => {
    const [bench, program] = await resting();
    bench.mysqld(2, 'starting');
    program.sync();
    bench.server.before('PUT', statusPath, () => bench.wish({ partition: 1 }));
    await program.pass();
    expect(answers(bench).at(-1)).to.equal(409);
    expect(bench.status.participatingReplicas).to.equal(3);
    program.sync();
    await program.pass();
    expect(answers(bench).at(-1)).to.equal(200);
    expect(bench.status).to.deep.include({ participatingReplicas: 2, observedGeneration: 1 });
  });

  it('rejects where the API server does not take it, and says it in a later pass', async () => {
    const [bench, program] = await resting();
    bench.mysqld(2, 'starting');
    program.sync();
    bench.server.refuse('PUT', statusPath, 422, 'Invalid');
    expect(await program.pass().catch((error: unknown) => error)).to.include({ status: 422 });
    await program.pass();
    expect(bench.status.participatingReplicas).to.equal(2);
  });

  it('believes its own last write although the cache does not show it yet', async () => {
    const [bench, program] = await resting();
    const before = written(bench);
    bench.wish({ paused: true });
    program.sync();
    await program.pass();
    bench.world.freeze(60_000);
    for (let passes = 0; passes < 3; passes += 1) {
      program.sync('rollouts');
      await program.pass();
    }
    expect(written(bench)).to.equal(before + 1);
    expect(answers(bench)).to.not.include(409);
  });

  it('never touches the spec', async () => {
    const [bench, program] = await resting();
    bench.wish({ paused: true, minReadySeconds: 3 });
    program.sync();
    await program.pass();
    const [last] = bench.server.writes.slice(-1);
    expect(last?.path).to.match(statusPath);
    expect(last?.body['spec']).to.deep.equal({ paused: true, minReadySeconds: 3 });
  });

  it('says nothing of a cluster that is being deleted, nor to a MySQLRollout that is', async () => {
    for (const change of [
      (bench: Bench) => bench.changeCluster({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
      (bench: Bench) => bench.changeRollout({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
    ]) {
      const [bench, program] = await resting();
      const before = bench.server.writes.length;
      change(bench);
      bench.mysqld(2, 'starting');
      program.sync();
      await program.pass();
      expect(bench.server.writes.slice(before).filter(({ path }) => statusPath.test(path))).to.deep.equal([]);
    }
  });
});
