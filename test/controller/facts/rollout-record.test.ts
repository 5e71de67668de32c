import { expect } from 'chai';
import { type MySQLRollout, partialRecord, rolloutKind, usedOf, wholeRecord } from '../../../src/api/rollout.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { Bench, begin, key } from '../bench.ts';

const used = {
  apiVersion: 'moco-rollout.io/v1alpha1',
  kind: 'MySQLRollout',
  metadata: {
    namespace: 'default',
    name: 'test',
    uid: 'uid',
    resourceVersion: '7',
    generation: 2,
    deletionTimestamp: '2026-07-01T12:00:00Z',
    finalizers: ['example.com/keep'],
    ownerReferences: [{ kind: 'MySQLCluster', name: 'test', uid: 'u' }],
  },
  spec: { paused: true },
  status: { phase: 'Paused' },
} satisfies MySQLRollout;
const noted = {
  ...used,
  metadata: { ...used.metadata, labels: { a: 'b' }, annotations: { note: 'x'.repeat(200_000) }, managedFields: [{}] },
} as MySQLRollout;

describe('the cached part of a MySQLRollout', () => {
  it('has no labels, annotations or managed fields', () => {
    expect(usedOf(noted)).to.deep.equal(used);
    expect(wholeRecord(noted)).to.deep.include({ name: 'test', resourceVersion: '7', partial: false });
  });

  it('keeps only the first owners and finalizers, and none of their long texts', () => {
    const many = Array.from({ length: 2000 }, (_, index) => `${index}-${'x'.repeat(700)}`);
    const owners = many.map((name) => ({ kind: 'MySQLCluster', name, uid: name }));
    const others = many.map((name) => ({ kind: 'Other', name, uid: name }));
    const { metadata } = wholeRecord({
      ...used,
      metadata: { ...used.metadata, finalizers: many, ownerReferences: [...others, ...owners] },
    }).object;
    expect(metadata.finalizers).to.have.lengthOf(8);
    expect(metadata.ownerReferences).to.have.lengthOf(8);
    expect(metadata.ownerReferences?.[0]).to.include({ kind: 'MySQLCluster' });
    expect(metadata.ownerReferences?.[0]?.name).to.have.lengthOf(253);
    expect(JSON.stringify(metadata).length).to.be.lessThan(10_000);
  });

  it('is its metadata only if its cluster does not exist', () => {
    const { spec: _spec, status: _status, ...bare } = used;
    expect(partialRecord(noted)).to.deep.include({ object: bare, partial: true });
  });

  it('is its metadata only once its cluster is deleted', () => {
    const [bench, program] = begin();
    program.sync();
    expect(program.cache.rollouts.get('default', 'test')?.partial).to.equal(false);
    bench.server.remove(clusterKind, 'test');
    program.cache.clusters.remove('default', 'test');
    expect(program.cache.rollouts.get('default', 'test')).to.deep.include({ partial: true });
    expect(program.cache.rollouts.get('default', 'test')?.object).to.not.have.any.keys('spec', 'status');
  });

  it('is read by name before any decision if the cluster is created after its MySQLRollout', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = bench.start();
    program.sync();
    program.cache.rollouts.put(partialRecord(bench.server.get(rolloutKind, 'test') as unknown as MySQLRollout));
    await program.pass();
    expect(program.cache.rollouts.get('default', 'test')?.partial).to.equal(false);
    await program.pass();
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'Paused']);
  });

  it('counts for the fleet once it is complete', async () => {
    const bench = new Bench();
    await bench.started();
    expect(bench.status.rollout?.begunAt).to.be.a('string');
    const program = bench.start({});
    program.sync('rollouts');
    program.cache.rollouts.put(partialRecord(bench.server.get(rolloutKind, 'test') as unknown as MySQLRollout));
    expect(program.fleet.numbers.rolling).to.equal(0);
    await program.pass();
    expect(program.fleet.numbers.rolling, key).to.equal(1);
  });
});
