import { expect } from 'chai';
import * as fc from 'fast-check';
import { ApiError } from '../../src/kube/api-error.ts';
import { type RunResult, WorkQueue } from '../../src/kube/work-queue.ts';
import { FakeWorld, settle } from './fake-world.ts';

interface Run {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly startMilliseconds: number;
  readonly end: (result?: RunResult) => void;
  readonly fail: (error: unknown) => void;
}

/** A queue whose runs end when the test says so. */
class Workshop {
  readonly world = new FakeWorld();
  readonly runs: Run[] = [];
  readonly underWay: Run[] = [];
  readonly errors: string[] = [];
  readonly reported: string[] = [];
  unfinished: () => readonly number[] = () => [];
  readonly queue: WorkQueue;

  constructor(concurrency = 1, tenantOf?: (key: string) => string) {
    this.queue = new WorkQueue({
      ...(tenantOf && { tenantOf }),
      name: 'clusters',
      world: this.world,
      concurrency,
      process: (key, signal) =>
        new Promise<RunResult | void>((resolve, reject) => {
          const run: Run = {
            key,
            signal,
            startMilliseconds: this.world.monotonic(),
            end: (result) => {
              this.underWay.splice(this.underWay.indexOf(run), 1);
              resolve(result);
            },
            fail: (error) => {
              this.underWay.splice(this.underWay.indexOf(run), 1);
              reject(error);
            },
          };
          this.runs.push(run);
          this.underWay.push(run);
        }),
      onError: (key, error, retries) => this.errors.push(`${key} ${String(error)} ${retries}`),
      metrics: {
        observe: (name, unfinished) => {
          this.reported.push(name);
          this.unfinished = unfinished;
          return {
            added: (depth) => this.reported.push(`added ${depth}`),
            started: (waited, depth) => this.reported.push(`started after ${waited} s, ${depth} left`),
            finished: (worked) => this.reported.push(`finished after ${worked} s`),
            retried: () => this.reported.push('retried'),
          };
        },
      },
    });
  }

  /** One that works on these keys. */
  static async on(...keys: readonly string[]): Promise<Workshop> {
    const shop = new Workshop();
    shop.queue.start();
    for (const key of keys) shop.queue.add(key);
    await settle();
    return shop;
  }

  get keys(): string {
    return this.runs.map(({ key }) => key).join('');
  }

  async end(result?: RunResult): Promise<void> {
    this.underWay[0]?.end(result);
    await settle();
  }

  async fail(error: unknown = new Error('no')): Promise<void> {
    this.underWay[0]?.fail(error);
    await settle();
  }
}

describe('a work queue', () => {
  it('runs nothing before it is started, then runs keys in order', async () => {
    const shop = new Workshop();
    for (const key of ['a', 'b', 'a', 'c']) shop.queue.add(key);
    await settle();
    expect([shop.keys, shop.queue.depth]).to.deep.equal(['', 3]);
    shop.queue.start();
    for (let run = 0; run < 3; run += 1) {
      await settle();
      await shop.end();
    }
    expect([shop.keys, shop.queue.depth]).to.deep.equal(['abc', 0]);
  });

  it("starts no run in the caller's stack", async () => {
    const shop = new Workshop();
    shop.queue.start();
    shop.queue.add('a');
    expect(shop.keys).to.equal('');
    shop.queue.add('a');
    await settle();
    expect(shop.keys).to.equal('a');
  });

  it('runs up to its concurrency, and never one key twice at once', async () => {
    const shop = new Workshop(2);
    shop.queue.start();
    for (const key of ['a', 'b', 'c']) shop.queue.add(key);
    await settle();
    shop.queue.add('a');
    shop.queue.add('a');
    await settle();
    expect([shop.keys, shop.queue.depth]).to.deep.equal(['ab', 1]);
    await shop.end();
    expect(shop.keys).to.equal('abc');
    await shop.end();
    expect(shop.keys).to.equal('abca');
    await shop.end();
    await shop.end();
    expect(shop.keys).to.equal('abca');
  });

  it('runs a key after its delay, at the earliest of several times', async () => {
    const shop = new Workshop();
    shop.queue.start();
    shop.queue.addAfter('a', 500);
    shop.queue.addAfter('a', 300);
    shop.queue.addAfter('a', 400);
    await shop.world.advance(299);
    expect(shop.keys).to.equal('');
    await shop.world.advance(1);
    expect(shop.keys).to.equal('a');
    await shop.end();
    await shop.world.advance(1_000);
    expect(shop.keys).to.equal('a');
    expect(shop.world.pendingTimers).to.equal(0);
  });

  it('keeps a delayed add although the key runs before', async () => {
    const shop = new Workshop();
    shop.queue.start();
    shop.queue.addAfter('a', 300);
    shop.queue.add('a');
    await settle();
    await shop.end();
    await shop.world.advance(300);
    expect(shop.keys).to.equal('aa');
  });

  it('treats a delay of zero or NaN as no delay', async () => {
    const shop = new Workshop();
    shop.queue.start();
    shop.queue.addAfter('a', 0);
    shop.queue.addAfter('b', Number.NaN);
    await settle();
    await shop.end();
    expect(shop.keys).to.equal('ab');
  });

  it('requeues when a run requests it', async () => {
    const shop = await Workshop.on('a');
    await shop.end({ requeueAfterMilliseconds: 250 });
    await shop.world.advance(249);
    expect(shop.keys).to.equal('a');
    await shop.world.advance(1);
    expect(shop.keys).to.equal('aa');
  });

  it('retries after a failure with doubled delays until a run succeeds', async () => {
    const shop = await Workshop.on('a');
    for (let failure = 0; failure < 12; failure += 1) {
      await shop.fail();
      await shop.world.advance(60_000);
    }
    await shop.end();
    shop.queue.add('a');
    await settle();
    await shop.fail();
    await shop.world.advance(75);
    const starts = shop.runs.map(({ startMilliseconds }) => startMilliseconds % 60_000);
    expect(starts).to.deep.equal([0, 75, 150, 300, 600, 1200, 2400, 4800, 9600, 19200, 38400, 45000, 45000, 0, 75]);
    expect(shop.errors.slice(-2)).to.deep.equal(['a Error: no 11', 'a Error: no 0']);
  });

  it('honours Retry-After', async () => {
    const shop = await Workshop.on('a');
    await shop.fail(new ApiError({ status: 429, reason: 'TooManyRequests', message: 'later', retryAfterSeconds: 30 }));
    await shop.world.advance(29_999);
    expect(shop.keys).to.equal('a');
    await shop.world.advance(1);
    expect(shop.keys).to.equal('aa');
  });

  it('does not delay other keys when one fails', async () => {
    const shop = await Workshop.on('a', 'b');
    await shop.fail();
    expect(shop.keys).to.equal('ab');
  });

  it('continues when the error handler throws', async () => {
    const world = new FakeWorld();
    let runs = 0;
    const queue = new WorkQueue({
      name: 'q',
      world,
      concurrency: 1,
      process: () => {
        runs += 1;
        throw new Error('no');
      },
      onError: () => {
        throw new Error('not me');
      },
    });
    queue.start();
    queue.add('a');
    await world.advance(75);
    expect(runs).to.equal(2);
    await queue.drain(0);
  });

  it('reports its metrics', async () => {
    const shop = new Workshop();
    shop.queue.add('a');
    shop.queue.add('b');
    shop.queue.start();
    await settle();
    await shop.world.advance(2_000);
    expect(shop.unfinished()).to.deep.equal([2]);
    shop.queue.add('a');
    await shop.fail();
    expect(shop.reported).to.deep.equal([
      'clusters',
      'added 1',
      'added 2',
      'started after 0 s, 1 left',
      'added 1',
      'retried',
      'finished after 2 s',
      'started after 2 s, 1 left',
    ]);
  });

  describe('drained', () => {
    it('starts no more runs, drops waiting keys, and waits for current runs', async () => {
      const shop = new Workshop();
      shop.queue.start();
      shop.queue.add('a');
      shop.queue.add('b');
      shop.queue.addAfter('c', 10);
      await settle();
      let drained = false;
      const draining = shop.queue.drain(1_000).then(() => (drained = true));
      shop.queue.add('d');
      shop.queue.addAfter('e', 1);
      shop.queue.start();
      // What waited and what was planned is dropped; the timer is that of the grace period.
      expect([shop.queue.depth, shop.world.pendingTimers]).to.deep.equal([0, 1]);
      await shop.world.advance(900);
      expect([drained, shop.runs[0]?.signal.aborted]).to.deep.equal([false, false]);
      await shop.end({ requeueAfterMilliseconds: 1 });
      await draining;
      await shop.world.advance(10_000);
      expect(shop.keys).to.equal('a');
      expect(shop.world.pendingTimers).to.equal(0);
    });

    it('aborts current runs after the grace period, and waits for them', async () => {
      const shop = await Workshop.on('a');
      const draining = shop.queue.drain(1_000);
      await shop.world.advance(1_000);
      expect(shop.runs[0]?.signal.aborted).to.equal(true);
      await shop.fail(shop.runs[0]?.signal.reason);
      await draining;
      expect(shop.errors).to.deep.equal([]);
      expect(shop.world.pendingTimers).to.equal(0);
    });

    it('does not wait forever for a run that ignores its signal', async () => {
      const shop = await Workshop.on('a');
      const draining = shop.queue.drain(1_000);
      await shop.world.advance(2_000);
      await draining;
      expect(shop.underWay).to.have.length(1);
    });

    it('resolves at once if nothing runs', async () => {
      const shop = new Workshop();
      shop.queue.add('a');
      await shop.queue.drain(1_000);
      shop.queue.start();
      await settle();
      expect(shop.keys).to.equal('');
    });
  });

  it('runs every key after its last add, and no key twice at once, for any interleaving', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const step = fc.oneof(
      fc.record({ what: fc.constant('add' as const), key }),
      fc.record({ what: fc.constant('addAfter' as const), key, milliseconds: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ what: fc.constant('end' as const), which: fc.nat({ max: 3 }) }),
      fc.record({ what: fc.constant('fail' as const), which: fc.nat({ max: 3 }) }),
      fc.record({ what: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const shop = new Workshop(concurrency);
          shop.queue.start();
          const owed = new Map<string, number>();
          const check = async (): Promise<void> => {
            await shop.world.advance(0);
            const keys = shop.underWay.map((run) => run.key);
            expect(new Set(keys).size, 'a key twice at once').to.equal(keys.length);
            expect(keys.length).to.be.at.most(concurrency);
          };
          for (const taken of steps) {
            const owe = (name: string): unknown => owed.set(name, shop.runs.length);
            switch (taken.what) {
              case 'add':
                owe(taken.key);
                shop.queue.add(taken.key);
                break;
              case 'addAfter':
                owe(taken.key);
                shop.queue.addAfter(taken.key, taken.milliseconds);
                break;
              case 'end':
                shop.underWay[taken.which]?.end();
                break;
              case 'fail': {
                const run = shop.underWay[taken.which];
                if (run) owe(run.key);
                run?.fail(new Error('no'));
                break;
              }
              case 'wait':
                await shop.world.advance(taken.milliseconds);
                break;
            }
            await check();
          }
          for (
            let rounds = 0;
            rounds < 200 && (shop.underWay.length > 0 || shop.world.pendingTimers > 0);
            rounds += 1
          ) {
            while (shop.underWay.length > 0) {
              shop.underWay[0]?.end();
              await check();
            }
            await shop.world.advance(60_000);
          }
          expect(shop.queue.depth).to.equal(0);
          for (const [name, from] of owed) {
            expect(
              shop.runs.slice(from).map((run) => run.key),
              'runs after the last addition',
            ).to.include(name);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

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

describe('a work queue of several tenants', () => {
  const namespaceOf = (key: string): string => key.split('/')[0] ?? '';

  it('gives them turns, and the keys of one tenant in order', async () => {
    const { queue, runs, underWay } = new Workshop(1, namespaceOf);
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'c/1', 'b/2']) queue.add(key);
    queue.start();
    for (let ended = 0; ended < 7; ended += 1) {
      await settle();
      underWay[0]?.end();
    }
    expect(runs.map(({ key }) => key)).to.deep.equal(['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3', 'a/4']);
  });

  it('gives one of them at most half of the workers, while its runs do not end', async () => {
    const { queue, runs, underWay } = new Workshop(4, namespaceOf);
    for (const key of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) queue.add(key);
    queue.start();
    await settle();
    expect(runs.map(({ key }) => key)).to.deep.equal(['a/1', 'a/2']);
    queue.add('b/1');
    await settle();
    expect(runs.map(({ key }) => key)).to.deep.equal(['a/1', 'a/2', 'b/1']);
    underWay.find(({ key }) => key === 'a/1')?.end();
    await settle();
    expect(runs.map(({ key }) => key)).to.deep.equal(['a/1', 'a/2', 'b/1', 'a/3']);
    underWay.find(({ key }) => key === 'b/1')?.end();
    await settle();
    expect(runs).to.have.length(4);
  });
});

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
