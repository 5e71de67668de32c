import { expect } from 'chai';
import { persistentVolumeClaims, pods } from '../../src/kube/resource.ts';
import { answer, status } from '../kube/fake-world.ts';
import { Bench, member } from './bench.ts';
import { claimOf, revisionAfter } from './moco-objects.ts';

const claimPath = (ordinal: number): RegExp => new RegExp(`/persistentvolumeclaims/${claimOf(ordinal)}$`);
const deleteClaim = (bench: Bench, ordinal: number): void => {
  const metadata = { deletionTimestamp: bench.now, finalizers: ['kubernetes.io/pvc-protection'] };
  bench.server.change(persistentVolumeClaims, claimOf(ordinal), { metadata });
};
const readsOf = (bench: Bench, path: string): number => bench.server.reads.filter((read) => read.includes(path)).length;

describe('a member whose claim is being deleted', () => {
  it('is not evicted, and the status names the claim', async () => {
    const bench = new Bench();
    deleteClaim(bench, 2);
    const program = bench.start();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'ClaimTerminating',
      message: `the end of ${member(2)} would destroy its data: its claim ${claimOf(2)} is being deleted and goes with the pod`,
    });
  });

  it('is not evicted if that begins right before the eviction', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    // The second read is that of the confirmation.
    bench.server.script('GET', claimPath(2), (_, carryOut) => {
      const answer = carryOut();
      deleteClaim(bench, 2);
      return answer;
    });
    await program.pass();
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('ClaimTerminating');
  });

  it('is not evicted if the claim is gone', async () => {
    const bench = new Bench();
    bench.server.remove(persistentVolumeClaims, claimOf(2));
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('ClaimTerminating');
  });

  it('goes once a person gives it up', async () => {
    const bench = new Bench();
    deleteClaim(bench, 2);
    bench.setting({ overrides: [{ rule: 'ClaimTerminating', until: '2099-01-01T00:00:00Z', reason: 'cloned anew' }] });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is read again every minute, and the rollout goes on once it has another claim', async () => {
    const bench = new Bench();
    deleteClaim(bench, 2);
    const program = bench.start();
    await program.work();
    bench.removePod(2);
    bench.server.remove(persistentVolumeClaims, claimOf(2));
    bench.replace(2, { revision: revisionAfter });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 1']);
  });

  it('costs two reads a minute while it holds', async () => {
    const bench = new Bench();
    deleteClaim(bench, 2);
    const program = bench.start();
    await program.work();
    const before = readsOf(bench, claimOf(2));
    for (let minute = 0; minute < 3; minute += 1) {
      bench.world.freeze(60_000);
      program.sync();
      await program.pass();
      await program.pass();
    }
    expect(readsOf(bench, claimOf(2))).to.equal(before + 3);
    expect(readsOf(bench, `pods/${member(2)}`), 'volumes of a pod never change').to.equal(1);
  });
});

describe('whether members can come back', () => {
  it('is not read while nothing is to be done', async () => {
    const bench = new Bench({ stale: false });
    await bench.start().work();
    expect(readsOf(bench, 'persistentvolumeclaims')).to.equal(0);
  });

  it('holds every step if it can not be read', async () => {
    const bench = new Bench();
    bench.server.always('GET', claimPath(2), () =>
      answer(403, status(403, 'Forbidden', { message: 'may not get claims' })),
    );
    const program = bench.start();
    program.sync();
    for (let second = 0; second < 15; second += 1) {
      await program.pass().catch(() => undefined);
      bench.world.freeze(1000);
      program.sync();
    }
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({ rule: 'StepRefused' });
    expect(bench.status.hold?.message).to.contain('may not get claims');
  });

  it('is read of the pod that is there', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    bench.server.remove(pods, member(2));
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
  });
});
