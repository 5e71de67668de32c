import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { type Lane, TokenBucket } from '../../src/kube/token-bucket.ts';
import { FakeWorld } from './fake-world.ts';
import { patienceMilliseconds } from './patience.ts';

const lanes: readonly Lane[] = ['lease', 'disrupt', 'status', 'events', 'read'];

describe('a token bucket', function suite() {
  this.timeout(patienceMilliseconds);

  it('lets a burst through, then so many a second', async () => {
    const world = new FakeWorld();
    const bucket = new TokenBucket({ world, qps: 4, burst: 3 });
    const times: number[] = [];
    for (let call = 0; call < 7; call += 1) void bucket.take('read').then(() => times.push(world.monotonic()));
    await world.advance(1_000);
    expect(times).to.deep.equal([0, 0, 0, 250, 500, 750, 1_000]);
    expect(world.pendingTimers).to.equal(0);
  });

  it('saves no more than a burst in a quiet time', async () => {
    const world = new FakeWorld();
    const bucket = new TokenBucket({ world, qps: 4, burst: 3 });
    await world.advance(3_600_000);
    let admitted = 0;
    for (let call = 0; call < 7; call += 1) void bucket.take('read').then(() => (admitted += 1));
    await world.advance(0);
    expect(admitted).to.equal(3);
    expect(bucket.waiting).to.equal(4);
  });

  it('neither starves nor bursts when the wall clock steps', async () => {
    const world = new FakeWorld();
    const bucket = new TokenBucket({ world, qps: 10, burst: 1 });
    let admitted = 0;
    for (let call = 0; call < 6; call += 1) void bucket.take('read').then(() => (admitted += 1));
    world.wallOffsetMilliseconds -= 3_600_000;
    await world.advance(200);
    expect(admitted).to.equal(3);
    world.wallOffsetMilliseconds += 7_200_000;
    await world.advance(200);
    expect(admitted).to.equal(5);
  });

  it('forgets whoever gives up', async () => {
    const world = new FakeWorld();
    const bucket = new TokenBucket({ world, qps: 1, burst: 1 });
    await bucket.take('read');
    const stop = new AbortController();
    const waiting = bucket.take('read', stop.signal);
    stop.abort();
    expect(await waiting).to.equal(false);
    expect(world.pendingTimers).to.equal(0);
    expect(getEventListeners(stop.signal, 'abort')).to.have.length(0);
    const next = bucket.take('read');
    await world.advance(1_000);
    expect(await next).to.equal(true);
  });

  for (const [options, expected] of [
    [{ qps: 0, burst: 1 }, 'Expected `qps` to be a number above 0, got 0'],
    [{ qps: Number.NaN, burst: 1 }, 'Expected `qps` to be a number above 0, got NaN'],
    [{ qps: 1, burst: 0 }, 'Expected `burst` to be a number from 1 up, got 0'],
  ] as const) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new TokenBucket({ world: new FakeWorld(), ...options })).to.throw(TypeError, expected);
    });
  }

  it('admits by rank, in order within a rank, never more than its rate, and everybody in the end', async () => {
    const arbitraryCalls = fc.array(fc.tuple(fc.constantFrom(...lanes), fc.integer({ min: 0, max: 500 })), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(arbitraryCalls, fc.integer({ min: 1, max: 5 }), async (calls, burst) => {
        const world = new FakeWorld();
        const qps = 20;
        const bucket = new TokenBucket({ world, qps, burst });
        const waiting: { readonly lane: Lane; readonly number: number }[] = [];
        const passedOver: unknown[] = [];
        const admittedAt: number[] = [];
        for (const [number, [lane, pause]] of calls.entries()) {
          await world.advance(pause);
          const call = { lane, number };
          waiting.push(call);
          void (async () => {
            await bucket.take(lane);
            passedOver.push(...waiting.filter((other) => goesBefore(other, call)));
            waiting.splice(waiting.indexOf(call), 1);
            admittedAt.push(world.monotonic());
          })();
          await world.advance(0);
        }
        await world.advance((calls.length / qps) * 1_000 + 1_000);
        expect({ waiting, passedOver }).to.deep.equal({ waiting: [], passedOver: [] });
        for (const [from, start] of admittedAt.entries()) {
          for (const [to, end] of admittedAt.entries()) {
            if (to > from) expect(to - from + 1).to.be.at.most(burst + ((end - start) / 1_000) * qps + 1e-6);
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

function goesBefore(one: { readonly lane: Lane; readonly number: number }, other: typeof one): boolean {
  const rank = (lane: Lane): number => Math.min(lanes.indexOf(lane), lanes.indexOf('events'));
  return rank(one.lane) < rank(other.lane) || (rank(one.lane) === rank(other.lane) && one.number < other.number);
}
