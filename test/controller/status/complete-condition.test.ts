import { expect } from 'chai';
import { clusterKind, releasedAnnotation } from '../../../src/moco/names.ts';
import { atWork, Bench, type Process } from '../bench.ts';
import { appliedBy, revisionAfter, revisionBefore } from '../moco-objects.ts';
import { completion, rollOut } from '../whole-rollout.ts';

const clusterPath = /mysqlclusters\/test$/;
const clusterStatusPath = /mysqlclusters\/test\/status$/;
const statusOf = (bench: Bench) => bench.server.get(clusterKind, 'test')['status'] as Readonly<Record<string, unknown>>;
const written = (bench: Bench) => bench.server.writes.filter(({ path }) => clusterStatusPath.test(path));

/** A healthy cluster whose rollout is complete and known to be. */
async function complete(): Promise<[Bench, Process]> {
  const bench = new Bench({ stale: false });
  const program = await bench.started();
  expect(completion(bench)).to.include({ status: 'True', observedGeneration: 1 });
  return [bench, program];
}

/** The user changes the cluster; MOCO has not looked yet. */
const userChanges = (bench: Bench, generation: number): void => bench.changeCluster({ metadata: { generation } });

/** MOCO's apply: the StatefulSet first, then what it says of itself. */
function mocoApplies(bench: Bench, generation: number, updateRevision: string): void {
  bench.changeStatefulSet({ status: { updateRevision } });
  bench.changeCluster({ status: appliedBy(statusOf(bench), generation) });
}

describe('the condition RolloutComplete of a MySQLCluster', () => {
  it('becomes True when the rollout is complete, not earlier', async () => {
    const [bench, program] = await atWork();
    expect(completion(bench), 'absent is as good as False').to.equal(undefined);
    await rollOut(bench, program);
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 1, reason: 'RolloutComplete' });
    expect(written(bench)).to.have.length(1);
  });

  it('is written only on changes, and costs nothing in between', async () => {
    const [bench, program] = await complete();
    const { writes, reads } = bench.server;
    const before = [writes.length, reads.length];
    for (let passes = 0; passes < 5; passes += 1) {
      bench.changePod(1, { metadata: { labels: { x: String(passes) } } });
      await program.turn();
      bench.world.freeze(60_000);
    }
    expect([writes.length, reads.length]).to.deep.equal(before);
  });

  it('is removed from a cluster that is released, and comes back with its adoption', async () => {
    const [bench, program] = await complete();
    const release = (value: string | null): void =>
      bench.changeCluster({ metadata: { annotations: { [releasedAnnotation]: value } } });
    release('true');
    await program.work();
    expect(completion(bench)).to.equal(undefined);
    expect(written(bench)).to.have.length(2);
    bench.changePod(1, { metadata: { labels: { x: '1' } } });
    await program.work();
    expect(written(bench)).to.have.length(2);
    release(null);
    await program.work();
    expect(completion(bench)).to.include({ status: 'True' });
  });

  it('leaves every other condition and field unchanged, in its place', async () => {
    const bench = new Bench({ stale: false });
    const before = statusOf(bench);
    await bench.start().work();
    const { conditions, ...rest } = statusOf(bench);
    const { conditions: conditionsBefore, ...restBefore } = before;
    expect(rest).to.deep.equal(restBefore);
    expect((conditions as unknown[]).slice(0, -1)).to.deep.equal(conditionsBefore);
  });

  it('becomes False with the first stale member, in its place in the list, and True again at the new generation', async () => {
    const [bench, program] = await complete();
    userChanges(bench, 2);
    mocoApplies(bench, 2, 'moco-test-third');
    bench.mysqld(1, 'CrashLoopBackOff');
    await program.work();
    bench.replace(1, { revision: 'moco-test-third' });
    bench.mysqld(1, 'starting');
    await program.work();
    expect(completion(bench)).to.include({ status: 'False', observedGeneration: 2 });
    expect(written(bench)).to.have.length(2);
    expect(statusOf(bench)['conditions']).to.have.length(8);
    for (const ordinal of [0, 1, 2])
      bench.replace(ordinal, { revision: 'moco-test-third', role: ordinal === 0 ? 'primary' : 'replica' });
    await program.work();
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 2 });
  });

  it('is not True of a generation whose template changed and was reverted before any status was written', async () => {
    const bench = new Bench({ stale: false });
    bench.setting({ paused: true });
    const program = await bench.started();
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 1 });
    bench.changeCluster({ metadata: { generation: 2 }, status: { reconcileInfo: { generation: 2 } } });
    bench.changeStatefulSet({ status: { updateRevision: 'another' } });
    bench.server.before('GET', /statefulsets/, () => {
      // kubectl rollout undo, between the look that saw it and the one past the cache
      bench.changeStatefulSet({ status: { updateRevision: revisionAfter } });
    });
    await program.turn();
    expect(completion(bench)).to.include({ status: 'False', observedGeneration: 2 });
  });

  it('becomes True after ten seconds if every member already has the template', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    const since = bench.world.monotonic();
    await program.work();
    expect(completion(bench)).to.equal(undefined);
    for (let asked = 0; asked < 5 && completion(bench) === undefined; asked += 1) {
      const { requeueAfterMilliseconds = 0 } = await program.turn();
      await program.workAfter(requeueAfterMilliseconds);
    }
    expect(completion(bench)).to.include({ status: 'True' });
    expect(bench.world.monotonic() - since).to.be.within(10_000, 14_000);
  });

  it('is True in the reconciliation that sees the last member, however quick the rollout was', async () => {
    const bench = new Bench({ stale: false, replicas: 1 });
    const program = await bench.started();
    userChanges(bench, 2);
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    bench.changeCluster({ status: appliedBy(statusOf(bench), 2, 1) });
    const since = bench.world.monotonic();
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 0']);
    bench.replace(0, { revision: 'moco-test-third', role: 'primary' });
    bench.world.freeze(1000);
    program.sync();
    bench.server.refuse('PUT', clusterStatusPath, 500, 'InternalError');
    await program.pass().catch(() => {});
    await program.turn();
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 2 });
    const before = written(bench).map(({ status }) => status);
    expect(before.at(-2), 'the pass before has tried').to.equal(500);
    expect(bench.world.monotonic() - since).to.be.below(10_000);
  });

  it('is never True for a generation that MOCO has not applied', async () => {
    const [bench, program] = await complete();
    userChanges(bench, 2);
    await program.work();
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 1 });
    await program.workAfter(10_000);
    expect(completion(bench)).to.include({ status: 'False', observedGeneration: 2 });
    mocoApplies(bench, 2, revisionAfter);
    await program.work();
    expect(completion(bench), 'nothing in the template has changed').to.include({
      status: 'True',
      observedGeneration: 2,
    });
  });

  it('keeps its lastTransitionTime if a new generation leaves it True', async () => {
    const [bench, program] = await complete();
    const since = completion(bench)?.lastTransitionTime;
    bench.world.freeze(60_000);
    userChanges(bench, 2);
    mocoApplies(bench, 2, revisionAfter);
    await program.work();
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 2, lastTransitionTime: since });
    expect(written(bench)).to.have.length(2);
  });

  const notYet: Readonly<Record<string, (bench: Bench) => void>> = {
    'a member does not participate': (bench) => bench.mysqld(1, 'starting'),
    'a member is missing': (bench) => bench.removePod(1),
    'a member is stale below the partition': (bench) => bench.replace(1, { revision: 'moco-test-5897fd84f8' }),
    'the StatefulSet is not observed': (bench) => bench.changeStatefulSet({ metadata: { generation: 7 } }),
    'MOCO could not apply it': (bench) =>
      bench.changeCluster({
        status: { conditions: [{ type: 'ReconcileSuccess', status: 'False', observedGeneration: 1 }] },
      }),
    'the StatefulSet, read after the MySQLCluster, has another update revision': (bench) =>
      bench.server.before('GET', /statefulsets/, () =>
        bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } }),
      ),
    'the StatefulSet was read before MOCO applied the latest generation': (bench) => {
      userChanges(bench, 2);
      // After the StatefulSet, before the MySQLCluster is read for the second time.
      bench.server.before('GET', /pods\/moco-test-0$/, () => mocoApplies(bench, 2, 'moco-test-third'));
    },
  };
  for (const [what, happens] of Object.entries(notYet)) {
    it(`is not True while ${what}, whatever the cache shows`, async () => {
      const bench = new Bench({ stale: false });
      const program = bench.start();
      program.sync();
      happens(bench);
      await program.pass();
      expect(completion(bench)).to.equal(undefined);
    });
  }

  it('is written again after a conflict with MOCO, at most a few times in a row', async () => {
    const bench = new Bench({ stale: false });
    const program = bench.start();
    const mocoWrites = (times: number): void =>
      bench.server.before('PUT', clusterStatusPath, () => {
        bench.changeCluster({ status: { backup: { elapsed: `${times + 1} s` } } });
        if (times > 1) mocoWrites(times - 1);
      });
    mocoWrites(1);
    await program.turn();
    expect(written(bench).map(({ status }) => status)).to.deep.equal([409, 200]);
    expect(completion(bench)).to.include({ status: 'True' });

    const other = new Bench({ stale: false });
    const busy = other.start();
    busy.sync();
    for (let times = 0; times < 3; times += 1) {
      other.server.before('PUT', clusterStatusPath, () =>
        other.changeCluster({ status: { backup: { elapsed: `${times + 1} s` } } }),
      );
    }
    await busy.pass();
    expect(written(other).map(({ status }) => status)).to.deep.equal([409, 409, 409]);
    expect(completion(other)).to.equal(undefined);
    await busy.turn();
    expect(completion(other), 'what MOCO has written brings a pass').to.include({ status: 'True' });
  });

  it('keeps True of an older generation until the first member is disrupted, so as not to delay that', async () => {
    const [bench, program] = await complete();
    userChanges(bench, 2);
    bench.changeStatefulSet({ metadata: { generation: 7 } });
    await program.work();
    mocoApplies(bench, 2, 'moco-test-third');
    bench.changeStatefulSet({ status: { observedGeneration: 7 } });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(completion(bench)).to.include({ status: 'True', observedGeneration: 1 });
    bench.replace(2, { revision: 'moco-test-third' });
    bench.mysqld(2, 'starting');
    await program.work();
    expect(completion(bench)).to.include({ status: 'False', observedGeneration: 2 });
  });

  it('names the hold that needs attention while it is False, and only that one', async () => {
    const [bench, program] = await complete();
    bench.changeStatefulSet({ metadata: { generation: 7 } });
    await program.work();
    expect(completion(bench)).to.include({ status: 'False', reason: 'RollingOut' });
    const since = completion(bench)?.lastTransitionTime;
    bench.world.freeze(5000);
    bench.setting({ paused: true });
    bench.changeStatefulSet({ status: { observedGeneration: 7, updateRevision: 'moco-test-third' } });
    await program.work();
    expect(completion(bench)).to.include({ status: 'False', reason: 'Paused', lastTransitionTime: since });
    bench.setting({ paused: false });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(completion(bench)).to.include({ status: 'False', reason: 'RollingOut', lastTransitionTime: since });
  });

  it('is tried once when it becomes False, and again when MOCO’s write triggers the cluster', async () => {
    const [bench, program] = await complete();
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' }, metadata: { generation: 7 } });
    bench.server.before('PUT', clusterStatusPath, () =>
      bench.changeCluster({ status: { backup: { elapsed: '1 s' } } }),
    );
    await program.turn();
    expect(written(bench).map(({ status }) => status)).to.deep.equal([200, 409]);
    await program.turn();
    expect(written(bench).map(({ status }) => status)).to.deep.equal([200, 409, 200]);
    expect(completion(bench)).to.include({ status: 'False' });
  });

  it('costs one read and one write when it becomes False', async () => {
    const [bench, program] = await complete();
    const { reads } = bench.server;
    const before = reads.length;
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' }, metadata: { generation: 7 } });
    await program.turn();
    expect(completion(bench)).to.include({ status: 'False' });
    const asked = reads.slice(before);
    expect(asked.filter((path) => /mysqlclusters|pods|budgets|statefulsets/.test(path))).to.have.length(1);
    expect(written(bench)).to.have.length(2);
  });

  it('becomes False, by a handful of reads, if the cluster is given an invalid size', async () => {
    const [bench, program] = await complete();
    const { reads } = bench.server;
    const before = reads.length;
    bench.changeCluster({ spec: { replicas: 2_147_483_647 } });
    bench.changeStatefulSet({ spec: { replicas: 2_147_483_647 } });
    await program.turn();
    expect(completion(bench)).to.include({ status: 'False' });
    expect(reads.length - before).to.be.below(20);
  });

  it('is not written on a deleted or terminating cluster', async () => {
    for (const happens of [
      (bench: Bench) => bench.changeCluster({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
      (bench: Bench) => bench.server.remove(clusterKind, 'test'),
    ]) {
      const bench = new Bench({ stale: false });
      const program = bench.start();
      program.sync();
      bench.server.before('GET', clusterPath, () => happens(bench));
      await program.pass();
      expect(written(bench)).to.deep.equal([]);
    }
  });
});
