import { expect } from 'chai';
import { pods } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { Bench } from '../bench.ts';
import { pod, revisionBefore } from '../moco-objects.ts';

const twentyMinutes = 1_200_000;

/** Member 2 runs and has never been ready, as while it clones. */
function withFreshReplica(): Bench {
  const bench = new Bench();
  bench.server.remove(pods, 'moco-test-2');
  bench.server.create(pods, pod(2, { revision: revisionBefore, role: null, ready: false, at: bench.now }));
  const { status } = bench.server.find(clusterKind, 'test') as unknown as {
    readonly status: { readonly conditions: readonly { readonly type: string }[] };
  };
  const conditions = status.conditions.map((one) => (one.type === 'Healthy' ? { ...one, status: 'False' } : one));
  bench.changeCluster({ status: { ...status, syncedReplicas: 2, conditions } });
  return bench;
}

describe('a replica that clones', () => {
  it('is not restarted, however long it takes, until its agent says that it does not clone', async () => {
    const bench = withFreshReplica();
    bench.replicas.clones.set('moco-test-2', { kind: 'cloning' });
    const program = bench.start();
    await program.work();
    await program.workAfter(twentyMinutes);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('Cloning');
    bench.replicas.clones.delete('moco-test-2');
    await program.workAfter(60_000);
    expect(bench.steps).to.deep.equal(['delete 2']);
  });

  it('is not restarted if its agent says so only right before the write', async () => {
    const bench = withFreshReplica();
    const asked: string[] = [];
    bench.replicas.readClone = ({ name }) => {
      asked.push(name);
      return Promise.resolve({ kind: asked.length === 1 ? 'notCloning' : 'cloning' });
    };
    const program = bench.start();
    await program.work();
    await program.workAfter(120_000);
    expect(asked.length).to.be.greaterThan(1);
    expect(bench.steps).to.deep.equal([]);
  });

  it('alarms once it makes no progress, if mysqld reports its progress, and not before', async () => {
    const bench = withFreshReplica();
    const { mysql } = bench;
    bench.replicas.clones.set('moco-test-2', { kind: 'cloning' });
    const program = bench.startAsking();
    const stalled = () => bench.status.conditions?.find(({ type }) => type === 'Stalled')?.status;
    const gibibyte = 2 ** 30;
    for (let copied = 1; copied <= 5; copied += 1) {
      mysql.clones.set('moco-test-2', {
        stage: 'FILE COPY',
        copiedBytes: copied * gibibyte,
        estimatedBytes: 10 * gibibyte,
      });
      await program.workAfter(300_000);
      await program.reportAll();
    }
    expect([bench.status.hold?.rule, stalled()]).to.deep.equal(['Cloning', 'False']);
    expect(bench.status.hold?.message).to.contain('at least 50% of 10.0 GiB has been copied (stage FILE COPY)');
    for (let minutes = 0; minutes < 12; minutes += 1) await program.workAfter(60_000);
    await program.reportAll();
    expect([bench.status.hold?.rule, stalled()]).to.deep.equal(['Cloning', 'True']);
    expect(bench.status.hold?.message).to.contain('made no progress for 5 minutes');
    expect(bench.steps).to.deep.equal([]);
  });

  it('is left alone while its agent does not answer, until the progress deadline', async () => {
    const bench = withFreshReplica();
    bench.replicas.clones.set('moco-test-2', { kind: 'unknown', message: 'connection refused' });
    const program = bench.start();
    await program.work();
    await program.workAfter(300_000);
    await program.workAfter(20_000);
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'CloneUnknown']);
    await program.workAfter(600_000);
    expect(bench.steps).to.deep.equal(['delete 2']);
  });
});
