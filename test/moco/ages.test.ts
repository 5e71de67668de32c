import { expect } from 'chai';
import { Ages, type Clocks } from '../../src/moco/ages.ts';

const hour = 3_600_000;

/** Two clocks driven by hand. */
class HandDriven implements Clocks {
  monotonicMilliseconds = 5000;
  wallMilliseconds = Date.parse('2026-07-01T12:00:00Z');

  monotonic(): number {
    return this.monotonicMilliseconds;
  }

  wall(): number {
    return this.wallMilliseconds;
  }

  pass(seconds: number): void {
    this.monotonicMilliseconds += seconds * 1000;
    this.wallMilliseconds += seconds * 1000;
  }
}

const at = (resourceVersion: string, uid = 'a') => ({ uid, resourceVersion });

describe('the age of a fact', () => {
  it('counts from the moment at which it was seen to come', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    ages.look(() => ages.since(at('1'), 'ready', 'no'));
    clocks.pass(3);
    expect(ages.look(() => ages.since(at('2'), 'ready', 'yes'))).to.equal(0);
    clocks.pass(4);
    expect(ages.look(() => ages.since(at('3'), 'ready', 'yes'))).to.equal(4);
  });

  it('begins anew when the fact has been otherwise in between', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    const look = (version: string, value: string): number => ages.look(() => ages.since(at(version), 'ready', value));
    look('1', 'yes');
    clocks.pass(10);
    look('2', 'no');
    clocks.pass(10);
    expect(look('3', 'yes')).to.equal(0);
    clocks.pass(1);
    expect(look('3', 'yes')).to.equal(1);
  });

  it('is believed of the API only at the first look, and as what is left when its timestamp was cut to the second', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    const came = clocks.wall() - 40_000;
    expect(ages.look(() => ages.since(at('1'), 'ready', 'yes', came))).to.equal(39);
    expect(
      ages.look(() => ages.since(at('2', 'b'), 'ready', 'yes', came)),
      'a pod that came later',
    ).to.equal(0);
    clocks.pass(2);
    expect(
      ages.look(() => ages.since(at('3', 'b'), 'ready', 'no', came)),
      'a change',
    ).to.equal(0);
  });

  it('is 0 where the API says nothing, or something that is still to come', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    ages.look(() => {
      expect(ages.since(at('1'), 'a', 'yes', null)).to.equal(0);
      expect(ages.since(at('1'), 'b', 'yes', clocks.wall() + hour)).to.equal(0);
    });
    clocks.pass(5);
    expect(ages.look(() => ages.since(at('1'), 'b', 'yes', clocks.wall() + hour))).to.equal(5);
  });

  for (const [what, step] of [
    ['forward', hour],
    ['back', -hour],
  ] as const) {
    it(`does not follow the wall clock when that steps ${what} by an hour`, () => {
      const clocks = new HandDriven();
      const ages = new Ages(clocks);
      ages.look(() => ages.since(at('1'), 'ready', 'yes', clocks.wall() - 10_000));
      clocks.wallMilliseconds += step;
      clocks.pass(2);
      const look = (): readonly number[] =>
        ages.look(() => [ages.since(at('1'), 'ready', 'yes', 0), ages.since(at('1', 'b'), 'ready', 'yes', 0)]);
      expect(look()).to.deep.equal([11, 0]);
      clocks.wallMilliseconds -= step;
      clocks.pass(1);
      expect(look()).to.deep.equal([12, 1]);
    });
  }

  it('is not changed by an object older than one that was seen: that one is behind', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    const look = (version: string, value: string): number => ages.look(() => ages.since(at(version), 'ready', value));
    look('8', 'no');
    clocks.pass(1);
    look('10', 'yes');
    clocks.pass(2);
    expect(look('9', 'no'), 'a cache behind a live read').to.equal(0);
    clocks.pass(3);
    expect(look('10', 'yes')).to.equal(5);
  });

  it('compares resourceVersions as numbers of any length', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    const look = (version: string, value: string): number => ages.look(() => ages.since(at(version), 'ready', value));
    look('99999999999999999999', 'no');
    look('100000000000000000000', 'yes');
    clocks.pass(1);
    look('99999999999999999999', 'no');
    expect(look('100000000000000000000', 'yes'), 'of 21 digits').to.equal(1);
  });

  it('is that of one object: another uid under the same name begins anew', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    ages.look(() => ages.since(at('1', 'a'), 'ready', 'yes'));
    clocks.pass(60);
    expect(ages.look(() => ages.since(at('2', 'b'), 'ready', 'yes'))).to.equal(0);
  });

  it('is forgotten when nobody asks for it in a look', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    ages.look(() => ages.since(at('1'), 'ready', 'yes'));
    clocks.pass(60);
    ages.look(() => {});
    expect(ages.look(() => ages.since(at('1'), 'ready', 'yes'))).to.equal(0);
  });

  it('is the same for everybody who asks within one look', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    const both = ages.look(() => [
      ages.since(at('1'), 'ready', 'yes', clocks.wall() - 2000),
      ages.since(at('1'), 'ready', 'yes', clocks.wall() - 2000),
    ]);
    clocks.pass(1);
    expect(both).to.deep.equal([1, 1]);
    expect(ages.look(() => ages.since(at('1'), 'ready', 'yes'))).to.equal(2);
  });

  it('survives a look that throws', () => {
    const clocks = new HandDriven();
    const ages = new Ages(clocks);
    ages.look(() => ages.since(at('1'), 'ready', 'yes'));
    clocks.pass(1);
    expect(() =>
      ages.look(() => {
        throw new Error('no');
      }),
    ).to.throw('no');
    expect(ages.look(() => ages.since(at('1'), 'ready', 'yes'))).to.equal(1);
  });
});

describe('what is remembered of a fact', () => {
  it('is its last value, as long as it is asked for', () => {
    const ages = new Ages(new HandDriven());
    ages.look(() => ages.since(at('1'), 'run', 'first'));
    expect(ages.look(() => ages.remembers('a', 'run', 'first'))).to.equal(true);
    expect(ages.look(() => ages.remembers('a', 'run', 'second'))).to.equal(false);
    expect(ages.look(() => ages.remembers('a', 'run', 'first'))).to.equal(true);
    ages.look(() => {});
    expect(ages.look(() => ages.remembers('a', 'run', 'first'))).to.equal(false);
  });
});
