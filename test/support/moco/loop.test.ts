import { expect } from 'chai';
import PQueue from 'p-queue';
import type { World } from '../../../src/kube/world.ts';
import { Loop } from './loop.ts';

interface Timer {
  readonly milliseconds: number;
  readonly callback: () => void;
}

class Timers {
  readonly pending = new Set<Timer>();

  world(): World {
    return {
      monotonic: () => 0,
      wall: () => 0,
      random: () => 0,
      timer: (milliseconds, callback) => {
        const timer = { milliseconds, callback };
        this.pending.add(timer);
        return () => this.pending.delete(timer);
      },
      exchange: () => Promise.reject(new Error('expected no request')),
    };
  }

  get waits(): number[] {
    return [...this.pending].map(({ milliseconds }) => milliseconds);
  }

  fire(): void {
    for (const timer of this.pending) {
      this.pending.delete(timer);
      timer.callback();
    }
  }
}

/** Lets everything run that waits for nothing but its turn. */
async function turns(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('test/support/moco: a loop', () => {
  it('runs once for all triggers of one turn, and once more for triggers during a run', async () => {
    const timers = new Timers();
    let runs = 0;
    let finish: () => void = () => undefined;
    const loop = new Loop(
      timers.world(),
      async () => {
        runs += 1;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return null;
      },
      () => undefined,
    );
    loop.trigger();
    loop.trigger();
    await turns();
    expect(runs).to.equal(1);
    loop.trigger();
    loop.trigger();
    finish();
    await turns();
    expect(runs).to.equal(2);
    finish();
    await turns();
    expect(runs).to.equal(2);
    await loop.stop();
  });

  it('replaces the delay of an earlier run with that of the latest', async () => {
    const timers = new Timers();
    const waits: (number | null)[] = [10, 30, null];
    const loop = new Loop(
      timers.world(),
      async () => waits.shift() ?? null,
      () => undefined,
    );
    loop.trigger();
    await turns();
    expect(timers.waits).to.deep.equal([10]);
    loop.trigger();
    await turns();
    expect(timers.waits).to.deep.equal([30]);
    timers.fire();
    await turns();
    expect(timers.waits).to.deep.equal([]);
    expect(waits).to.deep.equal([]);
    await loop.stop();
  });

  it('batches triggers into one run if it has a delay', async () => {
    const timers = new Timers();
    let runs = 0;
    const run = async (): Promise<null> => {
      runs += 1;
      return null;
    };
    const loop = new Loop(timers.world(), run, () => undefined, { delayMilliseconds: 500 });
    loop.trigger();
    await turns();
    loop.trigger();
    expect(timers.waits).to.deep.equal([500]);
    expect(runs).to.equal(0);
    timers.fire();
    await turns();
    expect(runs).to.equal(1);
    expect(timers.waits).to.deep.equal([]);
    loop.trigger();
    await turns();
    await loop.stop();
    expect(runs).to.equal(1);
  });

  it('waits for its turn among others, and batches triggers meanwhile', async () => {
    const timers = new Timers();
    const workers = new PQueue({ concurrency: 1 });
    const { promise: other, resolve: otherEnds } = Promise.withResolvers<void>();
    void workers.add(() => other);
    let runs = 0;
    const run = async (): Promise<null> => {
      runs += 1;
      return null;
    };
    const loop = new Loop(timers.world(), run, () => undefined, { workers });
    loop.trigger();
    await turns();
    loop.trigger();
    expect(runs).to.equal(0);
    otherEnds();
    await workers.onIdle();
    await turns();
    expect(runs).to.equal(1);
    await loop.stop();
  });

  it('retries after a failure, with a growing delay, until it succeeds', async () => {
    const timers = new Timers();
    const errors: unknown[] = [];
    let fails = 2;
    const loop = new Loop(
      timers.world(),
      async () => {
        fails -= 1;
        if (fails >= 0) {
          throw new Error('refused');
        }
        return null;
      },
      (error) => errors.push(error),
    );
    loop.trigger();
    await turns();
    const first = timers.waits;
    timers.fire();
    await turns();
    expect(timers.waits[0]).to.be.greaterThan(first[0] ?? Number.POSITIVE_INFINITY);
    timers.fire();
    await turns();
    expect(errors).to.have.length(2);
    expect(timers.waits).to.deep.equal([]);
    await loop.stop();
  });

  it('ends when stopped', async () => {
    const timers = new Timers();
    let runs = 0;
    const loop = new Loop(
      timers.world(),
      async () => {
        runs += 1;
        return 10;
      },
      () => undefined,
    );
    loop.trigger();
    await turns();
    await loop.stop();
    expect(timers.waits).to.deep.equal([]);
    loop.trigger();
    await turns();
    expect(runs).to.equal(1);
  });
});
