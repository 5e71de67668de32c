import { expect } from 'chai';
import { Chance } from './chance.ts';
import { VirtualClock } from './clock.ts';

describe('virtual time', () => {
  it('runs timers in the order of their times, and equal ones in the order in which they were set', async () => {
    const clock = new VirtualClock();
    const happened: string[] = [];
    for (const [milliseconds, what] of [
      [20, 'c'],
      [10, 'a'],
      [20, 'd'],
      [10, 'b'],
      [1_000, 'never'],
    ] as const) {
      clock.after(milliseconds, () => happened.push(`${what} at ${clock.nowMilliseconds}`));
    }
    clock.after(15, () => happened.push('cancelled'))();
    expect(await clock.runUntil(() => false, 100)).to.equal(false);
    expect(happened).to.deep.equal(['a at 10', 'b at 10', 'c at 20', 'd at 20']);
    expect(clock.nowMilliseconds).to.equal(100);
  });

  it('settles all promises before time advances', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    clock.after(1, () => {
      clock.wake();
      void (async () => {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        seen.push(clock.nowMilliseconds);
      })();
    });
    clock.after(2, () => seen.push(clock.nowMilliseconds));
    await clock.runUntil(() => false, 10);
    expect(seen).to.deep.equal([1, 2]);
  });

  it('reports an endless loop in which no time passes', async () => {
    const clock = new VirtualClock();
    const spin = (): void => void clock.after(0, spin);
    spin();
    let failure = '';
    try {
      await clock.runUntil(() => false, 1);
    } catch (error) {
      failure = String(error);
    }
    expect(failure).to.contain('expected time to pass');
  });
});

describe('seeded chance', () => {
  const drawn = (chance: Chance): readonly number[] => Array.from({ length: 5 }, () => chance.whole(0, 1_000_000));

  it('is the same for the same seed and another for another', () => {
    expect(drawn(new Chance('1'))).to.deep.equal(drawn(new Chance('1')));
    expect(drawn(new Chance('1'))).to.not.deep.equal(drawn(new Chance('2')));
  });

  it('has independent streams', () => {
    const chance = new Chance('1');
    const before = drawn(chance.fork('a'));
    drawn(chance.fork('b'));
    chance.next();
    expect(drawn(chance.fork('a'))).to.deep.equal(before);
  });

  it('is evenly distributed', () => {
    const chance = new Chance('even');
    const counts = [0, 0, 0, 0];
    for (let index = 0; index < 40_000; index++) {
      const drawnNumber = chance.whole(0, 3);
      counts[drawnNumber] = (counts[drawnNumber] ?? 0) + 1;
    }
    for (const count of counts) expect(count).to.be.within(9_500, 10_500);
  });
});
