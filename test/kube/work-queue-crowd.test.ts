import { expect } from 'chai';
import { WorkQueue } from '../../src/kube/work-queue.ts';
import { FakeWorld, settle } from './fake-world.ts';

/** A queue whose runs are over as soon as they have begun. */
function crowded(keys: number): { readonly world: FakeWorld; readonly queue: WorkQueue; readonly runs: string[] } {
  const world = new FakeWorld();
  const runs: string[] = [];
  const queue = new WorkQueue({
    name: 'clusters',
    world,
    concurrency: 8,
    process: (key) => {
      runs.push(key);
      return Promise.resolve();
    },
    onError: () => undefined,
  });
  for (let key = 0; key < keys; key += 1) queue.add(String(key));
  queue.start();
  return { world, queue, runs };
}

describe('a work queue with many waiting keys', () => {
  it('lets other work run between the runs', async () => {
    const { world, runs } = crowded(1_000);
    await settle();
    expect(runs).to.have.length(0);
    await world.advance(0);
    expect([runs.length, new Set(runs).size]).to.deep.equal([1_000, 1_000]);
    expect(world.pendingTimers).to.equal(0);
  });

  it('adds no delay without a crowd', async () => {
    const { runs } = crowded(16);
    await settle();
    expect(runs).to.have.length(16);
  });

  it('can be drained in the middle of a crowd', async () => {
    const { world, queue, runs } = crowded(1_000);
    await settle();
    const draining = queue.drain(1_000);
    await world.advance(0);
    await draining;
    expect(runs).to.have.length(0);
    expect(world.pendingTimers).to.equal(0);
  });
});
