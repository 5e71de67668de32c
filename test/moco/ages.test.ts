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
  let clocks: HandDriven;
  let ages: Ages;

  beforeEach(() => {
    clocks = new HandDriven();
    ages = new Ages(clocks);
  });

  const observe = (version: string, value: string, uid?: string): number =>
    ages.observe(() => ages.since(at(version, uid), 'ready', value));

  it('counts from when it was observed', () => {
    observe('1', 'no');
    clocks.pass(3);
    expect(observe('2', 'yes')).to.equal(0);
    clocks.pass(4);
    expect(observe('3', 'yes')).to.equal(4);
  });

  it('restarts when the fact was different in between', () => {
    observe('1', 'yes');
    clocks.pass(10);
    observe('2', 'no');
    clocks.pass(10);
    expect(observe('3', 'yes')).to.equal(0);
    clocks.pass(1);
    expect(observe('3', 'yes')).to.equal(1);
  });

  it("uses the API's timestamp only at the first observation, allowing for its rounding to the second", () => {
    const came = clocks.wall() - 40_000;
    expect(ages.observe(() => ages.since(at('1'), 'ready', 'yes', came))).to.equal(39);
    expect(
      ages.observe(() => ages.since(at('2', 'b'), 'ready', 'yes', came)),
      'a pod that came later',
    ).to.equal(0);
    clocks.pass(2);
    expect(
      ages.observe(() => ages.since(at('3', 'b'), 'ready', 'no', came)),
      'a change',
    ).to.equal(0);
  });

  it('is 0 if the API has no timestamp, or one in the future', () => {
    ages.observe(() => {
      expect(ages.since(at('1'), 'a', 'yes', null)).to.equal(0);
      expect(ages.since(at('1'), 'b', 'yes', clocks.wall() + hour)).to.equal(0);
    });
    clocks.pass(5);
    expect(ages.observe(() => ages.since(at('1'), 'b', 'yes', clocks.wall() + hour))).to.equal(5);
  });

  for (const [what, step] of [
    ['forward', hour],
    ['back', -hour],
  ] as const) {
    it(`does not follow the wall clock when that steps ${what} by an hour`, () => {
      ages.observe(() => ages.since(at('1'), 'ready', 'yes', clocks.wall() - 10_000));
      clocks.wallMilliseconds += step;
      clocks.pass(2);
      const observe = (): readonly number[] =>
        ages.observe(() => [ages.since(at('1'), 'ready', 'yes', 0), ages.since(at('1', 'b'), 'ready', 'yes', 0)]);
      expect(observe()).to.deep.equal([11, 0]);
      clocks.wallMilliseconds -= step;
      clocks.pass(1);
      expect(observe()).to.deep.equal([12, 1]);
    });
  }

  it('is not changed by an object older than one that was observed', () => {
    observe('8', 'no');
    clocks.pass(1);
    observe('10', 'yes');
    clocks.pass(2);
    expect(observe('9', 'no'), 'a cache behind a live read').to.equal(0);
    clocks.pass(3);
    expect(observe('10', 'yes')).to.equal(5);
  });

  it('compares resourceVersions as numbers of any length', () => {
    observe('99999999999999999999', 'no');
    observe('100000000000000000000', 'yes');
    clocks.pass(1);
    observe('99999999999999999999', 'no');
    expect(observe('100000000000000000000', 'yes'), 'of 21 digits').to.equal(1);
  });

  it('belongs to one object: another uid under the same name restarts it', () => {
    observe('1', 'yes', 'a');
    clocks.pass(60);
    expect(observe('2', 'yes', 'b')).to.equal(0);
  });

  it('is forgotten when an observation does not ask for it', () => {
    observe('1', 'yes');
    clocks.pass(60);
    ages.observe(() => {});
    expect(observe('1', 'yes')).to.equal(0);
  });

  it('is the same within one observation', () => {
    const both = ages.observe(() => [
      ages.since(at('1'), 'ready', 'yes', clocks.wall() - 2000),
      ages.since(at('1'), 'ready', 'yes', clocks.wall() - 2000),
    ]);
    clocks.pass(1);
    expect(both).to.deep.equal([1, 1]);
    expect(observe('1', 'yes')).to.equal(2);
  });

  it('survives an observation that throws', () => {
    observe('1', 'yes');
    clocks.pass(1);
    expect(() =>
      ages.observe(() => {
        throw new Error('no');
      }),
    ).to.throw('no');
    expect(observe('1', 'yes')).to.equal(1);
  });
});

describe('what is remembered of a fact', () => {
  it('is its last value, as long as every observation asks for it', () => {
    const ages = new Ages(new HandDriven());
    ages.observe(() => ages.since(at('1'), 'run', 'first'));
    expect(ages.observe(() => ages.remembers('a', 'run', 'first'))).to.equal(true);
    expect(ages.observe(() => ages.remembers('a', 'run', 'second'))).to.equal(false);
    expect(ages.observe(() => ages.remembers('a', 'run', 'first'))).to.equal(true);
    ages.observe(() => {});
    expect(ages.observe(() => ages.remembers('a', 'run', 'first'))).to.equal(false);
  });
});
