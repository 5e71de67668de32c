import { expect } from 'chai';
import { pods } from '../../src/kube/resource.ts';
import { Bench, member, type Process } from './bench.ts';
import type { Raw } from './object-server.ts';

const statusPath = /mysqlrollouts\/test\/status$/;
const eviction = /\/eviction$/;

/** A process that dies as soon as it has written down what it is about to do. Resolves to what it was about to send. */
async function crashBeforeActing(bench: Bench, program: Process): Promise<Raw['metadata']> {
  program.sync();
  bench.server.loseAnswer('PUT', statusPath);
  await program.pass().catch(() => {});
  const [intended] = bench.status.intent?.pods ?? [];
  return bench.server.get(pods, intended?.name ?? '').metadata;
}

async function lateEviction(bench: Bench, { name, uid, resourceVersion }: Raw['metadata']): Promise<number> {
  const { status } = await bench.server.exchange({
    method: 'POST',
    path: `/api/v1/namespaces/default/pods/${name}/eviction`,
    headers: {},
    body: JSON.stringify({ deleteOptions: { preconditions: { uid, resourceVersion } } }),
    signal: new AbortController().signal,
    pool: 'call',
  });
  return status;
}

describe('a new leader', () => {
  const nextSteps: Readonly<Record<string, readonly [happens: (bench: Bench) => void, steps: readonly string[]]>> = {
    'the same step': [() => {}, ['evict 2']],
    'another step': [(bench) => bench.mysqld(1, 'CrashLoopBackOff'), ['delete 1']],
    'no step': [(bench) => bench.setting({ paused: true }), []],
    'a step that only adjusts the StatefulSet': [
      (bench) => bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/strategy': null } } }),
      ['setStrategy', 'evict 2'],
    ],
  };
  for (const [what, [happens, steps]] of Object.entries(nextSteps)) {
    it(`invalidates the step of a leader that died before acting, before it takes ${what}`, async () => {
      const bench = new Bench();
      const intended = await crashBeforeActing(bench, bench.start());
      happens(bench);
      const next = bench.start();
      await next.turn();
      expect(bench.steps).to.deep.equal(['void 2']);
      expect(bench.status.intent).to.equal(undefined);
      expect(await lateEviction(bench, intended), 'what the dead one may still have sent').to.equal(409);
      await next.work();
      expect(bench.steps).to.deep.equal(['void 2', ...steps]);
    });
  }

  it('does so even if its cache does not show the intent yet', async () => {
    const bench = new Bench();
    const next = bench.start();
    next.sync();
    await crashBeforeActing(bench, bench.start());
    expect(await next.pass()).to.deep.equal({ requeueAfterMilliseconds: 0 });
    expect(bench.steps).to.deep.equal(['void 2']);
  });

  it('wins against a late former leader: the pod is disrupted once', async () => {
    const bench = new Bench();
    const [late, next] = [bench.start(), bench.start()];
    late.sync();
    // What the late one has confirmed is a moment old when the other one finds its intent.
    bench.server.script('POST', eviction, async (_, carryOut) => {
      await next.work();
      return carryOut();
    });
    await late.pass();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
    const answers = bench.server.writes.filter(({ path }) => eviction.test(path)).map(({ status }) => status);
    expect(answers).to.deep.equal([201, 409]);
    await late.work();
    await next.work();
    expect(bench.steps).to.deep.equal(['void 2', 'evict 2']);
  });

  it('loses against a former leader that has written its intent in the meantime', async () => {
    const bench = new Bench();
    const [first, second] = [bench.start(), bench.start()];
    second.sync();
    bench.server.script('PUT', statusPath, async (_, carryOut) => {
      await first.turn();
      return carryOut();
    });
    await second.pass();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.intent?.holder).to.equal('process-1');
  });

  it('does not disrupt while the former leader was active just now: every step has one author', async () => {
    const bench = new Bench();
    const [first, second] = [bench.start(), bench.start()];
    for (let round = 0; round < 6; round += 1) {
      for (const program of [first, second]) {
        await program.turn().catch(() => {});
        bench.world.freeze(500);
      }
    }
    expect(bench.steps.filter((step) => step !== 'void 2')).to.deep.equal(['evict 2']);
  });

  it('counts a demotion as attempted that its predecessor was about to cancel', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1);
    const dying = await bench.started();
    bench.world.freeze(90_000);
    await dying.turn();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.rollout?.tries?.count, 'not told yet').to.equal(0);
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    expect(bench.status.rollout?.tries?.count).to.equal(1);
    expect(bench.status.hold?.rule).to.equal('SwitchoverFailing');
  });

  it('cancels at once a demotion that its predecessor could not cancel any more, and counts it once', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1);
    const before = await bench.started();
    const { askedAt } = bench.status.rollout?.tries ?? {};
    bench.world.freeze(90_000);
    await crashBeforeActing(bench, before);
    expect(bench.status.intent?.step).to.equal('undemote');
    const next = bench.start();
    await next.turn();
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.rollout?.tries, 'its time goes on').to.deep.include({ count: 0, askedAt });
    await next.turn();
    expect(bench.steps, 'and is over').to.deep.equal(['demote 0', 'void 0', 'undemote 0']);
    await next.work();
    expect(bench.status.rollout?.tries?.count).to.equal(1);
    expect(bench.status.hold?.rule).to.equal('SwitchoverFailing');
  });

  it('detects a demotion that its predecessor did not report, and counts its switchover', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1);
    const dying = bench.start();
    await dying.turn();
    expect(bench.steps).to.deep.equal(['demote 0']);
    const next = await bench.started();
    expect(bench.steps).to.deep.equal(['demote 0']);
    expect(bench.status.rollout?.tries).to.deep.include({ count: 0, pod: podIdentity(bench, 0) });
    bench.changeCluster({ status: { currentPrimaryIndex: 1 } });
    await next.work();
    expect(bench.status.rollout?.switchovers).to.equal(1);
  });
});

function podIdentity(bench: Bench, ordinal: number): object {
  const { name, uid } = bench.server.get(pods, member(ordinal)).metadata;
  return { name, uid };
}
