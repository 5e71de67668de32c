import { expect } from 'chai';
import { controllerRevisions, pods, statefulSets } from '../../../src/kube/resource.ts';
import { Bench, begin } from '../bench.ts';
import { revisionAfter, revisionBefore } from '../moco-objects.ts';
import { completion, replaceAll, rollOut } from '../whole-rollout.ts';

const controllerRevisionPath = /controllerrevisions/;

/** The StatefulSet controller has stored the template of a revision. */
function storeTemplate(bench: Bench, revision: string, image: string, password: string): void {
  const mysqld = { name: 'mysqld', image, env: [{ name: 'PASSWORD', value: password }] };
  bench.server.create(controllerRevisions, {
    metadata: { name: revision },
    data: { spec: { template: { $patch: 'replace', spec: { containers: [mysqld] } } } },
  });
}

function withTemplates(): Bench {
  const bench = new Bench();
  storeTemplate(bench, revisionBefore, 'mysql:8.4.8', 'swordfish');
  storeTemplate(bench, revisionAfter, 'mysql:8.4.9', 'sesame');
  return bench;
}

const changes = [
  { path: 'spec.containers[mysqld].image', from: 'mysql:8.4.8', to: 'mysql:8.4.9' },
  { path: 'spec.containers[mysqld].env[PASSWORD].value' },
];

describe('the history of rollouts', () => {
  it('has what each rollout changed, how long members were unavailable, and how it ended', async () => {
    const bench = withTemplates();
    const program = bench.start();
    const startedAt = bench.now;
    await rollOut(bench, program);
    const [entry, ...more] = bench.status.history ?? [];
    expect(more).to.deep.equal([]);
    expect(entry).to.deep.include({
      revision: revisionAfter,
      from: revisionBefore,
      startedAt,
      outcome: 'Complete',
      disruptions: 3,
      switchovers: 1,
      changes,
    });
    expect(entry?.memberDurations?.map(({ ordinal }) => ordinal)).to.deep.equal([0, 1, 2]);
    expect(bench.status.rollout).to.equal(undefined);
  });

  it('reads the templates once for each rollout', async () => {
    const bench = withTemplates();
    const reads = (): number => bench.server.reads.filter((path) => controllerRevisionPath.test(path)).length;
    await rollOut(bench, bench.start());
    expect(reads()).to.equal(2);
    await bench.start().work();
    expect(reads()).to.equal(2);
  });

  for (const [why, happens] of Object.entries({
    'was deleted': (bench: Bench) => bench.server.remove(controllerRevisions, revisionBefore),
    'cannot be read': (bench: Bench) => bench.server.refuse('GET', controllerRevisionPath, 403, 'Forbidden'),
  })) {
    it(`leaves the changes of a template out that ${why}, and continues`, async () => {
      const bench = withTemplates();
      happens(bench);
      await rollOut(bench, bench.start());
      expect(bench.status.history?.[0]).to.include({ outcome: 'Complete', from: revisionBefore });
      expect(bench.status.history?.[0]).to.not.have.property('changes');
    });
  }

  it('reads a template again after five minutes if it could not be read', async () => {
    const bench = withTemplates();
    bench.server.refuse('GET', controllerRevisionPath, 403, 'Forbidden');
    const program = await bench.started();
    await program.workAfter(200_000);
    expect(bench.status.rollout?.changes).to.equal(undefined);
    bench.world.freeze(100_000);
    await program.reportAll();
    expect(bench.status.rollout?.changes).to.deep.equal(changes);
  });

  it('records a rollout as complete if the next one begins before the status shows it', async () => {
    const bench = withTemplates();
    const program = await bench.started();
    await replaceAll(bench, program);
    const completeAt = bench.now;
    await program.turn();
    expect(completion(bench)).to.include({ status: 'True' });
    expect(bench.status.history).to.equal(undefined);
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    await program.work();
    expect(bench.status.history).to.have.length(1);
    expect(bench.status.history?.[0]).to.include({
      revision: revisionAfter,
      outcome: 'Complete',
      finishedAt: completeAt,
    });
    expect(bench.status.rollout).to.include({ revision: 'moco-test-third' });
  });

  it('reads no templates for a superseded rollout', async () => {
    const bench = withTemplates();
    const program = bench.start();
    await program.turn();
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    await program.work();
    expect(bench.server.reads.filter((path) => path.endsWith(revisionAfter))).to.deep.equal([]);
  });

  it('starts from the most common revision, or of equally common ones that of the highest ordinal', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1, { revision: 'moco-test-between' });
    await bench.start().work();
    expect(bench.status.rollout?.from).to.equal('moco-test-between');
  });
});

describe('the unavailability of a member', () => {
  it('is counted from the step that disrupted it until it participates again', async () => {
    const [bench, program] = begin();
    await program.turn();
    expect(bench.status.rollout?.unavailableMembers).to.deep.equal([
      { ordinal: 2, since: bench.now, uid: bench.server.find(pods, 'moco-test-2')?.metadata.uid },
    ]);
    bench.world.freeze(12_000);
    bench.replace(2, { ready: false });
    await program.work();
    expect(bench.status.members?.[2]?.updatedAt).to.equal(undefined);
    bench.world.freeze(30_000 - (bench.world.monotonic() % 1000));
    bench.mysqld(2, 'ready');
    const back = bench.now;
    const seconds = (Date.parse(back) - Date.parse(bench.status.rollout?.unavailableMembers?.[0]?.since ?? '')) / 1000;
    await program.turn();
    await program.work();
    expect(seconds).to.be.above(40);
    expect(bench.status.rollout?.memberDurations).to.deep.equal([{ ordinal: 2, seconds: Math.round(seconds) }]);
    expect(bench.status.members?.[2]?.updatedAt).to.equal(back);
    expect(
      bench.status.rollout?.unavailableMembers?.map(({ ordinal }) => ordinal),
      'the next one',
    ).to.deep.equal([1]);
  });

  it('does not begin with a refused eviction', async () => {
    const [bench, program] = begin();
    bench.server.refuse('POST', /\/eviction$/, 429, 'TooManyRequests');
    await program.turn();
    bench.world.freeze(500);
    await program.turn();
    expect(bench.status.rollout).to.deep.include({ waiting: [0, 1, 2], disruptions: 0 });
    expect(bench.status.rollout).to.not.have.any.keys('unavailableMembers', 'memberDurations');
  });

  it('updates the time if a member is up to date with another revision, even if it was never seen stale', async () => {
    const bench = new Bench({ stale: false });
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.world.freeze(60_000);
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    bench.replace(1, { revision: 'moco-test-third' });
    const since = bench.now;
    await program.work();
    expect(bench.status.members?.['1']).to.include({ updated: true, updatedAt: since });
  });

  it('keeps the time at which a member was first seen up to date while it is away or MOCO re-creates the StatefulSet, but not for another revision', async () => {
    const bench = new Bench({ stale: false });
    const program = bench.start();
    const since = bench.now;
    await program.work();
    bench.mysqld(1, 'starting');
    await program.work();
    await program.workAfter(10_000);
    expect(bench.status.members?.[1]).to.include({ state: 'running', updatedAt: since });
    bench.mysqld(1, 'ready');
    await program.work();
    const { status } = bench.server.get(statefulSets, 'moco-test');
    bench.changeStatefulSet({ status: { updateRevision: '' } });
    await program.work();
    await program.workAfter(60_000);
    expect(bench.status.members?.[1]).to.include({ updated: false, updatedAt: since });
    bench.changeStatefulSet({ status });
    await program.work();
    expect(bench.status.members?.[1]).to.include({ updated: true, updatedAt: since });
    bench.setting({ paused: true });
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    await program.work();
    expect(bench.status.members?.[1]).to.not.have.property('updatedAt');
  });
});
