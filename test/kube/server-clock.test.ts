import { expect } from 'chai';
import type { ExchangeRequest, World } from '../../src/base/world.ts';
import { onServerClock } from '../../src/kube/server-clock.ts';
import { FakeLog } from './fake-log.ts';
import { FakeWorld } from './fake-world.ts';

const request: ExchangeRequest = {
  method: 'GET',
  path: '/version',
  headers: {},
  signal: new AbortController().signal,
  pool: 'call',
};
const hour = 3_600_000;

describe("the API server's clock", () => {
  let machine: FakeWorld;
  let log: FakeLog;
  let world: World;
  /** How far that of this machine is ahead. */
  let aheadMilliseconds: number;
  let answerTakesMilliseconds: number;
  let date: (wallMilliseconds: number) => string | undefined;

  beforeEach(() => {
    aheadMilliseconds = 0;
    answerTakesMilliseconds = 0;
    date = (wall) => new Date(wall).toUTCString();
    machine = new FakeWorld(() => {
      const said = date(machine.wall() - aheadMilliseconds);
      machine.freeze(answerTakesMilliseconds);
      return Promise.resolve({
        status: 200,
        headers: said === undefined ? {} : { date: said },
        body: (async function* () {})(),
      });
    });
    log = new FakeLog();
    world = onServerClock(machine, log);
  });

  /** How far the world is ahead of the API server, in seconds. */
  const difference = (): number => (world.wall() - (machine.wall() - aheadMilliseconds)) / 1000;

  it('is that of the machine where they differ by no more than answers can show', async () => {
    aheadMilliseconds = 2500;
    await world.exchange(request);
    expect(world.wall()).to.equal(machine.wall());
    expect(log.lines).to.deep.equal([]);
  });

  for (const hours of [1, -1]) {
    it(`corrects a machine that is ${Math.abs(hours)} h ${hours > 0 ? 'ahead' : 'behind'}, and says so once`, async () => {
      aheadMilliseconds = hours * hour;
      for (let time = 0; time < 3; time += 1) {
        await world.exchange(request);
        machine.freeze(777);
      }
      expect(Math.abs(difference())).to.be.lessThan(2);
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn']);
    });
  }

  it('is that of the machine again once the machine is right', async () => {
    aheadMilliseconds = hour;
    await world.exchange(request);
    machine.wallOffsetMilliseconds -= hour;
    aheadMilliseconds = 0;
    await world.exchange(request);
    expect(world.wall()).to.equal(machine.wall());
  });

  it('is not derived from the duration of an answer', async () => {
    answerTakesMilliseconds = 60_000;
    await world.exchange(request);
    expect(world.wall()).to.equal(machine.wall());
  });

  it('is that of the machine where an answer has none', async () => {
    aheadMilliseconds = hour;
    for (const said of [undefined, 'yesterday']) {
      date = () => said;
      await world.exchange(request);
    }
    expect(world.wall()).to.equal(machine.wall());
  });

  it('has no part in ages and delays', async () => {
    aheadMilliseconds = hour;
    await world.exchange(request);
    expect(world.monotonic()).to.equal(machine.monotonic());
  });
});
