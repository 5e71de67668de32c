import { expect } from 'chai';
import PQueue from 'p-queue';
import type { World } from '../../../src/base/world.ts';
import { Loop, type LoopOptions } from './loop.ts';

interface Timer {
  readonly milliseconds: number;
  readonly callback: () => void;
}

/** A loop, the timers that it waits for, and how often it has run. */
class Observed {
  readonly loop: Loop;
  runs = 0;
  readonly #pending = new Set<Timer>();

  /** @param run resolves to the delay that it returns; default: none */
  constructor(options: LoopOptions = {}, run: () => Promise<number | null> = async () => null) {
    const timer: World['timer'] = (milliseconds, callback) => {
      const one = { milliseconds, callback };
      this.#pending.add(one);
      return () => this.#pending.delete(one);
    };
    const exchange: World['exchange'] = () => Promise.reject(new Error('expected no request'));
    const world = { monotonic: () => 0, wall: () => 0, random: () => 0, timer, exchange };
    this.loop = new Loop(
      world,
      () => {
        this.runs += 1;
        return run();
      },
      options,
    );
  }

  get waits(): number[] {
    return [...this.#pending].map(({ milliseconds }) => milliseconds);
  }

  /** Lets everything run that waits for nothing but its turn. */
  async trigger(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) this.loop.trigger();
    await turns();
  }

  async fire(): Promise<void> {
    for (const timer of this.#pending) {
      this.#pending.delete(timer);
      timer.callback();
    }
    await turns();
  }
}

async function turns(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('test/support/moco: a loop', () => {
  it('runs once for all triggers of one turn, and once more for triggers during a run', async () => {
    let finish: () => void = () => undefined;
    const one = new Observed({}, () => new Promise((resolve) => (finish = () => resolve(null))));
    await one.trigger(2);
    expect(one.runs).to.equal(1);
    await one.trigger(2);
    for (let time = 0; time < 2; time += 1) {
      finish();
      await turns();
      expect(one.runs).to.equal(2);
    }
    await one.loop.stop();
  });

  it('replaces the delay of an earlier run with that of the latest', async () => {
    const delays = [10, 30];
    const one = new Observed({}, async () => delays.shift() ?? null);
    await one.trigger();
    expect(one.waits).to.deep.equal([10]);
    await one.trigger();
    expect(one.waits).to.deep.equal([30]);
    await one.fire();
    expect(one.waits).to.deep.equal([]);
    expect(one.runs).to.equal(3);
    await one.loop.stop();
  });

  it('batches triggers into one run if it has a delay', async () => {
    const one = new Observed({ delayMilliseconds: 500 });
    await one.trigger();
    await one.trigger();
    expect([one.waits, one.runs]).to.deep.equal([[500], 0]);
    await one.fire();
    expect([one.waits, one.runs]).to.deep.equal([[], 1]);
    await one.trigger();
    await one.loop.stop();
    expect(one.runs).to.equal(1);
  });

  it('waits for its turn among others, and batches triggers meanwhile', async () => {
    const workers = new PQueue({ concurrency: 1 });
    const { promise: other, resolve: otherEnds } = Promise.withResolvers<void>();
    void workers.add(() => other);
    const one = new Observed({ workers });
    await one.trigger();
    await one.trigger();
    expect(one.runs).to.equal(0);
    otherEnds();
    await workers.onIdle();
    await turns();
    expect(one.runs).to.equal(1);
    await one.loop.stop();
  });

  it('retries after a failure, with a growing delay, until it succeeds', async () => {
    const errors: unknown[] = [];
    const refusal = new Error('refused');
    const one = new Observed({ onError: (error) => errors.push(error) }, () =>
      one.runs <= 2 ? Promise.reject(refusal) : Promise.resolve(null),
    );
    await one.trigger();
    const [first = Number.POSITIVE_INFINITY] = one.waits;
    await one.fire();
    expect(one.waits[0]).to.be.greaterThan(first);
    await one.fire();
    expect(errors).to.deep.equal([refusal, refusal]);
    expect(one.waits).to.deep.equal([]);
    await one.loop.stop();
  });

  it('ends when stopped', async () => {
    const one = new Observed({}, async () => 10);
    await one.trigger();
    await one.loop.stop();
    expect(one.waits).to.deep.equal([]);
    await one.trigger();
    expect(one.runs).to.equal(1);
  });
});
