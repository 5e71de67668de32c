import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { jobs, podDisruptionBudgets, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { atWork, Bench, begin } from './bench.ts';
import { emergencyBackup } from './moco-objects.ts';
import { rollOut } from './whole-rollout.ts';

const nothingMore = {};

/** What a pass ends with. */
const outcome = (pass: Promise<unknown>): Promise<unknown> => pass.catch((error: unknown) => error);

describe('reconciling a cluster', () => {
  it('rolls out a healthy one: replicas in descending order by eviction, a switchover, then the old primary', async () => {
    const bench = new Bench();
    await rollOut(bench, bench.start());
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
  });

  it('neither reads nor writes anything if all members are up to date', async () => {
    const bench = new Bench({ stale: false });
    const program = await bench.started();
    const { reads, writes } = bench.server;
    const before = [reads.length, writes.length];
    // Until then time alone could still make its one revision less recent.
    bench.world.freeze(600_000);
    expect(await program.turn()).to.deep.equal(nothingMore);
    expect([reads.length, writes.length]).to.deep.equal(before);
  });

  it('does nothing while another process leads', async () => {
    const bench = new Bench({ rollout: false });
    const program = bench.start();
    program.isLeading = false;
    expect(await program.turn()).to.deep.equal(nothingMore);
    expect(bench.server.writes).to.deep.equal([]);
  });

  it('reports why the StatefulSet cannot be set to OnDelete', async () => {
    const bench = new Bench();
    bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/strategy': null } } });
    const program = bench.start();
    for (const seconds of [2, 4, 8]) {
      bench.server.refuse('PATCH', /statefulsets/, 403, 'Forbidden', { message: 'M says no' });
      await program.turn();
      bench.world.freeze(seconds * 1000);
    }
    bench.server.refuse('PATCH', /statefulsets/, 403, 'Forbidden', { message: 'M says no' });
    await program.turn();
    expect(bench.status.hold?.rule).to.equal('StepRefused');
    expect(bench.status.hold?.message).to.match(/^the API server did not carry out the step: .*M says no$/);
    expect(bench.status.lastStep).to.deep.include({ step: 'setStrategy', pods: [] });
    expect(bench.status.lastStep?.result).to.contain('M says no');
    expect(bench.steps).to.deep.equal([]);
    await program.workAfter(16_000);
    expect(bench.steps).to.deep.equal(['setStrategy', 'evict 2']);
    expect(bench.status.hold).to.equal(undefined);
  });

  it('waits for the cache, not for a backoff, on a conflict with another writer of the StatefulSet', async () => {
    const bench = new Bench();
    bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/strategy': null } } });
    const program = bench.start();
    program.sync();
    bench.server.before('PATCH', /statefulsets/, () => bench.changeStatefulSet({ metadata: { labels: { x: 'y' } } }));
    expect(await outcome(program.pass())).to.not.be.an('error');
    await program.work();
    expect(bench.steps).to.deep.equal(['setStrategy', 'evict 2']);
  });

  it('only reports if MOCO drives', async () => {
    const bench = new Bench();
    bench.atPartition(3);
    await bench.started({ mode: 'MOCO' });
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('AwaitingMoco');
    expect([bench.status.phase, bench.status.strategy]).to.deep.equal(['Progressing', 'MOCO']);
    expect(new Set(bench.server.writes.map(({ path }) => path.split('/').slice(-3).join('/')))).to.deep.equal(
      new Set(['mysqlrollouts/test/status']),
    );
  });

  it('waits for a backup that a person has begun, until its Job is Complete', async () => {
    const bench = new Bench();
    bench.changeCluster({ spec: { backupPolicyName: 'daily' } });
    bench.server.create(jobs, emergencyBackup);
    const program = await bench.started();
    expect([bench.status.hold?.rule, bench.steps]).to.deep.equal(['BackupRunning', []]);
    bench.server.change(jobs, 'emergency-backup', { status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});

describe('a MySQLRollout', () => {
  it('is created if there is none, with nothing but an owner, and used from then on', async () => {
    const bench = new Bench({ rollout: false });
    const program = bench.start();
    expect(await program.turn()).to.deep.equal(nothingMore);
    const { uid } = bench.server.get(clusterKind, 'test').metadata;
    expect(bench.server.writes.map(({ body }) => body)).to.deep.equal([
      {
        apiVersion: 'moco-rollout.io/v1alpha1',
        kind: 'MySQLRollout',
        metadata: {
          namespace: 'default',
          name: 'test',
          ownerReferences: [
            { apiVersion: 'moco.cybozu.com/v1beta2', kind: 'MySQLCluster', name: 'test', uid, controller: true },
          ],
        },
      },
    ]);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('that the cache does not show yet is not created twice, and that is no failure', async () => {
    const [bench, program] = begin();
    program.sync('rollouts');
    expect(await program.pass()).to.deep.equal(nothingMore);
    expect(bench.server.writes.map(({ status }) => status)).to.deep.equal([409]);
  });

  it('is not created in a terminating namespace', async () => {
    const bench = new Bench({ rollout: false });
    const program = bench.start();
    bench.server.refuse('POST', /mysqlrollouts$/, 403, 'Forbidden', {
      details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace default is being terminated' }] },
    });
    expect(await program.turn()).to.deep.equal(nothingMore);
    bench.server.refuse('POST', /mysqlrollouts$/, 404, 'NotFound');
    expect(await program.pass()).to.deep.equal(nothingMore);
  });

  it('that cannot be created is a failure', async () => {
    const bench = new Bench({ rollout: false });
    const program = bench.start();
    bench.server.refuse('POST', /mysqlrollouts$/, 403, 'Forbidden');
    program.sync();
    expect(await outcome(program.pass())).to.include({ status: 403 });
  });

  it('that the user deletes in the middle of a rollout is created again, and the rollout continues', async () => {
    const [bench, program] = await atWork();
    bench.server.remove(rolloutKind, 'test');
    bench.replace(2);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    expect(bench.status.rollout).to.deep.include({ disruptions: 1 });
  });

  it('of an earlier cluster of the same name is left to the garbage collector, and nothing happens meanwhile', async () => {
    const bench = new Bench();
    bench.changeRollout({
      metadata: { ownerReferences: [{ kind: 'MySQLCluster', name: 'test', uid: 'of the earlier one' }] },
      status: { history: [{ revision: 'another', startedAt: bench.now }] },
    });
    const program = bench.start();
    program.sync();
    // It is told of only where it is still there then.
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 10_000 });
    expect(bench.server.writes).to.deep.equal([]);
    bench.server.remove(rolloutKind, 'test');
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.history).to.equal(undefined);
  });

  it('without an owner belongs to the user and is used as it is', async () => {
    const bench = new Bench();
    bench.changeRollout({ metadata: { ownerReferences: null }, spec: { paused: true } });
    await bench.start().work();
    expect(bench.status.hold?.rule).to.equal('Paused');
  });
});

describe('a deleted cluster', () => {
  it('in the middle of a rollout is neither disrupted, written to nor requeued', async () => {
    const [bench, program] = await atWork();
    const before = bench.server.writes.length;
    bench.changeCluster({ metadata: { deletionTimestamp: bench.now } });
    bench.replace(2);
    await program.turn();
    bench.world.freeze(10_000);
    expect(await program.pass()).to.deep.equal(nothingMore);
    bench.server.remove(rolloutKind, 'test');
    bench.server.remove(statefulSets, 'moco-test');
    for (const ordinal of [0, 1, 2]) {
      bench.removePod(ordinal);
      await program.turn();
    }
    bench.server.remove(clusterKind, 'test');
    expect(await program.turn()).to.deep.equal(nothingMore);
    expect(bench.server.writes.slice(before)).to.deep.equal([]);
  });

  it('shares nothing with a later one of the same name', async () => {
    const [bench, program] = await atWork();
    const again = new Bench();
    for (const kind of [clusterKind, statefulSets, podDisruptionBudgets]) {
      const [raw] = again.server.all(kind);
      bench.server.remove(kind, raw?.metadata.name ?? '');
      if (raw) bench.server.create(kind, raw);
    }
    for (const ordinal of [0, 1, 2]) bench.replace(ordinal, { role: ordinal === 0 ? 'primary' : 'replica' });
    await program.work();
    expect(bench.steps, 'the MySQLRollout is still that of the first').to.deep.equal(['evict 2']);
    bench.server.remove(rolloutKind, 'test');
    await program.work();
    expect(bench.status.rollout).to.equal(undefined);
    expect(bench.status.updatedReplicas).to.equal(3);
  });
});
