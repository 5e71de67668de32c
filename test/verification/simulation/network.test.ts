import { expect } from 'chai';
import type { ExchangeRequest } from '../../../src/base/world.ts';
import { ApiServer } from '../../support/api-server/api-server.ts';
import { Chance } from './chance.ts';
import { VirtualClock } from './clock.ts';
import { type Client, Network } from './network.ts';
import type { Mishap } from './trouble.ts';

const podsPath = '/api/v1/namespaces/default/pods';

/** One client that deletes a pod, and what it and the API server have seen of that. */
class Scene {
  readonly clock = new VirtualClock();
  readonly server = new ApiServer(() => this.clock.nowMilliseconds);
  readonly answered: number[] = [];
  readonly strikes: string[] = [];
  readonly handled: string[] = [];
  readonly #network = new Network({
    clock: this.clock,
    wall: () => this.clock.nowMilliseconds,
    renewal: () => '',
    chance: new Chance('network'),
    server: this.server,
    onSent: () => undefined,
    onStrike: (strike) => this.strikes.push(strike),
  });
  readonly #client: Client = {
    process: 0,
    actor: 'somebody',
    deliver: (callback) => callback(),
    writes: () => undefined,
    isAlive: () => true,
    onReported: () => undefined,
    onAnswered: (_, code) => this.answered.push(code),
  };

  constructor(mishap: Mishap | null = null) {
    this.server.handle({ method: 'POST', path: podsPath, body: { metadata: { name: 'a' }, spec: {} }, actor: 'user' });
    this.server.onRequest(({ method, path }) => this.handled.push(`${method} ${path}`));
    const trouble = { requests: 'any', probability: 1, untilMilliseconds: 60_000, process: null } as const;
    if (mishap !== null) this.#network.add({ mishap, ...trouble });
  }

  /** The answer to its author, if any. */
  async remove(giveUpAfterMilliseconds: number): Promise<string> {
    const given = new AbortController();
    this.clock.after(giveUpAfterMilliseconds, () => given.abort());
    let reported = 'nothing';
    const request: ExchangeRequest = {
      method: 'DELETE',
      path: `${podsPath}/a`,
      headers: {},
      body: '{}',
      signal: given.signal,
      pool: 'call',
    };
    void this.#network.exchange(this.#client, request).then(
      ({ status }) => (reported = String(status)),
      (error: Error & { code?: unknown }) => (reported = typeof error.code === 'string' ? error.code : error.name),
    );
    await this.clock.runUntil(() => false, 60_000);
    await Promise.resolve();
    return reported;
  }
}

describe('the simulated network', () => {
  it('carries a request there and its answer back', async () => {
    const scene = new Scene();
    expect(await scene.remove(10_000)).to.equal('200');
    expect(scene.answered).to.deep.equal([200]);
    expect(scene.strikes).to.deep.equal([]);
  });

  const mishaps: readonly (readonly [mishap: Mishap, reported: string, handled: number])[] = [
    [{ kind: 'error', code: 503, retryAfterSeconds: null }, '503', 0],
    [{ kind: 'lost' }, 'ECONNRESET', 1],
    [{ kind: 'reset' }, 'ECONNRESET', 0],
    [{ kind: 'refused' }, 'ECONNREFUSED', 0],
    [{ kind: 'silent' }, 'AbortError', 1],
  ];
  for (const [mishap, reported, handled] of mishaps) {
    it(`makes a request fail: ${mishap.kind}`, async () => {
      const scene = new Scene(mishap);
      expect(await scene.remove(10_000)).to.equal(reported);
      expect(scene.handled).to.have.lengthOf(handled);
      expect(scene.strikes).to.deep.equal([`${mishap.kind} delete`]);
    });
  }

  it('counts no answer as received by a client that has given up, although the request has arrived', async () => {
    const scene = new Scene({ kind: 'slow', thereMilliseconds: 20_000, backMilliseconds: 0 });
    let reported = '';
    for (let tries = 0; tries < 20 && scene.handled.length === 0; tries++) reported = await scene.remove(10_000);
    expect(reported).to.equal('AbortError');
    expect(scene.handled).to.deep.equal([`DELETE ${podsPath}/a`]);
    expect(scene.strikes).to.include('lateRequest');
    expect(scene.answered).to.deep.equal([]);
  });
});
