import { expect } from 'chai';
import { statefulSets } from '../../../src/kube/resource.ts';
import { Bench, type Process, passes } from '../bench.ts';
import { heldByMoco, type Patch } from '../object-server.ts';

// Writes to the StatefulSet that take no member themselves and decide what every pod that goes from now on comes back as.

const statefulSetOf = (bench: Bench): Patch => bench.server.get(statefulSets, 'moco-test');
const spec = (bench: Bench): Patch => statefulSetOf(bench)['spec'] as Patch;
const currentRevision = (bench: Bench): unknown => (statefulSetOf(bench)['status'] as Patch)['currentRevision'];

/** What the watches of one kind deliver stays as it was, pass after pass. */
async function passesWithout(bench: Bench, program: Process, silent: 'pods' | 'rollouts', seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    await program.pass();
    program.sync(silent);
    bench.world.freeze(1000);
  }
}

/** In partition mode every member is down, and MOCO has noticed. A person has paused the rollout. */
async function allDownWhilePaused(): Promise<readonly [Bench, Process]> {
  const bench = new Bench();
  bench.atPartition(3);
  for (const ordinal of [0, 1, 2]) bench.mysqld(ordinal, 'CrashLoopBackOff');
  const conditions = [
    { type: 'Initialized', status: 'True' },
    { type: 'Healthy', status: 'False' },
    { type: 'Available', status: 'False' },
    { type: 'ReconcileSuccess', status: 'True', observedGeneration: 1 },
  ];
  bench.changeCluster({ status: { conditions } });
  bench.setting({ paused: true });
  const program = bench.start({ mode: 'Partition' });
  await passes(bench, program, 3);
  expect(bench.steps).to.deep.equal([]);
  expect(bench.status.hold?.rule).to.equal('Paused');
  return [bench, program];
}

/** New pods start at the current revision, since the rollout is paused. */
async function keptWhilePaused(): Promise<readonly [Bench, Process]> {
  const bench = new Bench();
  bench.server.admit = heldByMoco;
  bench.setting({ paused: true });
  const program = await bench.started();
  expect(bench.steps).to.deep.equal(['keepRevisions']);
  return [bench, program];
}

describe('a write with the effect of a disruption', () => {
  it('does not promote the update revision for members that serve again, whatever the cache shows', async () => {
    const [bench, program] = await allDownWhilePaused();
    const before = currentRevision(bench);
    for (const ordinal of [0, 1, 2]) bench.mysqld(ordinal, 'ready');
    bench.setting({ paused: false });
    program.sync('pods');
    await passesWithout(bench, program, 'pods', 4);
    expect(bench.steps).to.deep.equal([]);
    expect(currentRevision(bench)).to.equal(before);
  });

  it('promotes the update revision for members that are still down', async () => {
    const [bench, program] = await allDownWhilePaused();
    bench.setting({ paused: false });
    program.sync('pods');
    await passesWithout(bench, program, 'pods', 1);
    expect(bench.steps[0]).to.equal('promoteRevision');
  });

  it('does not let new pods start at the update revision in a rollout that a person has paused again, whatever the cache shows', async () => {
    const [bench, program] = await keptWhilePaused();
    bench.setting({ paused: false });
    program.sync();
    bench.setting({ paused: true });
    await passesWithout(bench, program, 'rollouts', 100);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(spec(bench)['updateStrategy']).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } });
  });

  it('lets new pods start at the update revision in a rollout that continues', async () => {
    const [bench, program] = await keptWhilePaused();
    bench.setting({ paused: false });
    program.sync();
    await passesWithout(bench, program, 'rollouts', 1);
    expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
  });
});
