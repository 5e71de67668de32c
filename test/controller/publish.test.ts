import { expect } from 'chai';
import { noFleetLimits } from '../../src/controller/fleet.ts';
import { Bench, type Process } from './bench.ts';
import { begunAt, rollOut } from './whole-rollout.ts';

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

/** So many other clusters roll at the same time. */
function others(program: Process, count: number, at: string): void {
  const rollout = begunAt(at);
  for (let other = 0; other < count; other += 1) {
    const metadata = { namespace: 'others', name: `db-${other}`, uid: `other-${other}`, resourceVersion: '1' };
    const kind = { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout' };
    program.fleet.note(`others/db-${other}`, { ...kind, metadata, status: { rollout } });
  }
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
      bench.mysqld(2, Math.floor(second / 3) % 2 === 0 ? 'starting' : 'ready');
      program.sync();
      const { requeueAfterMilliseconds } = await program.pass();
      if (second === 0) expect(requeueAfterMilliseconds, 'more may come').to.equal(1000);
      if (second === 4) expect(requeueAfterMilliseconds).to.equal(27_000);
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

  it('has the next step tell what became of the one before, and the end all of the end', async () => {
    for (const count of [0, 999]) {
      const bench = new Bench();
      const program = bench.start({ minReadySeconds: 1 });
      others(program, count, bench.now);
      await rollOut(bench, program);
      expect(bench.steps).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
      expect(bench.status.lastCompleted).to.include({ disruptions: 3, switchovers: 1, outcome: 'Complete' });
      if (count > 0) expect(written(bench), 'a write a step, and one at the end').to.equal(5);
      else expect(written(bench), 'and one while somebody waits for each').to.be.within(6, 10);
    }
  });

  it('tells within a second what becomes of a step where one cluster rolls alone, and later where many do', async () => {
    for (const [count, seconds] of [
      [0, 1],
      [9, 10],
      [199, 200],
      [999, 300],
    ] as const) {
      const bench = new Bench();
      const program = bench.start();
      others(program, count, bench.now);
      program.sync();
      await program.pass();
      expect(bench.status.intent?.step).to.equal('evict');
      program.sync();
      const asked = (await program.pass()).requeueAfterMilliseconds;
      expect(asked).to.be.at.most(seconds * 1000);
      bench.replace(2, { ready: false });
      bench.world.freeze(seconds * 1000 - 1);
      program.sync();
      await program.pass();
      expect(bench.status.lastStep, `${count} others`).to.equal(undefined);
      bench.world.freeze(1);
      await program.pass();
      expect(bench.status.lastStep).to.include({ step: 'evict', result: 'done' });
      expect(bench.status.hold?.rule).to.equal('UpdatedMemberNotParticipating');
    }
  });

  it('tells what becomes of a step within half of the time after which it would be said not to go on', async () => {
    const bench = new Bench();
    bench.wish({ progressDeadlineSeconds: 40 });
    const program = bench.start();
    others(program, 999, bench.now);
    await program.work();
    bench.replace(2, { ready: false });
    program.sync();
    expect((await program.pass()).requeueAfterMilliseconds).to.be.at.most(20_000);
    bench.world.freeze(20_000);
    await program.pass();
    expect(bench.status.lastStep).to.include({ step: 'evict', result: 'done' });
  });

  it('counts progress from when it was seen, however late it is told', async () => {
    const bench = new Bench();
    bench.wish({ progressDeadlineSeconds: 120, minReadySeconds: 60 });
    const program = bench.start();
    others(program, 99, bench.now);
    const after = async (seconds: number): Promise<void> => {
      bench.world.freeze(seconds * 1000);
      program.sync();
      await program.pass();
    };
    await program.work();
    bench.replace(2, { ready: false });
    const left = bench.now;
    await after(0);
    await after(60);
    expect(bench.status.rollout?.lastProgressAt, 'not the time of telling').to.equal(left);
    await after(0);
    await after(90);
    bench.replace(2);
    await after(0);
    const told = bench.status.rollout?.lastProgressAt;
    expect(told, 'that it is back is not told yet').to.equal(left);
    await after(35);
    const stalled = (bench.status.conditions ?? []).find(({ type }) => type === 'Stalled');
    expect(stalled).to.include({ status: 'False' });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('tells what was done, and not that the next step came too late to be written down', async () => {
    const bench = new Bench();
    const program = bench.start();
    others(program, 999, bench.now);
    await program.work();
    bench.replace(2);
    program.sync();
    bench.server.before('GET', /mysqlclusters\/test$/, () => bench.world.freeze(1001));
    await program.pass();
    expect(bench.status.intent, 'nothing was written down').to.equal(undefined);
    bench.world.freeze(2000);
    program.sync();
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    expect(bench.status.lastStep).to.deep.include({ step: 'evict', pods: ['moco-test-2'], result: 'done' });
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });

  it('tells what came of a step in part, and not that the next one came too late, nor makes the first one void', async () => {
    const bench = new Bench();
    const program = bench.start();
    for (const ordinal of [1, 2]) bench.mysqld(ordinal, 'CrashLoopBackOff');
    bench.server.before('DELETE', /pods\/moco-test-1$/, () =>
      bench.changePod(1, { metadata: { labels: { by: 'MOCO' } } }),
    );
    program.sync();
    await program.pass();
    bench.replace(2);
    program.sync();
    bench.server.before('GET', /mysqlclusters\/test$/, () => bench.world.freeze(1001));
    await program.pass();
    bench.world.freeze(2000);
    program.sync();
    await program.pass();
    expect(bench.steps).to.deep.equal(['delete 2', 'delete 1']);
    expect(bench.status.lastStep?.result).to.match(/^conflict: /);
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });

  it('counts a disruption whatever fails after it and before it is told', async () => {
    const bench = new Bench();
    const program = bench.start();
    others(program, 999, bench.now);
    bench.server.refuse('PATCH', /statefulsets\/moco-test\/status$/, 403, 'Forbidden');
    await rollOut(bench, program).catch(() => undefined);
    await program.work();
    expect(bench.status.lastCompleted).to.include({ disruptions: 3, outcome: 'Complete' });
  });

  it('tells at once where a rollout rests and others wait for its slot', async () => {
    const bench = new Bench();
    const program = bench.start({}, { ...noFleetLimits, maxConcurrentRollouts: 500 });
    others(program, 400, bench.now);
    await program.work();
    bench.replace(2);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    bench.replace(1, { ready: false });
    bench.wish({ paused: true });
    const look = async (): Promise<void> => {
      program.sync();
      await program.pass();
      bench.world.freeze(1000);
    };
    await look();
    await look();
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(program.fleet.rolling).to.equal(401);
    bench.replace(1);
    await look();
    await look();
    expect(program.fleet.rolling).to.equal(400);
  });

  it('tells of which generation of the MySQLCluster it is within half a minute, however many clusters roll', async () => {
    const bench = new Bench();
    bench.wish({ paused: true });
    const program = bench.start();
    others(program, 999, bench.now);
    await program.work();
    bench.changeCluster({ metadata: { generation: 2 }, status: { reconcileInfo: { generation: 2 } } });
    program.sync();
    expect((await program.pass()).requeueAfterMilliseconds).to.be.at.most(30_000);
    bench.world.freeze(30_000);
    await program.pass();
    expect(bench.status.observedClusterGeneration).to.equal(2);
  });

  it('tells when a member was back, however late it tells that it is', async () => {
    const bench = new Bench();
    const program = bench.start({ minReadySeconds: 60 });
    others(program, 29, bench.now);
    await program.work();
    bench.replace(2);
    program.sync();
    const back = bench.now;
    const taken = Date.parse(bench.status.intent?.at ?? '');
    await program.pass();
    bench.world.freeze(30_000);
    program.sync();
    await program.pass();
    expect(bench.status.members?.['2']?.updatedAt).to.equal(back);
    expect(bench.status.rollout?.memberSeconds).to.deep.equal({ 2: (Date.parse(back) - taken) / 1000 });
  });

  it('waits for a step that only time is waited for, where it is to come within ten seconds', async () => {
    for (const [minReadySeconds, expected] of [
      [8, 2],
      [20, 3],
    ] as const) {
      const bench = new Bench();
      const program = bench.start({ minReadySeconds });
      await program.pass();
      program.sync();
      await program.pass();
      bench.replace(2);
      for (let second = 0; second < minReadySeconds + 1; second += 1) {
        program.sync();
        await program.pass();
        bench.world.freeze(1000);
      }
      program.sync();
      await program.pass();
      expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
      expect(written(bench), `${minReadySeconds} s`).to.equal(expected);
    }
  });

  it('lets nothing else wait that comes to pass in a rollout, however many clusters roll', async () => {
    const bench = new Bench();
    const program = bench.start();
    others(program, 999, bench.now);
    await program.work();
    bench.replace(2);
    bench.mysqld(2, 'ImagePullBackOff');
    program.sync();
    await program.pass();
    expect(bench.status.hold?.rule).to.equal('UpdateRevisionFailing');
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
