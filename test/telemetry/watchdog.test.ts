import { expect } from 'chai';
import { healthHandler } from '../../src/telemetry/http-server.ts';
import { Watchdog } from '../../src/telemetry/watchdog.ts';
import { FakeWorld } from '../kube/fake-world.ts';

describe('a watchdog', () => {
  let world: FakeWorld;
  let stalls: number[];
  let watchdog: Watchdog;

  beforeEach(() => {
    world = new FakeWorld();
    stalls = [];
    watchdog = new Watchdog({ clock: world, onStall: (milliseconds) => stalls.push(milliseconds) });
  });

  afterEach(() => {
    watchdog.stop();
    expect(world.pendingTimers, 'timers left over').to.equal(0);
  });

  it('passes while timers fire', async () => {
    await world.advance(3_600_000);
    expect(watchdog.check()).to.equal(null);
    expect(stalls).to.deep.equal([]);
  });

  it('tolerates a short block of the event loop, and reports it from a second up', async () => {
    world.freeze(1_999);
    await world.advance(0);
    expect(stalls).to.deep.equal([]);
    world.freeze(9_999);
    expect(watchdog.check()).to.equal(null);
    await world.advance(0);
    expect(stalls).to.deep.equal([8_999]);
  });

  it('fails the probe once timers have not fired for 10 s, and only as long as that lasts', async () => {
    world.freeze(10_000);
    expect(watchdog.check()).to.equal('expected a timer every 1000 ms, the last one came 10000 ms ago');
    const handler = healthHandler('healthz', { eventLoop: watchdog.check });
    expect(await handler({ verbose: false })).to.include({ status: 500 });
    await world.advance(0);
    expect(watchdog.check()).to.equal(null);
    expect(stalls).to.deep.equal([9_000]);
    expect(await handler({ verbose: false })).to.include({ status: 200 });
  });

  it('sees nothing in a wall clock that jumps', async () => {
    world.wallOffsetMilliseconds -= 3_600_000;
    await world.advance(2_000);
    world.wallOffsetMilliseconds += 7_200_000;
    await world.advance(2_000);
    expect([watchdog.check(), stalls]).to.deep.equal([null, []]);
  });
});
