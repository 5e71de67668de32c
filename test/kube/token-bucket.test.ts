import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { type Priority, TokenBucket } from '../../src/kube/token-bucket.ts';
import { FakeWorld } from './fake-world.ts';

const priorities: readonly Priority[] = ['lease', 'disrupt', 'status', 'events', 'read'];

const make = (options: { readonly qps: number; readonly burst: number }) => {
  const world = new FakeWorld();
  return { world, bucket: new TokenBucket({ world, ...options }) };
};

describe('a token bucket', () => {
  it('lets a burst through, then limits the rate', async () => {
    const { world, bucket } = make({ qps: 4, burst: 3 });
    const times: number[] = [];
    for (let call = 0; call < 7; call += 1) void bucket.take('read').then(() => times.push(world.monotonic()));
    await world.advance(1_000);
    expect(times).to.deep.equal([0, 0, 0, 250, 500, 750, 1_000]);
    expect(world.pendingTimers).to.equal(0);
  });

  it('saves at most a burst while idle', async () => {
    const { world, bucket } = make({ qps: 4, burst: 3 });
    await world.advance(3_600_000);
    let admitted = 0;
    for (let call = 0; call < 7; call += 1) void bucket.take('read').then(() => (admitted += 1));
    await world.advance(0);
    expect(admitted).to.equal(3);
  });

  it('neither starves nor bursts when the wall clock steps', async () => {
    const { world, bucket } = make({ qps: 10, burst: 1 });
    let admitted = 0;
    for (let call = 0; call < 6; call += 1) void bucket.take('read').then(() => (admitted += 1));
    world.wallOffsetMilliseconds -= 3_600_000;
    await world.advance(200);
    expect(admitted).to.equal(3);
    world.wallOffsetMilliseconds += 7_200_000;
    await world.advance(200);
    expect(admitted).to.equal(5);
  });

  it('forgets aborted callers', async () => {
    const { world, bucket } = make({ qps: 1, burst: 1 });
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

  it('never delays a lease call, however many tokens others have used', async () => {
    const { world, bucket } = make({ qps: 1, burst: 5 });
    void bucket.reserve('disrupt', 1000);
    for (let call = 0; call < 10; call += 1) void bucket.take('read');
    expect(await bucket.take('lease')).to.equal(true);
    expect(world.monotonic()).to.equal(0);
  });

  it('gives tenants turns, and the calls of one tenant in order', async () => {
    const { world, bucket } = make({ qps: 10, burst: 1 });
    const admitted: string[] = [];
    const call = (tenant: string, name: string): void =>
      void bucket.take('read', undefined, tenant).then(() => admitted.push(name));
    for (const number of [1, 2, 3, 4, 5]) call('a', `a${number}`);
    call('b', 'b1');
    call('c', 'c1');
    call('b', 'b2');
    await world.advance(1_000);
    expect(admitted).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5']);
  });

  it('gives lease calls precedence, however long others have waited', async () => {
    const admitted = await inOrder({ qps: 1, burst: 1 }, [
      ['read', 0],
      ['read', 0],
      ['disrupt', 0],
      ['lease', 1_900],
    ]);
    expect(admitted).to.deep.equal(['read at 0', 'disrupt at 1000', 'lease at 1900', 'read at 3000']);
  });

  it('starves no call for more than a second', async () => {
    const disrupt = Array.from({ length: 40 }, (_, call) => ['disrupt', call * 50] as const);
    const admitted = await inOrder({ qps: 10, burst: 1 }, [['read', 10], ['status', 20], ...disrupt]);
    expect(admitted.indexOf('read at 1100')).to.equal(11);
    expect(admitted.indexOf('status at 1200')).to.equal(12);
  });

  it('reserves tokens for several calls, and meanwhile gives none to lower ranks', async () => {
    const { world, bucket } = make({ qps: 10, burst: 5 });
    for (let call = 0; call < 5; call += 1) await bucket.take('read');
    const admitted: string[] = [];
    const note = (what: string) => () => admitted.push(`${what} at ${world.monotonic()}`);
    const reservation = bucket.reserve('disrupt', 4);
    void reservation.then(note('batch'));
    void bucket.take('read').then(note('read'));
    void bucket.take('lease').then(note('lease'));
    await world.advance(1_000);
    expect(admitted).to.deep.equal(['lease at 0', 'batch at 500', 'read at 600']);
  });

  it('takes back unused tokens of a reservation', async () => {
    const { world, bucket } = make({ qps: 1, burst: 5 });
    const reservation = await bucket.reserve('disrupt', 5);
    expect([reservation?.take(), reservation?.take()]).to.deep.equal([true, true]);
    let admitted = 0;
    for (let call = 0; call < 5; call += 1) void bucket.take('read').then(() => (admitted += 1));
    await world.advance(0);
    expect(admitted).to.equal(0);
    reservation?.end();
    reservation?.end();
    await world.advance(0);
    expect(admitted).to.equal(3);
    expect(reservation?.take(), 'it has ended').to.equal(false);
  });

  it('reserves more than its burst in parts, between which other tenants have their turns', async () => {
    const admitted: string[] = [];
    const { world, bucket } = make({ qps: 10, burst: 5 });
    const note = (what: string) => () => admitted.push(`${what} at ${world.monotonic()}`);
    void bucket.reserve('disrupt', 12, undefined, 'greedy').then(note('batch'));
    await world.advance(0);
    void bucket.take('disrupt', undefined, 'other').then(note('call'));
    void bucket.reserve('disrupt', 2, undefined, 'other').then(note('small batch'));
    await world.advance(2_000);
    expect(admitted).to.deep.equal(['call at 600', 'batch at 800', 'small batch at 1000']);
  });

  it('returns the parts of a reservation whose caller aborts', async () => {
    const { world, bucket } = make({ qps: 1, burst: 5 });
    const stop = new AbortController();
    const waiting = bucket.reserve('disrupt', 8, stop.signal);
    await world.advance(0);
    stop.abort();
    expect(await waiting).to.equal(null);
    let admitted = 0;
    for (let call = 0; call < 5; call += 1) void bucket.take('read').then(() => (admitted += 1));
    await world.advance(0);
    expect(admitted).to.equal(5);
  });

  it('makes other tenants wait for at most one burst, however much one tenant reserves', async () => {
    const { world, bucket } = make({ qps: 100, burst: 200 });
    void bucket.reserve('disrupt', 4001, undefined, 'greedy');
    let longest = 0;
    for (let call = 0; call < 10; call += 1) {
      await world.advance(500);
      const since = world.monotonic();
      let isAdmitted = false;
      void bucket.take('disrupt', undefined, 'other').then(() => (isAdmitted = true));
      await world.until(() => isAdmitted, 'a turn', 100);
      longest = Math.max(longest, world.monotonic() - since);
    }
    expect(longest).to.be.at.most(2_100);
  });

  it('forgets a reservation whose caller aborts', async () => {
    const { world, bucket } = make({ qps: 1, burst: 1 });
    await bucket.take('read');
    const stop = new AbortController();
    const waiting = bucket.reserve('disrupt', 10, stop.signal);
    const next = bucket.take('read');
    stop.abort();
    expect(await waiting).to.equal(null);
    await world.advance(1_000);
    expect(await next).to.equal(true);
    expect(world.pendingTimers).to.equal(0);
  });

  for (const [options, expected] of [
    [{ qps: 0, burst: 1 }, 'Expected `qps` to be a number above 0, got 0'],
    [{ qps: Number.NaN, burst: 1 }, 'Expected `qps` to be a number above 0, got NaN'],
    [{ qps: 1, burst: 0 }, 'Expected `burst` to be a number of at least 1, got 0'],
  ] as const) {
    it(`refuses ${JSON.stringify(options)}`, () => {
      expect(() => new TokenBucket({ world: new FakeWorld(), ...options })).to.throw(TypeError, expected);
    });
  }

  it('admits by rank or after a second, in order within a rank, within its rate but for the lease, and every call in the end', async () => {
    const arbitraryCalls = fc.array(fc.tuple(fc.constantFrom(...priorities), fc.integer({ min: 0, max: 500 })), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(arbitraryCalls, fc.integer({ min: 1, max: 5 }), async (calls, burst) => {
        const world = new FakeWorld();
        const qps = 20;
        const bucket = new TokenBucket({ world, qps, burst });
        const waiting: Waiting[] = [];
        const passedOver: unknown[] = [];
        const admittedAt: number[] = [];
        for (const [number, [priority, pause]] of calls.entries()) {
          await world.advance(pause);
          const call = { priority, number, since: world.monotonic() };
          waiting.push(call);
          void (async () => {
            await bucket.take(priority);
            passedOver.push(...waiting.filter((other) => goesBefore(other, call, world.monotonic())));
            waiting.splice(waiting.indexOf(call), 1);
            if (priority !== 'lease') admittedAt.push(world.monotonic());
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

interface Waiting {
  readonly priority: Priority;
  readonly number: number;
  readonly since: number;
}

/** `number` is the order in which they have come. */
function goesBefore(one: Waiting, other: Waiting, now: number): boolean {
  const rank = ({ priority, since }: Waiting): number => {
    if (priority === 'lease') return -2;
    return now - since >= 1_000 ? -1 : Math.min(priorities.indexOf(priority), priorities.indexOf('events'));
  };
  return rank(one) < rank(other) || (rank(one) === rank(other) && one.number < other.number);
}

/** Calls by lane and the time at which they come, as they are admitted. */
async function inOrder(
  options: { readonly qps: number; readonly burst: number },
  calls: readonly (readonly [Priority, number])[],
): Promise<readonly string[]> {
  const { world, bucket } = make(options);
  const admitted: string[] = [];
  for (const [priority, at] of calls) {
    world.timer(at, () => void bucket.take(priority).then(() => admitted.push(`${priority} at ${world.monotonic()}`)));
  }
  await world.advance(10_000);
  return admitted;
}
