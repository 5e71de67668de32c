import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { jobs, podDisruptionBudgets, pods } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { answer, reset, status } from '../../kube/fake-world.ts';
import { Bench, begin, member } from '../bench.ts';
import { claimOf, emergencyBackup } from '../moco-objects.ts';
import { refusalBy } from '../object-server.ts';

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

/** What is read about whether a member can come back: once before the step is confirmed, and again with that. */
const recreatableReadsOf = (ordinal: number): readonly string[] => {
  const claim = `persistentvolumeclaims/${claimOf(ordinal)}`;
  const volume = `persistentvolumes/volume-of-${claimOf(ordinal)}`;
  const node = 'nodes/n-0';
  return [
    `pods/${member(ordinal)}`,
    claim,
    claim,
    volume,
    volume,
    node,
    node,
    'statefulsets/moco-test',
    'default/pods',
  ];
};

describe('a disruption', () => {
  it('is confirmed by live reads, and then recorded as an intent', async () => {
    const [bench, program] = begin();
    await program.turn();
    expect(bench.server.reads.map((path) => path.split('/').slice(-2).join('/'))).to.have.members([
      'mysqlclusters/test',
      'mysqlrollouts/test',
      'statefulsets/moco-test',
      'poddisruptionbudgets/moco-test',
      'pods/moco-test-0',
      'pods/moco-test-1',
      'pods/moco-test-2',
      ...recreatableReadsOf(2),
    ]);
    expect(
      bench.server.writes.map(({ method, path }) => `${method} ${path.split('/').slice(-2).join('/')}`),
    ).to.deep.equal(['PUT test/status', 'POST moco-test-2/eviction']);
  });

  it('also reads the nodes of the other stale members if nodes are not watched', async () => {
    const nodesRead = async (nodeMaintenanceEnabled: boolean): Promise<number> => {
      const bench = new Bench();
      await bench.start({}, undefined, { nodeMaintenanceEnabled }).turn();
      return bench.server.reads.filter((path) => path.includes('/nodes/')).length;
    };
    expect(await nodesRead(true)).to.equal(2);
    expect(await nodesRead(false)).to.equal(4);
  });

  it('is confirmed by reads in order if an object has changed, the MySQLCluster last', async () => {
    const [bench, program] = begin();
    program.sync();
    bench.server.change(pods, member(0), { metadata: { labels: { changed: 'true' } } });
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.server.reads).to.have.lengthOf(14 + recreatableReadsOf(2).length);
    expect(bench.server.reads.at(-1)).to.contain('mysqlclusters');
  });

  it('carries the uid and resourceVersion of the confirmed pod, as its intent does', async () => {
    const bench = new Bench();
    const { uid, resourceVersion } = bench.server.get(pods, member(2)).metadata;
    const program = bench.start();
    await program.turn();
    const [intended, done] = bench.server.writes;
    expect(intended?.body['status'])
      .to.have.nested.property('intent')
      .that.includes({ step: 'evict', rule: 'ReplicaHealthy', holder: 'process-1', at: bench.now })
      .and.deep.includes({ pods: [{ name: member(2), uid, resourceVersion }] });
    expect(done?.body).to.deep.include({ deleteOptions: { preconditions: { uid, resourceVersion } } });
  });

  it('deletes all members that are down at once, each with its own grace period', async () => {
    const bench = new Bench();
    bench.mysqld(2, 'ImagePullBackOff');
    bench.mysqld(1, 'CrashLoopBackOff');
    const program = bench.start();
    await program.turn();
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
      server.create(jobs, emergencyBackup),
    'Jobs may not be read any more': ({ server }) => server.refuse('GET', /\/jobs$/, 403, 'Forbidden'),
    'MOCO no longer says Healthy': (bench) => bench.changeCluster({ status: { syncedReplicas: 2 } }),
    'the primary has moved': (bench) => bench.changeCluster({ status: { currentPrimaryIndex: 2 } }),
    'the user has paused it': (bench) => bench.setting({ paused: true }),
    'the MySQLCluster is being deleted': (bench) =>
      bench.changeCluster({ metadata: { deletionTimestamp: '2026-07-01T12:00:00Z' } }),
  };
  for (const [what, happens] of Object.entries(vetoes)) {
    it(`does not happen if a live read shows that ${what}, whatever the cache shows`, async () => {
      const bench = new Bench();
      bench.changeCluster({ spec: { backupPolicyName: 'daily' } });
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

  it('reports what the live read found if that prevents it', async () => {
    const [bench, program] = begin();
    program.sync();
    bench.setting({ paused: true });
    await program.pass();
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(await program.registry.getSingleMetricAsString('moco_rollout_stale_members')).to.match(/ 3$/m);
  });

  const ends: Readonly<Record<string, (bench: Bench) => void>> = {
    'the MySQLCluster was deleted': ({ server }) => server.remove(clusterKind, 'test'),
    'the MySQLRollout was deleted': ({ server }) => server.remove(rolloutKind, 'test'),
  };
  for (const [what, happens] of Object.entries(ends)) {
    it(`neither happens nor is retried if a live read shows that ${what}`, async () => {
      const [bench, program] = begin();
      program.sync();
      happens(bench);
      expect(await program.pass()).to.deep.equal({});
      expect(bench.server.writes).to.deep.equal([]);
    });
  }

  it('does not happen if the user changes the MySQLRollout before the intent is written', async () => {
    const [bench, program] = begin();
    bench.server.before('PUT', statusPath, () => bench.setting({ paused: true }));
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(bench.status.intent).to.equal(undefined);
  });

  it('needs a new confirmation once the last one is older than two seconds', async () => {
    const [bench, program] = begin();
    program.sync();
    bench.server.before('PUT', statusPath, () => bench.world.freeze(2001));
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
    await program.turn();
    expect(bench.steps, 'not at once').to.deep.equal([]);
    bench.world.freeze(2000);
    await program.turn();
    expect(bench.steps, 'without a void: its author knows that nothing was sent').to.deep.equal(['evict 2']);
  });

  it('does not happen if the process loses the lease before or after writing the intent', async () => {
    for (const [method, path, intents] of [
      ['GET', /mysqlclusters/, 0],
      ['PUT', statusPath, 1],
    ] as const) {
      const [bench, program] = begin();
      program.sync();
      bench.server.before(method, path, () => {
        program.isLeading = false;
      });
      await program.pass();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.server.writes).to.have.length(intents);
    }
  });

  it('is followed by another step only after the cache shows it', async () => {
    const [bench, program] = begin();
    await program.turn();
    for (let seconds = 0; seconds < 29; seconds += 1) {
      program.sync('pods');
      expect(await program.pass())
        .to.have.property('requeueAfterMilliseconds')
        .that.is.at.most(1000);
      bench.world.freeze(1000);
    }
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is not repeated if the cache never shows it: a live read decides after 30 s', async () => {
    const [bench, program] = begin();
    await program.turn();
    bench.world.freeze(30_001);
    program.sync('pods');
    expect(await program.pass()).to.deep.equal({ requeueAfterMilliseconds: 1000 });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});

describe('a disruption that the API server rejects', () => {
  it('is BlockedByPDB with the budget’s message if the eviction is refused, and retried after 10 s', async () => {
    const [bench, program] = begin();
    const refuse = (): void => bench.server.script('POST', eviction, () => answer(429, refusalBy('moco-test')));
    refuse();
    expect(await program.turn()).to.deep.equal({ requeueAfterMilliseconds: 0 });
    await program.work();
    expect(bench.server.writes.filter(({ path }) => eviction.test(path))).to.have.length(1);
    refuse();
    await program.workAfter(10_000);
    expect(bench.server.writes.filter(({ path }) => eviction.test(path))).to.have.length(2);
    expect(bench.status.hold?.rule).to.equal('BlockedByPDB');
    expect(bench.status.hold?.message).to.equal(
      'the eviction was refused: The disruption budget moco-test needs 2 healthy pods and has 2 currently',
    );
    expect(bench.status.lastStep?.result).to.match(/^refused: The disruption budget moco-test/);
    expect(bench.status.rollout?.disruptions).to.equal(0);
    expect(await program.registry.getSingleMetricAsString('moco_rollout_evictions_refused_total')).to.match(/ 2$/m);
    await program.workAfter(10_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is retried at once when the budget that refused it changes', async () => {
    const [bench, program] = begin();
    bench.server.script('POST', eviction, () => answer(429, refusalBy('moco-test')));
    await program.turn();
    bench.server.change(podDisruptionBudgets, 'moco-test', { status: { expectedPods: 4 } });
    await program.turn();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is StepRefused if no budget caused the 429, for as long as the API server’s Retry-After', async () => {
    const bench = new Bench({ replicas: 1 });
    const program = bench.start();
    bench.server.script('POST', eviction, () => answer(429, status(429, 'TooManyRequests'), { 'retry-after': '7' }));
    expect(await program.turn()).to.deep.equal({ requeueAfterMilliseconds: 7000 });
    bench.world.freeze(6999);
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
    bench.world.freeze(1);
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 0']);
  });

  it('is StepRefused if a DELETE gets a 429, which no budget can cause, and is sent only once', async () => {
    const bench = new Bench();
    bench.mysqld(2, 'ImagePullBackOff');
    const program = bench.start();
    bench.server.script('DELETE', /pods/, () => answer(429, status(429, 'TooManyRequests'), { 'retry-after': '1' }));
    await program.turn();
    await program.pass();
    expect(bench.server.writes.filter(({ method }) => method === 'DELETE')).to.have.length(1);
    expect(await program.registry.getSingleMetricAsString('moco_rollout_evictions_refused_total')).to.match(/ 0$/m);
  });

  it('is shown without its request if the pod has changed or is gone', async () => {
    for (const [code, reason, shown] of [
      [409, 'Conflict', 'conflict: it has changed in the meantime'],
      [404, 'NotFound', 'conflict: it is gone'],
    ] as const) {
      const [bench, program] = begin();
      bench.server.refuse('POST', eviction, code, reason);
      await program.turn();
      bench.world.freeze(500);
      await program.pass();
      expect(bench.status.lastStep?.result).to.equal(shown);
    }
  });

  it('starts over if the pod has changed since the confirmation', async () => {
    const [bench, program] = begin();
    bench.server.before('POST', eviction, () => bench.changePod(2, { metadata: { labels: { x: 'y' } } }));
    expect(await program.turn()).to.deep.equal({ requeueAfterMilliseconds: 1000 });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('keeps its intent if the answer is lost, and the next pass finds the pod terminating and disrupts no other', async () => {
    const [bench, program] = begin();
    bench.server.loseAnswer('POST', eviction);
    expect(await program.turn()).to.deep.equal({ requeueAfterMilliseconds: 0 });
    expect(bench.status.intent?.step).to.equal('evict');
    await program.work();
    expect(bench.steps, 'a lost answer, and nothing after it').to.deep.equal([]);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.lastStep?.result).to.match(/^unknown: /);
    expect(bench.status.members?.[2]?.state).to.equal('terminating');
  });

  for (const [what, lose] of [
    ['its request was lost', ({ server }: Bench) => server.script('POST', eviction, () => reset())],
    ['the answer to its intent was lost', ({ server }: Bench) => server.loseAnswer('PUT', statusPath)],
  ] as const) {
    it(`is invalidated before anything else if ${what}, and then done`, async () => {
      const [bench, program] = begin();
      lose(bench);
      await program.turn();
      await program.work();
      await program.workAfter(2000);
      expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
    });
  }

  it('counts a disruption once if the answer to the status write is lost', async () => {
    const [bench, program] = begin();
    await program.turn();
    await program.turn();
    bench.world.freeze(10_000);
    bench.server.loseAnswer('PUT', statusPath);
    program.sync();
    await failure(program.pass());
    await program.work();
    expect(bench.status.rollout?.disruptions).to.equal(1);
  });
});
