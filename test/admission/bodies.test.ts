import { expect } from 'chai';
import * as fc from 'fast-check';
import { BodyBudget, type Share } from '../../src/admission/bodies.ts';

const kilobyte = 1024;

describe('the budget of bodies', () => {
  it('drops the largest body if all together exceed the limit, and keeps the others', () => {
    const budget = new BodyBudget(10 * kilobyte);
    const refused: string[] = [];
    const share = (name: string): Share => budget.begin(() => void refused.push(name));
    const [small, large, next] = [share('small'), share('large'), share('next')];
    small.take(kilobyte);
    large.take(7 * kilobyte);
    next.take(2 * kilobyte);
    expect(refused).to.deep.equal(['large']);
    next.take(4 * kilobyte);
    expect(refused).to.deep.equal(['large']);
    next.take(4 * kilobyte);
    expect(refused).to.deep.equal(['large', 'next']);
    small.end();
    expect(budget.bytes).to.equal(0);
  });

  it('counts the overhead of each chunk', () => {
    const budget = new BodyBudget(10 * kilobyte);
    let refused = 0;
    const share = budget.begin(() => void (refused += 1));
    for (let pieces = 0; pieces < 100; pieces += 1) share.take(1);
    expect(refused).to.equal(1);
  });

  it('never keeps more than its limit, and nothing once all have ended', () => {
    const acts = fc.array(fc.record({ of: fc.nat({ max: 4 }), bytes: fc.nat({ max: 5000 }), ends: fc.boolean() }));
    fc.assert(
      fc.property(acts, (all) => {
        const budget = new BodyBudget(10 * kilobyte);
        const shares = Array.from({ length: 5 }, () => budget.begin(() => undefined));
        for (const { of, bytes, ends } of all) {
          if (ends) shares[of]?.end();
          else shares[of]?.take(bytes);
          expect(budget.bytes).to.be.within(0, 10 * kilobyte);
        }
        for (const share of shares) share.end();
        expect(budget.bytes).to.equal(0);
      }),
    );
  });
});
