import { expect } from 'chai';
import { podDisruptionBudgets } from '../../../src/kube/resource.ts';
import { atWork, Bench, begin, type Process } from '../bench.ts';
import { heldByMoco, keepByWebhook } from '../object-server.ts';
import { rollOut, switchOver } from '../whole-rollout.ts';

const statusPath = /mysqlrollouts\/test\/status$/;
const answers = (bench: Bench): readonly number[] =>
  bench.server.writes.filter(({ path }) => statusPath.test(path)).map(({ status }) => status);
const written = (bench: Bench): number => answers(bench).length;

/** At rest: everything that there is to say has been said, a while ago. */
async function resting(): Promise<[Bench, Process]> {
  const bench = new Bench({ stale: false });
  bench.server.admit = heldByMoco;
  const program = bench.start();
  await program.reportAll();
  bench.world.freeze(60_000);
  return [bench, program];
}

/** At rest with stale members, since a user has paused the rollout. */
async function paused(): Promise<[Bench, Process]> {
  const bench = new Bench();
  bench.server.admit = heldByMoco;
  bench.setting({ paused: true });
  const program = bench.start();
  await program.reportAll();
  // Their claims are read in the first pass, and what these say of their data is written in the second.
  await pass(bench, program, 60);
  await pass(bench, program, 60);
  bench.world.freeze(60_000);
  return [bench, program];
}

async function pass(bench: Bench, program: Process, seconds = 0): Promise<number | undefined> {
  bench.world.freeze(seconds * 1000);
  program.sync();
  return (await program.pass()).requeueAfterMilliseconds;
}

describe('publishing the status', () => {
  it('writes a hold at once, and then nothing while nothing changes', async () => {
    const [bench, program] = await resting();
    const before = written(bench);
    bench.setting({ paused: true });
    await pass(bench, program);
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(written(bench)).to.equal(before + 1);
    for (let minute = 0; minute < 10; minute += 1) await pass(bench, program, 60);
    expect(written(bench)).to.equal(before + 1);
  });

  it('writes a failed step at once', async () => {
    const [bench, program] = begin();
    bench.server.refuse('POST', /\/eviction$/, 403, 'Forbidden');
    await pass(bench, program);
    expect(bench.status.lastStep?.result).to.match(/^refused: .*403/);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.steps, 'nothing had to be made void').to.deep.equal([]);
  });

  it('puts what changes within a second of the first change into one write, and asks to be called for it', async () => {
    const [bench, program] = await resting();
    keepByWebhook(bench);
    bench.setting({ paused: true });
    await pass(bench, program, 60);
    const before = written(bench);
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    expect(await pass(bench, program)).to.equal(1000);
    bench.replace(2, { revision: 'moco-test-third' });
    expect(await pass(bench, program, 0.7)).to.equal(300);
    expect(written(bench)).to.equal(before);
    await pass(bench, program, 0.3);
    expect(written(bench)).to.equal(before + 1);
    expect(bench.status).to.include({ updateRevision: 'moco-test-third', updatedReplicas: 1 });
  });

  it('writes how members are doing within ten seconds, in one write', async () => {
    const [bench, program] = await paused();
    const before = written(bench);
    bench.mysqld(2, 'starting');
    expect(await pass(bench, program)).to.equal(10_000);
    bench.mysqld(1, 'starting');
    expect(await pass(bench, program, 4)).to.equal(6000);
    expect(bench.status.participatingReplicas).to.equal(3);
    await pass(bench, program, 6);
    expect(written(bench)).to.equal(before + 1);
    expect(bench.status.participatingReplicas).to.equal(1);
  });

  it('writes nothing if a change was reverted', async () => {
    const [bench, program] = await paused();
    const before = written(bench);
    bench.mysqld(2, 'starting');
    await pass(bench, program);
    bench.mysqld(2, 'ready');
    await pass(bench, program, 5);
    bench.mysqld(2, 'starting');
    expect(await pass(bench, program, 20)).to.equal(10_000);
    expect(written(bench)).to.equal(before);
  });

  it('writes an intent at once', async () => {
    const [bench, program] = begin();
    bench.setting({ paused: true });
    await pass(bench, program);
    bench.setting({ paused: false });
    await pass(bench, program);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.world.monotonic()).to.equal(0);
  });

  it('reports the result of the previous step with the next intent', async () => {
    const [bench, program] = begin();
    await pass(bench, program);
    bench.replace(2);
    await pass(bench, program, 2);
    expect(written(bench)).to.equal(2);
    expect(bench.status.intent?.pods[0]?.name).to.equal('moco-test-1');
    expect(bench.status.lastStep).to.deep.include({ step: 'evict', pods: ['moco-test-2'], result: 'done' });
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });

  it('writes that a member is back, and the step that disrupted it, within a second', async () => {
    const [bench, program] = begin();
    await pass(bench, program);
    bench.replace(2, { ready: false });
    await pass(bench, program, 3);
    expect(bench.status.lastStep).to.equal(undefined);
    await pass(bench, program, 1);
    expect(bench.status.lastStep).to.include({ step: 'evict', result: 'done' });
    expect(bench.status.hold?.rule).to.equal('UpdatedMemberNotParticipating');
  });

  it('counts progress from when it was seen, however late it is written', async () => {
    const bench = new Bench();
    bench.setting({ minReadySeconds: 60 });
    const program = await bench.started();
    bench.replace(2);
    const back = bench.now;
    const taken = Date.parse(bench.status.intent?.at ?? '');
    await pass(bench, program);
    for (let second = 0; second < 12; second += 1) await pass(bench, program, 1);
    expect(bench.status.rollout?.lastProgressAt).to.equal(back);
    expect(bench.status.members?.[2]?.updatedAt).to.equal(back);
    const seconds = Math.round((Date.parse(back) - taken) / 1000);
    expect(bench.status.rollout?.memberDurations).to.deep.equal([{ ordinal: 2, seconds }]);
  });

  it('counts a switchover until it was seen, however late it is written', async () => {
    const [bench, program] = await atWork();
    for (const ordinal of [2, 1]) {
      bench.replace(ordinal);
      await program.work();
    }
    const asked = Date.parse(bench.status.rollout?.tries?.askedAt ?? '');
    bench.world.freeze(3000);
    switchOver(bench, 0, 1);
    // The former primary is taken once the budget allows it, which is shown after ten seconds.
    bench.server.change(podDisruptionBudgets, 'moco-test', { status: { disruptionsAllowed: 0 } });
    const moved = Date.parse(bench.now);
    await pass(bench, program);
    for (let second = 0; second < 12; second += 1) await pass(bench, program, 1);
    expect(bench.status.primary).to.equal(1);
    const seconds = (moved - asked) / 1000;
    expect(bench.status.rollout?.switchoverSeconds).to.equal(Math.round(seconds));
    expect(await program.registry.metrics()).to.match(
      new RegExp(`^moco_rollout_switchover_duration_seconds_sum ${seconds}$`, 'm'),
    );
  });

  it('writes what was done, not that the next step came too late to be recorded', async () => {
    const [bench, program] = begin();
    await pass(bench, program);
    bench.replace(2);
    bench.server.before('GET', /mysqlclusters\/test$/, () => bench.world.freeze(2001));
    await pass(bench, program);
    expect(bench.steps).to.deep.equal(['evict 2']);
    await pass(bench, program, 2);
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    expect(bench.status.lastStep).to.deep.include({ step: 'evict', pods: ['moco-test-2'], result: 'done' });
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });

  it('writes a partial outcome of a step, not that the next one came too late, and does not invalidate the first', async () => {
    const [bench, program] = begin();
    for (const ordinal of [1, 2]) bench.mysqld(ordinal, 'CrashLoopBackOff');
    bench.server.before('DELETE', /pods\/moco-test-1$/, () =>
      bench.changePod(1, { metadata: { labels: { by: 'MOCO' } } }),
    );
    await pass(bench, program);
    bench.replace(2);
    bench.server.before('GET', /mysqlclusters\/test$/, () => bench.world.freeze(2001));
    await pass(bench, program);
    await pass(bench, program, 2);
    expect(bench.steps).to.deep.equal(['delete 2', 'delete 1']);
    expect(bench.status.lastStep?.result).to.match(/^conflict: /);
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });

  it('counts a disruption, whatever fails before it is written', async () => {
    const [bench, program] = begin();
    bench.server.refuse('PATCH', /statefulsets\/moco-test\/status$/, 403, 'Forbidden');
    await rollOut(bench, program).catch(() => undefined);
    await program.work();
    expect(bench.status.history?.at(-1)).to.include({ disruptions: 3, outcome: 'Complete' });
  });

  it('retries on top of another writer’s change', async () => {
    const [bench, program] = await resting();
    bench.mysqld(2, 'starting');
    await pass(bench, program);
    bench.server.before('PUT', statusPath, () => bench.setting({ partition: 1 }));
    await pass(bench, program, 10);
    expect(answers(bench).at(-1)).to.equal(409);
    expect(bench.status.participatingReplicas).to.equal(3);
    await pass(bench, program);
    expect(answers(bench).at(-1)).to.equal(200);
    expect(bench.status).to.deep.include({ participatingReplicas: 2, observedGeneration: 1 });
  });

  it('rejects if the API server refuses the write, and writes it in a later reconciliation', async () => {
    const [bench, program] = await resting();
    bench.setting({ paused: true });
    bench.server.refuse('PUT', statusPath, 403, 'Forbidden');
    expect(await pass(bench, program).catch((error: unknown) => error)).to.include({ status: 403 });
    await pass(bench, program);
    expect(bench.status.hold?.rule).to.equal('Paused');
  });

  it('uses its own last write although the cache does not show it yet', async () => {
    const [bench, program] = await resting();
    const before = written(bench);
    bench.setting({ paused: true });
    await pass(bench, program);
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
    bench.setting({ paused: true, minReadySeconds: 3 });
    await pass(bench, program);
    const [last] = bench.server.writes.slice(-1);
    expect(last?.path).to.match(statusPath);
    expect(last?.body['spec']).to.deep.equal({ paused: true, minReadySeconds: 3 });
  });

  it('writes nothing if the cluster or the MySQLRollout is being deleted', async () => {
    for (const change of [
      (bench: Bench) => bench.changeCluster({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
      (bench: Bench) => bench.changeRollout({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
    ]) {
      const [bench, program] = await resting();
      const before = bench.server.writes.length;
      change(bench);
      bench.mysqld(2, 'starting');
      await pass(bench, program);
      expect(bench.server.writes.slice(before).filter(({ path }) => statusPath.test(path))).to.deep.equal([]);
    }
  });
});
