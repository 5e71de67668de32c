import { expect } from 'chai';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { cronJobs, podDisruptionBudgets, pods } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { answer, reset, status } from '../kube/fake-world.ts';
import { Bench, member } from './bench.ts';
import { refusalBy } from './object-server.ts';

const statusPath = /mysqlrollouts\/test\/status$/;
const eviction = /\/eviction$/;

/** What a pass ends with. */
async function failure(pass: Promise<unknown>): Promise<ApiError> {
  const outcome = await pass.then(
    () => 'a pass that went well',
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error(`expected an ApiError, got ${String(outcome)}`);
}

describe('a disruption', () => {
  it('is confirmed by what is read after it was decided, the MySQLCluster last, and then written down', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    await program.pass();
    const kinds = bench.server.reads.map((path) => path.split('/').slice(-1)[0]);
    expect(kinds.slice(0, 3)).to.have.members(['moco-test', 'moco-test', 'test']);
    expect(kinds.slice(3, -1)).to.have.members(['moco-backup-test', 'moco-test-0', 'moco-test-1', 'moco-test-2']);
    expect(bench.server.reads.at(-1)).to.contain('mysqlclusters');
    expect(
      bench.server.writes.map(({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`),
    ).to.deep.equal(['PUT test/status', 'POST moco-test-2/eviction']);
  });

  it('carries uid and resourceVersion of the very pod that was confirmed, as its intent does', async () => {
    const bench = new Bench();
    const { uid, resourceVersion } = bench.server.get(pods, member(2)).metadata;
    const program = bench.start();
    program.sync();
    await program.pass();
    const [intended, done] = bench.server.writes;
    expect(intended?.body['status'])
      .to.have.nested.property('intent')
      .that.includes({ step: 'evict', rule: 'ReplicaHealthy', holder: 'process-1', at: bench.now })
      .and.deep.includes({ pods: [{ name: member(2), uid, resourceVersion }] });
    expect(done?.body).to.deep.include({ deleteOptions: { preconditions: { uid, resourceVersion } } });
  });

  it('takes all members that are down at once, each with its own grace period', async () => {
    const bench = new Bench();
    bench.mysqld(2, 'ImagePullBackOff');
    bench.mysqld(1, 'CrashLoopBackOff');
    const program = bench.start();
    program.sync();
    await program.pass();
    expect(bench.steps).to.deep.equal(['delete 2', 'delete 1']);
    const [intended, ...deletes] = bench.server.writes.map(({ body }) => body);
    expect(intended).to.have.nested.property('status.intent.pods').with.length(2);
    for (const body of deletes) expect(body).to.have.all.keys('apiVersion', 'kind', 'preconditions');
  });

  const vetoes: Readonly<Record<string, (bench: Bench) => unknown>> = {
    'another member no longer works': (bench) => bench.mysqld(1, 'starting'),
    'the pod has been replaced': (bench) => bench.replace(2, { revision: 'moco-test-5897fd84f8' }),
    'the budget is used up': ({ server }) =>
      server.change(podDisruptionBudgets, 'moco-test', { status: { disruptionsAllowed: 0 } }),
    'the template is back at what it was': (bench) =>
      bench.changeStatefulSet({ status: { updateRevision: 'moco-test-5897fd84f8' } }),
    'a backup has begun, for which MOCO has not closed the budget yet': ({ server }) =>
      server.create(cronJobs, {
        metadata: { name: 'moco-backup-test', namespace: 'default', labels: { 'app.kubernetes.io/instance': 'test' } },
        status: { active: [{ kind: 'Job', name: 'moco-backup-test-1' }] },
      }),
    'MOCO no longer says Healthy': (bench) => bench.changeCluster({ status: { syncedReplicas: 2 } }),
    'the primary has moved': (bench) => bench.changeCluster({ status: { currentPrimaryIndex: 2 } }),
    'the user has paused it': (bench) => bench.wish({ paused: true }),
    'the MySQLCluster is being deleted': (bench) =>
      bench.changeCluster({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
  };
  for (const [what, happens] of Object.entries(vetoes)) {
    it(`is not done where a live read says that ${what}, whatever the cache says`, async () => {
      const bench = new Bench();
      const program = bench.start();
      program.sync();
      happens(bench);
      expect(await program.pass())
        .to.have.property('requeueAfterMilliseconds')
        .that.is.at.most(1000);
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.intent).to.equal(undefined);
    });
  }

  it('that a live read vetoes shows what that read has found', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    bench.wish({ paused: true });
    await program.pass();
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(await program.registry.getSingleMetricAsString('moco_rollout_stale_members')).to.match(/ 3$/m);
  });

  const ends: Readonly<Record<string, (bench: Bench) => void>> = {
    'the MySQLCluster is gone': ({ server }) => server.remove(clusterKind, 'test'),
    'the MySQLRollout is gone': ({ server }) => server.remove(rolloutKind, 'test'),
  };
  for (const [what, happens] of Object.entries(ends)) {
    it(`is not done, nor tried again by itself, where a live read says that ${what}`, async () => {
      const bench = new Bench();
      const program = bench.start();
      program.sync();
      happens(bench);
      expect(await program.pass()).to.deep.equal({});
      expect(bench.server.writes).to.deep.equal([]);
    });
  }

  it('is not done when the user changes the MySQLRollout before it could be written down', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.before('PUT', statusPath, () => bench.wish({ paused: true }));
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(bench.status.intent).to.equal(undefined);
  });

  it('is not done once its confirmation is older than a second, and done after a new one', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    bench.server.before('PUT', statusPath, () => bench.world.freeze(1001));
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
    program.sync();
    await program.pass();
    expect(bench.steps, 'not at once').to.deep.equal([]);
    bench.world.freeze(2000);
    program.sync();
    await program.pass();
    expect(bench.steps, 'without a void: its author knows that nothing was sent').to.deep.equal(['evict 2']);
  });

  it('is not done by a process that stops leading before, or after, it has been written down', async () => {
    for (const [method, path, intents] of [
      ['GET', /mysqlclusters/, 0],
      ['PUT', statusPath, 1],
    ] as const) {
      const bench = new Bench();
      const program = bench.start();
      program.sync();
      bench.server.before(method, path, () => {
        program.isLeading = false;
      });
      await program.pass();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.server.writes).to.have.length(intents);
    }
  });

  it('is followed by no other step until the cache shows it', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    await program.pass();
    for (let seconds = 0; seconds < 29; seconds += 1) {
      program.sync('pods');
      expect(await program.pass())
        .to.have.property('requeueAfterMilliseconds')
        .that.is.at.most(1000);
      bench.world.freeze(1000);
    }
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is not repeated when the cache never shows it: after 30 s a live read decides', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    await program.pass();
    bench.world.freeze(30_001);
    program.sync('pods');
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 1000 });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});

describe('a disruption that the API server does not carry out', () => {
  it('is BlockedByPDB with the words of the budget when an eviction is refused, and tried again after 10 s', async () => {
    const bench = new Bench();
    const program = bench.start();
    const refuse = (): void => bench.server.script('POST', eviction, () => answer(429, refusalBy('moco-test')));
    refuse();
    program.sync();
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 0 });
    await program.work();
    expect(bench.server.writes.filter(({ path }) => eviction.test(path))).to.have.length(1);
    refuse();
    bench.world.freeze(10_000);
    await program.work();
    expect(bench.server.writes.filter(({ path }) => eviction.test(path))).to.have.length(2);
    expect(bench.status.hold?.rule).to.equal('BlockedByPDB');
    expect(bench.status.hold?.message).to.equal(
      'the eviction was refused: The disruption budget moco-test needs 2 healthy pods and has 2 currently',
    );
    expect(bench.status.lastStep?.result).to.match(/^refused: The disruption budget moco-test/);
    expect(bench.status.rollout?.disruptions).to.equal(0);
    expect(await program.registry.getSingleMetricAsString('moco_rollout_evictions_refused_total')).to.match(/ 2$/m);
    bench.world.freeze(10_000);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is tried again at once when the budget that refused it has changed', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.script('POST', eviction, () => answer(429, refusalBy('moco-test')));
    program.sync();
    await program.pass();
    bench.server.change(podDisruptionBudgets, 'moco-test', { status: { expectedPods: 4 } });
    program.sync();
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is StepRefused where no budget is behind a 429, for as long as the API server asks', async () => {
    const bench = new Bench({ replicas: 1 });
    const program = bench.start();
    bench.server.script('POST', eviction, () => answer(429, status(429, 'TooManyRequests'), { 'retry-after': '7' }));
    program.sync();
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 500 });
    bench.world.freeze(6999);
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
    bench.world.freeze(1);
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 0']);
  });

  it('is StepRefused where a DELETE is answered 429, which no budget has a say in, and sent but once', async () => {
    const bench = new Bench();
    bench.mysqld(2, 'ImagePullBackOff');
    const program = bench.start();
    bench.server.script('DELETE', /pods/, () => answer(429, status(429, 'TooManyRequests'), { 'retry-after': '1' }));
    program.sync();
    await program.pass();
    await program.pass();
    expect(bench.server.writes.filter(({ method }) => method === 'DELETE')).to.have.length(1);
    expect(await program.registry.getSingleMetricAsString('moco_rollout_evictions_refused_total')).to.match(/ 0$/m);
  });

  it('shows as the last step where it is forbidden', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.refuse('POST', eviction, 403, 'Forbidden');
    program.sync();
    await program.pass();
    bench.world.freeze(500);
    await program.pass();
    expect(bench.status.lastStep?.result).to.match(/^refused: .*403/);
    expect(bench.steps, 'nothing had to be made void').to.deep.equal([]);
  });

  it('starts over where the pod has changed since it was confirmed', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.before('POST', eviction, () => bench.changePod(2, { metadata: { labels: { x: 'y' } } }));
    program.sync();
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 500 });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('keeps its intent where the answer is lost, and the next pass finds the pod leaving and takes no other', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.loseAnswer('POST', eviction);
    program.sync();
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 0 });
    expect(bench.status.intent?.step).to.equal('evict');
    await program.work();
    expect(bench.steps, 'a lost answer, and nothing after it').to.deep.equal([]);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.lastStep?.result).to.match(/^unknown: /);
    expect(bench.status.members?.['2']?.state).to.equal('leaving');
  });

  it('is made void before anything else where the request itself was lost, and then done anew', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.script('POST', eviction, () => reset());
    program.sync();
    await program.pass();
    await program.work();
    bench.world.freeze(2000);
    await program.work();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
  });

  it('leaves no intent of its own behind where the answer to the intent is lost: it is void before anything else', async () => {
    const bench = new Bench();
    const program = bench.start();
    bench.server.loseAnswer('PUT', statusPath);
    program.sync();
    await program.pass();
    await program.work();
    bench.world.freeze(2000);
    await program.work();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
  });

  it('does not count twice what the status has already when the answer to that is lost', async () => {
    const bench = new Bench();
    const program = bench.start();
    program.sync();
    await program.pass();
    program.sync();
    await program.pass();
    bench.world.freeze(1000);
    bench.server.loseAnswer('PUT', statusPath);
    program.sync();
    await failure(program.pass());
    await program.work();
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });
});
