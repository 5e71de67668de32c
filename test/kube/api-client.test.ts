import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { Exchange, ExchangeResponse } from '../../src/base/world.ts';
import { ApiClient, type Call } from '../../src/kube/api-client.ts';
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isNotFound,
  isTooManyRequests,
  isUnauthorized,
  wasNeverSent,
} from '../../src/kube/api-error.ts';
import { answer, FakeWorld, inTurn, refused, reset, says, silence, status } from './fake-world.ts';

const get: Call = { method: 'GET', path: '/api/v1/pods', priority: 'read' };
const post: Call = { method: 'POST', path: '/api/v1/pods', priority: 'status', body: { a: 1 } };

function build(exchange: Exchange): { world: FakeWorld; client: ApiClient } {
  const world = new FakeWorld(exchange);
  return { world, client: new ApiClient({ world, qps: 1000, burst: 1000 }) };
}

/** The error that a call ends with, however long it takes on the fake clock. */
async function failure(world: FakeWorld, call: Promise<unknown>): Promise<ApiError> {
  const outcome = await settled(world, call);
  if (outcome instanceof ApiError) return outcome;
  throw new Error(`expected an ApiError, got ${JSON.stringify(outcome)}`);
}

async function settled(world: FakeWorld, call: Promise<unknown>): Promise<unknown> {
  let outcome: { readonly value: unknown } | null = null;
  const reported = call.then(
    (value) => (outcome = { value }),
    (error: unknown) => (outcome = { value: error }),
  );
  await world.until(() => outcome !== null, 'an outcome', 100);
  expect(world.pendingTimers, 'timers left over').to.equal(0);
  return (await reported).value;
}

describe('an API client', () => {
  it('sends JSON and resolves to the JSON of the response', async () => {
    const { world, client } = build(says(200, { answer: 42 }));
    expect(
      await settled(world, client.call({ ...post, query: { dryRun: 'All', force: true, none: undefined } })),
    ).to.deep.equal({ answer: 42 });
    const [request] = world.requests;
    expect(request).to.include({
      method: 'POST',
      path: '/api/v1/pods?dryRun=All&force=true',
      body: '{"a":1}',
      pool: 'call',
    });
    expect(request?.headers).to.deep.equal({
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'moco-rollout',
    });
  });

  it('sends the content type of a patch, and none for a read', async () => {
    const { world, client } = build(says(200));
    const contentType = 'application/merge-patch+json';
    await settled(world, client.call({ ...post, method: 'PATCH', contentType }));
    await settled(world, client.call(get));
    expect(world.requests.map(({ headers }) => headers['content-type'])).to.deep.equal([
      'application/merge-patch+json',
      undefined,
    ]);
  });

  it('resolves to undefined without a body', async () => {
    const { world, client } = build(says(200, ''));
    expect(await settled(world, client.call(post))).to.equal(undefined);
  });

  it('does not read an answer that is larger than one object, unless the request names its own limits', async () => {
    const large = ['x'.repeat(17 * 1024 * 1024)];
    const many = Array.from({ length: 60_000 }, () => 0);
    const own = { mostBytes: 32 * 1024 * 1024, mostValues: 100_000 };
    for (const [code, body] of [
      [200, large],
      [200, many],
      [400, large],
    ] as const) {
      const { world, client } = build(says(code, body));
      for (const call of [get, post]) {
        const error = await failure(world, client.call(call));
        expect(error, `${call.method} ${code}`).to.have.property('reason', 'UnreadableAnswer');
      }
      expect(world.requests, 'sent once each').to.have.lengthOf(2);
      if (code === 200) expect(await settled(world, client.call({ ...get, ...own }))).to.deep.equal(body);
    }
  });

  it('rejects with the fields of a Status', async () => {
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods and has 2 currently', field: 'x' }];
    const { world, client } = build(says(429, status(429, 'TooManyRequests', { details: { causes, name: 'p' } })));
    const error = await failure(world, client.call({ ...post, retries: 0 }));
    expect(error).to.deep.include({ status: 429, reason: 'TooManyRequests', causes, retryAfterSeconds: null });
    expect(error.message).to.equal('POST /api/v1/pods: 429 TooManyRequests: TooManyRequests it is');
    expect([isTooManyRequests(error), isConflict(error), isNotFound(error)]).to.deep.equal([true, false, false]);
  });

  it('names the errors that callers distinguish', async () => {
    const names = { isNotFound, isConflict, isAlreadyExists, isGone, isTooManyRequests, isForbidden, isUnauthorized };
    const { world, client } = build(() => {
      const [code, reason] = expected[world.requests.length - 1] ?? [];
      return Promise.resolve(answer(code ?? 0, status(code ?? 0, reason ?? '')));
    });
    const expected = [
      [404, 'NotFound', 'isNotFound'],
      [409, 'Conflict', 'isConflict'],
      [409, 'AlreadyExists', 'isAlreadyExists'],
      [410, 'Expired', 'isGone'],
      [429, 'TooManyRequests', 'isTooManyRequests'],
      [403, 'Forbidden', 'isForbidden'],
      [401, 'Unauthorized', 'isUnauthorized'],
    ] as const;
    for (const [, , name] of expected) {
      const error = await failure(world, client.call({ ...post, retries: 0 }));
      const holding = Object.entries(names).filter(([, holds]) => holds(error));
      expect(holding.map(([holding]) => holding)).to.deep.equal([name]);
    }
    expect(Object.values(names).some((holds) => holds(new Error('another')))).to.equal(false);
  });

  it('rejects with status and text of an answer that is not a Status', async () => {
    const { world, client } = build(says(404, `<html>\n  ${'x'.repeat(300)}</html>`));
    const error = await failure(world, client.call(get));
    expect(error).to.include({ status: 404, reason: 'NotFound' });
    expect(error.message)
      .to.have.length.below(260)
      .and.to.match(/^GET \/api\/v1\/pods: 404 NotFound: <html> x+…$/);
  });

  describe('retries a read', () => {
    for (const [what, first] of [
      ['a refused connection', refused],
      ['a broken connection', reset],
      ['500', says(500)],
      ['503', says(503)],
      ['429', says(429)],
      ['an answer that is cut', says(200, '{"kind":')],
      ['no answer within the time limit', silence],
    ] as const) {
      it(`after ${what}`, async () => {
        const { world, client } = build(inTurn(first, says(200, { fine: true })));
        expect(await settled(world, client.call(get))).to.deep.equal({ fine: true });
        expect(world.requests).to.have.length(2);
      });
    }

    it('a limited number of times', async () => {
      const { world, client } = build(says(500));
      expect((await failure(world, client.call(get))).status).to.equal(500);
      expect(world.requests).to.have.length(4);
      await failure(world, client.call({ ...get, retries: 0 }));
      expect(world.requests).to.have.length(5);
    });

    for (const code of [400, 401, 403, 404, 409, 410, 422]) {
      it(`but not after ${code}`, async () => {
        const { world, client } = build(says(code));
        await failure(world, client.call(get));
        expect(world.requests).to.have.length(1);
      });
    }
  });

  describe('retries a write', () => {
    for (const [what, first] of [
      ['a refused connection', refused],
      ['429 that says when', says(429, {}, { 'retry-after': '1' })],
      ['503 that says when', says(503, {}, { 'retry-after': '1' })],
      [
        '429 that says when in its Status',
        says(429, status(429, 'TooManyRequests', { details: { retryAfterSeconds: 2 } })),
      ],
    ] as const) {
      it(`after ${what}`, async () => {
        const { world, client } = build(inTurn(first, says(201, { made: true })));
        expect(await settled(world, client.call(post))).to.deep.equal({ made: true });
      });
    }

    for (const [what, first, reason] of [
      ['a broken connection', reset, 'ConnectionLost'],
      ['no answer within the time limit', silence, 'TimedOut'],
      ['an answer that is cut', says(201, '{"kind":'), 'UnreadableAnswer'],
      ['500', says(500), 'InternalError'],
      ['504', says(504), 'Timeout'],
      ['503 that does not say when', says(503), 'ServiceUnavailable'],
      ['429 that does not say when', says(429), 'TooManyRequests'],
    ] as const) {
      it(`but not after ${what}: the write may have been carried out`, async () => {
        const { world, client } = build(inTurn(first, says(201)));
        const error = await failure(world, client.call(post));
        expect(error.reason).to.equal(reason);
        expect(error.status).to.equal(
          ['ConnectionLost', 'TimedOut', 'UnreadableAnswer'].includes(reason) ? 0 : error.status,
        );
        expect(world.requests).to.have.length(1);
      });
    }
  });

  describe('without the lease', () => {
    const asked = async (call: Call, may: () => boolean, exchange: Exchange = says(200)) => {
      const world = new FakeWorld(exchange);
      const client = new ApiClient({ world, qps: 1, burst: 1, mayWrite: (priority) => priority === 'lease' || may() });
      return { world, client, outcome: client.call(call) };
    };

    it('sends no write and reports it; reads and lease calls pass', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const { world, outcome } = await asked({ ...post, method }, () => false);
        expect((await failure(world, outcome)).reason).to.equal('NotLeading');
        expect(world.requests).to.have.length(0);
      }
      for (const call of [get, { ...post, priority: 'lease' as const }]) {
        const { world, outcome } = await asked(call, () => false);
        await settled(world, outcome);
        expect(world.requests).to.have.length(1);
      }
    });

    it('sends no write that waited in the queue until the lease was lost', async () => {
      let may = true;
      const { world, client, outcome } = await asked(get, () => may);
      await settled(world, outcome);
      const late = client.call(post).catch((error: unknown) => error);
      may = false;
      await world.advance(1_000);
      expect(await late).to.have.property('reason', 'NotLeading');
      expect(world.requests).to.have.length(1);
    });

    it('does not retry a write after the lease was lost', async () => {
      let may = true;
      const { world, outcome } = await asked(
        post,
        () => may,
        () => {
          may = false;
          return refused();
        },
      );
      expect((await failure(world, outcome)).reason).to.equal('NotLeading');
      expect(world.requests).to.have.length(1);
    });
  });

  it('does not send a request that its caller no longer wants, and reports that it was never sent', async () => {
    const world = new FakeWorld(says(200));
    const client = new ApiClient({ world, qps: 1, burst: 1 });
    let wanted = true;
    const call = { ...post, isStillWanted: () => wanted };
    await settled(world, client.call(call));
    const late = client.call(call).catch((error: unknown) => error);
    wanted = false;
    await world.advance(1_000);
    const error = await late;
    expect(error).to.have.property('reason', 'TooLate');
    expect(wasNeverSent(error)).to.equal(true);
    expect(world.requests).to.have.length(1);
  });

  it('waits as long as Retry-After requests', async () => {
    const { world, client } = build(inTurn(says(429, {}, { 'retry-after': '7' }), says(200)));
    const call = client.call(post);
    await world.advance(6_999);
    expect(world.requests).to.have.length(1);
    await world.advance(1);
    expect(world.requests).to.have.length(2);
    await call;
  });

  it('leaves a longer Retry-After to the caller', async () => {
    const { world, client } = build(says(503, {}, { 'retry-after': '60' }));
    expect((await failure(world, client.call(get))).retryAfterSeconds).to.equal(60);
    expect(world.requests).to.have.length(1);
  });

  it('times out when a body stops', async () => {
    const exchange: Exchange = (request) =>
      Promise.resolve({ status: 200, headers: {}, body: endless(silence(request)) } satisfies ExchangeResponse);
    const { world, client } = build(exchange);
    expect((await failure(world, client.call(post))).reason).to.equal('TimedOut');
    expect(world.monotonic()).to.be.within(10_000, 10_100);
  });

  it('accepts a time limit for one call', async () => {
    const { world, client } = build(silence);
    await failure(world, client.call({ ...post, timeoutMilliseconds: 500 }));
    expect(world.monotonic()).to.be.within(500, 600);
  });

  for (const [when, exchange] of [
    ['before an answer', silence],
    ['while it waits to try again', says(500)],
  ] as const) {
    it(`rejects at once when its caller aborts ${when}`, async () => {
      const { world, client } = build(exchange);
      const stop = new AbortController();
      const call = client.call({ ...get, signal: stop.signal });
      await world.advance(10);
      stop.abort();
      expect((await failure(world, call)).reason).to.equal('Aborted');
      expect(world.requests).to.have.length(1);
      expect(getEventListeners(stop.signal, 'abort')).to.have.length(0);
    });
  }

  it('sends nothing for an aborted caller', async () => {
    const { world, client } = build(says(200));
    expect((await failure(world, client.call({ ...get, signal: AbortSignal.abort() }))).reason).to.equal('Aborted');
    expect(world.requests).to.have.length(0);
  });

  it('reports a refused connection if all addresses refuse, but not if one broke', async () => {
    const code = (value: string): Error => Object.assign(new Error(value), { code: value });
    const { world, client } = build(
      inTurn(
        () => Promise.reject(new AggregateError([code('ECONNREFUSED'), code('ECONNREFUSED')])),
        () => Promise.reject(new AggregateError([code('ECONNREFUSED'), code('ECONNRESET')])),
      ),
    );
    expect((await failure(world, client.call({ ...post, retries: 0 }))).reason).to.equal('ConnectionRefused');
    expect((await failure(world, client.call({ ...post, retries: 0 }))).reason).to.equal('ConnectionLost');
  });

  it('keeps its rate limit, with the lease first', async () => {
    const world = new FakeWorld(says(200));
    const client = new ApiClient({ world, qps: 10, burst: 2 });
    const calls = (['read', 'events', 'status', 'read', 'disrupt', 'lease'] as const).map((priority) =>
      client.call({ method: 'GET', path: `/${priority}`, priority }),
    );
    await world.advance(400);
    await Promise.all(calls);
    expect(world.requests.map(({ path }) => path)).to.deep.equal([
      '/read',
      '/events',
      '/lease',
      '/disrupt',
      '/status',
      '/read',
    ]);
  });

  describe('streams', () => {
    it('line by line, without a time limit once open, on connections for watches', async () => {
      const gate = Promise.withResolvers<void>();
      const { world, client } = build(() => Promise.resolve({ status: 200, headers: {}, body: slowly(gate.promise) }));
      const lines: string[] = [];
      const reading = (async () => {
        for await (const line of client.stream('/w', { watch: true }, new AbortController().signal)) lines.push(line);
      })();
      await world.advance(3_600_000);
      expect(lines).to.deep.equal(['one']);
      gate.resolve();
      await reading;
      expect(lines).to.deep.equal(['one', 'two']);
      expect(world.requests[0]).to.include({ path: '/w?watch=true', pool: 'watch' });
      expect(world.pendingTimers).to.equal(0);
    });

    it('rejects with the fields of a Status', async () => {
      const { world, client } = build(says(410, status(410, 'Expired')));
      const lines = client.stream('/w', {}, new AbortController().signal);
      expect((await failure(world, lines.next())).status).to.equal(410);
    });

    it('times out without response headers', async () => {
      const { world, client } = build(silence);
      const lines = client.stream('/w', {}, new AbortController().signal);
      expect((await failure(world, lines.next())).reason).to.equal('TimedOut');
    });

    it('closes the connection when its reader stops', async () => {
      let left = false;
      async function* body(): AsyncGenerator<Uint8Array> {
        try {
          yield new TextEncoder().encode('one\ntwo\n');
        } finally {
          left = true;
        }
      }
      const { client } = build(() => Promise.resolve({ status: 200, headers: {}, body: body() }));
      const stop = new AbortController();
      for await (const line of client.stream('/w', {}, stop.signal)) if (line === 'one') break;
      expect(left).to.equal(true);
      expect(getEventListeners(stop.signal, 'abort')).to.have.length(0);
    });
  });
});

async function* endless(never: Promise<never>): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('{');
  yield await never;
}

async function* slowly(gate: Promise<void>): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode('one\ntw');
  await gate;
  yield new TextEncoder().encode('o\n');
}
