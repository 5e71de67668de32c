import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../src/base/world.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { holderOf, type Lease } from '../../src/kube/lease.ts';
import { LeaseElector, type LeaseElectorOptions } from '../../src/kube/lease-elector.ts';
import { leases } from '../../src/kube/resource.ts';
import { ApiServer } from '../support/api-server/api-server.ts';
import { parse, responseOf } from '../support/api-server/exchange.ts';
import type { StoredObject } from '../support/api-server/stored-object.ts';
import { FakeLog } from './fake-log.ts';
import { answer, FakeWorld, refused, silence, status } from './fake-world.ts';

/** The API server in memory, with its one lease. */
class LeaseServer {
  /** Whose writes have been carried out, by holder. */
  readonly holders: string[] = [];
  readonly #api = new ApiServer(() => 0);

  constructor() {
    this.#api.store.subscribe(({ type, object }) => {
      if (type !== 'DELETED') this.holders.push(holderOf(object as unknown as Lease));
    });
  }

  /** For every candidate alike, unless a script of the test's comes before it. */
  readonly exchange: Exchange = (request) => Promise.resolve(this.answer(request));

  answer(request: ExchangeRequest): ExchangeResponse {
    return responseOf(this.#api.handle(parse(request, 'candidate')));
  }

  get #stored(): StoredObject | null {
    return this.#api.store.get(leases, 'ns', 'moco-rollout');
  }

  get lease(): Lease | null {
    return this.#stored as Lease | null;
  }

  get holder(): string {
    return this.lease === null ? '' : holderOf(this.lease);
  }

  /** Somebody else writes it. */
  put({ metadata, ...lease }: Partial<Lease>): void {
    const place = { namespace: 'ns', name: 'moco-rollout', uid: 'u', resourceVersion: '' };
    this.#api.store.put(leases, { ...lease, metadata: { ...place, ...metadata } });
  }

  delete(): void {
    if (this.#stored) this.#api.store.remove(leases, this.#stored);
  }
}

/** One candidate; its network may be changed at any moment. */
class Candidate {
  readonly log = new FakeLog();
  readonly reported: string[] = [];
  readonly stop = new AbortController();
  readonly elector: LeaseElector;
  network: Exchange;
  ended = false;
  running: Promise<void> = Promise.resolve();

  constructor(world: FakeWorld, server: LeaseServer, identity: string, more: Partial<LeaseElectorOptions> = {}) {
    this.network = server.exchange;
    const clocks = {
      monotonic: () => world.monotonic(),
      wall: () => world.wall(),
      timer: (delayMilliseconds: number, callback: () => void) => world.timer(delayMilliseconds, callback),
      random: () => world.random(),
    };
    const own = { ...clocks, exchange: ((request) => this.network(request)) satisfies Exchange };
    this.elector = new LeaseElector({
      client: new ApiClient({ world: own, qps: 100, burst: 100 }),
      world: own,
      namespace: 'ns',
      name: 'moco-rollout',
      identity,
      leaseDurationMilliseconds: 15_000,
      renewDeadlineMilliseconds: 10_000,
      retryPeriodMilliseconds: 2_000,
      log: this.log,
      onStartedLeading: () => this.reported.push('started'),
      onStoppedLeading: () => this.reported.push('stopped'),
      ...more,
    });
  }

  run(): this {
    this.running = this.#run();
    return this;
  }

  async #run(): Promise<void> {
    await this.elector.run(this.stop.signal);
    this.ended = true;
  }

  get leads(): boolean {
    return this.elector.isLeader();
  }
}

describe('a lease elector', () => {
  let world: FakeWorld;
  let server: LeaseServer;
  const candidates: Candidate[] = [];

  beforeEach(() => {
    world = new FakeWorld();
    server = new LeaseServer();
  });

  afterEach(async () => {
    for (const { stop } of candidates) stop.abort();
    await world.advance(0);
    for (const candidate of candidates) {
      await candidate.running;
      expect(getEventListeners(candidate.stop.signal, 'abort')).to.have.length.at.most(1);
    }
    expect(world.pendingTimers, 'timers left over').to.equal(0);
    candidates.length = 0;
  });

  const candidate = (identity: string, more: Partial<LeaseElectorOptions> = {}): Candidate => {
    const made = new Candidate(world, server, identity, more);
    candidates.push(made);
    return made;
  };

  /** One that leads. */
  const leader = async (more: Partial<LeaseElectorOptions> = {}): Promise<Candidate> => {
    const made = candidate('a', more).run();
    await world.advance(0);
    return made;
  };

  it('creates a missing lease and leads', async () => {
    const a = await leader();
    expect([a.leads, a.reported]).to.deep.equal([true, ['started']]);
    expect(server.lease).to.deep.include({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        acquireTime: '2026-07-01T12:00:00.000000Z',
        renewTime: '2026-07-01T12:00:00.000000Z',
        leaseTransitions: 0,
      },
    });
  });

  it('annotates the lease that it holds, and keeps the annotations of others', async () => {
    const metadata = { namespace: 'ns', name: 'moco-rollout', annotations: { a: '1', b: '1' } };
    server.put({ metadata });
    candidate('a', { annotations: { b: '2' } }).run();
    await world.advance(0);
    expect(server.lease?.metadata.annotations).to.deep.equal({ a: '1', b: '2' });
  });

  it('renews the lease every retry period and keeps acquireTime', async () => {
    const a = candidate('a').run();
    await world.advance(60_000);
    expect(a.leads).to.equal(true);
    expect(server.holders).to.have.length(31);
    expect(server.lease?.spec).to.deep.include({
      acquireTime: '2026-07-01T12:00:00.000000Z',
      renewTime: '2026-07-01T12:01:00.000000Z',
      leaseTransitions: 0,
    });
  });

  it('does not acquire a lease that its holder renews', async () => {
    const a = await leader();
    const b = candidate('b').run();
    await world.advance(600_000);
    expect([a.leads, b.leads, b.reported]).to.deep.equal([true, false, []]);
  });

  it('acquires the lease once it has not changed for its duration, by the local clock', async () => {
    const a = await leader();
    const b = candidate('b').run();
    a.stop.abort();
    await world.advance(14_999);
    expect(b.leads).to.equal(false);
    await world.advance(2_201);
    expect(b.leads).to.equal(true);
    expect(server.lease?.spec).to.include({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('ignores the timestamps of other clocks', async () => {
    server.put({
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' },
    });
    const b = candidate('b').run();
    await world.advance(14_999);
    expect(b.leads).to.equal(false);
    world.wallOffsetMilliseconds -= 3_600_000;
    await world.advance(2_201);
    expect(b.leads).to.equal(true);
  });

  it('waits for the duration in the lease, not for its own', async () => {
    const a = await leader({ leaseDurationMilliseconds: 60_000 });
    const b = candidate('b').run();
    await world.advance(0);
    a.stop.abort();
    await world.advance(59_000);
    expect(b.leads).to.equal(false);
    await world.advance(3_000);
    expect(b.leads).to.equal(true);
  });

  it('acquires a released lease at once', async () => {
    const a = await leader();
    const b = candidate('b').run();
    await world.advance(1_000);
    const releasing = a.elector.release();
    expect(a.leads).to.equal(false);
    await world.advance(0);
    await releasing;
    expect([a.reported, a.ended, server.holder]).to.deep.equal([['started', 'stopped'], true, '']);
    await world.advance(2_400);
    expect(b.leads).to.equal(true);
  });

  it('releases the lease after `run` was aborted, and after an aborted renewal', async () => {
    const a = await leader();
    a.network = (request) => {
      server.answer(request);
      return silence(request);
    };
    await world.advance(2_000);
    a.stop.abort();
    a.network = server.exchange;
    await world.advance(0);
    await a.elector.release();
    expect(server.holder).to.equal('');
  });

  it('does not release the lease of another holder', async () => {
    const a = await leader();
    const b = candidate('b').run();
    await world.advance(5_000);
    await b.elector.release();
    expect([server.holder, a.leads]).to.deep.equal(['a', true]);
    await candidate('c').elector.release();
  });

  it('resolves a release even if the server does not answer', async () => {
    const a = await leader();
    a.network = silence;
    const releasing = a.elector.release();
    await world.advance(5_000);
    await releasing;
    expect(a.log.of('warn')).to.deep.equal(['Failed to release the lease; it will expire']);
  });

  for (const [what, network] of [
    ['refuses connections', refused],
    ['does not answer', silence],
    ['has no time', () => Promise.resolve(answer(500, status(500, 'InternalError')))],
  ] as const) {
    it(`stops leading at the renew deadline, before another candidate may lead, when the server ${what}`, async () => {
      const a = candidate('a').run();
      const b = candidate('b');
      await world.advance(0);
      b.run();
      await world.advance(2_000);
      a.network = network;
      await world.advance(9_999);
      expect([a.leads, b.leads]).to.deep.equal([true, false]);
      await world.advance(1);
      expect([a.leads, a.reported, a.ended]).to.deep.equal([false, ['started', 'stopped'], true]);
      expect(a.log.of('error')).to.deep.equal(['Lost the lease']);
      expect(b.leads).to.equal(false);
      await world.advance(7_200);
      expect(b.leads).to.equal(true);
    });
  }

  it('keeps leading when renewals fail for less than the deadline', async () => {
    const a = await leader();
    a.network = refused;
    await world.advance(7_000);
    a.network = server.exchange;
    await world.advance(60_000);
    expect([a.leads, a.reported]).to.deep.equal([true, ['started']]);
  });

  it('keeps leading when the answer to a renewal is lost', async () => {
    const a = await leader();
    a.network = (request) => {
      a.network = server.exchange;
      server.answer(request);
      return refused();
    };
    await world.advance(60_000);
    expect([a.leads, a.reported]).to.deep.equal([true, ['started']]);
  });

  it('sends no pending renewal after the process was suspended past its deadline', async () => {
    const a = await leader();
    a.network = (request) => {
      world.freeze(10_000);
      request.assertMaySend?.();
      return server.exchange(request);
    };
    await world.advance(2_000);
    await world.advance(0);
    expect([a.leads, a.ended, server.holders]).to.deep.equal([false, true, ['a']]);
  });

  it('counts the deadline from the start of the last renewal', async () => {
    const a = await leader();
    a.network = async (request) => {
      a.network = silence;
      await new Promise<void>((resolve) => {
        world.timer(4_000, resolve);
      });
      return server.answer(request);
    };
    await world.advance(11_999);
    expect(a.leads).to.equal(true);
    await world.advance(1);
    expect(a.leads).to.equal(false);
  });

  it('does not lead after being suspended past its deadline, even before a timer fires', async () => {
    const a = await leader();
    world.freeze(10_000);
    expect(a.leads).to.equal(false);
    await world.advance(0);
    expect([a.reported, a.ended]).to.deep.equal([['started', 'stopped'], true]);
    expect(server.holders).to.deep.equal(['a']);
  });

  it('stops at once when another candidate holds the lease', async () => {
    const a = await leader();
    server.put({ ...server.lease, spec: { ...server.lease?.spec, holderIdentity: 'thief' } });
    await world.advance(2_000);
    expect([a.leads, a.ended, server.holder]).to.deep.equal([false, true, 'thief']);
  });

  it('creates the lease again after it was deleted', async () => {
    const a = await leader();
    server.delete();
    await world.advance(4_000);
    expect([a.leads, server.holder]).to.deep.equal([true, 'a']);
  });

  it('ends when aborted while it waits, and never leads', async () => {
    const a = candidate('a');
    a.network = refused;
    a.run();
    await world.advance(10_000);
    a.stop.abort();
    await world.advance(0);
    expect([a.ended, a.reported]).to.deep.equal([true, []]);
  });

  it('stops leading when onStartedLeading fails', async () => {
    const a = candidate('a', {
      onStartedLeading: () => {
        throw new Error('no');
      },
    }).run();
    await world.advance(0);
    expect([a.leads, a.ended, a.reported]).to.deep.equal([false, true, ['stopped']]);
  });

  it('never has two leaders, for any faults of three candidates and their networks', async () => {
    const network = fc.constantFrom('fine', 'refused', 'silent', 'deaf');
    const step = fc.record({ who: fc.nat({ max: 2 }), network, milliseconds: fc.integer({ min: 0, max: 20_000 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const ownWorld = new FakeWorld();
        const ownServer = new LeaseServer();
        const three = ['a', 'b', 'c'].map((identity) => new Candidate(ownWorld, ownServer, identity).run());
        const networks: Readonly<Record<string, Exchange>> = {
          fine: ownServer.exchange,
          refused,
          silent: silence,
          deaf: (request) => {
            ownServer.answer(request);
            return silence(request);
          },
        };
        const passing = async (milliseconds: number): Promise<void> => {
          for (let left = milliseconds; left > 0; left -= 500) {
            await ownWorld.advance(Math.min(left, 500));
            expect(three.filter(({ leads }) => leads).length).to.be.at.most(1);
          }
        };
        for (const { who, network: which, milliseconds } of steps) {
          (three[who] as Candidate).network = networks[which] as Exchange;
          await passing(milliseconds);
        }
        for (const each of three) each.network = ownServer.exchange;
        await passing(40_000);
        const alive = three.filter(({ ended }) => !ended);
        expect(alive.filter(({ leads }) => leads).length).to.equal(Math.min(1, alive.length));
        for (const { stop } of three) stop.abort();
        await ownWorld.advance(0);
        expect(ownWorld.pendingTimers).to.equal(0);
      }),
      { numRuns: 12 },
    );
  });
});
