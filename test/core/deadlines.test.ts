import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.ts';

describe('deadlines', () => {
  it('remember the limit that is reached first', () => {
    const deadlines = new Deadlines();
    expect(deadlines.soonestSeconds).to.equal(null);
    expect(deadlines.reached(10, 60)).to.equal(false);
    expect(deadlines.reached(3, 5)).to.equal(false);
    expect(deadlines.reached(0, 180)).to.equal(false);
    expect(deadlines.soonestSeconds).to.equal(2);
  });

  it('forget a limit that has been reached', () => {
    const deadlines = new Deadlines();
    expect(deadlines.reached(5, 5)).to.equal(true);
    expect(deadlines.reached(6, 5)).to.equal(true);
    expect(deadlines.soonestSeconds).to.equal(null);
  });

  it('ignore an age that is not a number', () => {
    const deadlines = new Deadlines();
    expect(deadlines.reached(Number.NaN, 5)).to.equal(false);
    expect(deadlines.reached(5, Number.NaN)).to.equal(false);
    expect(deadlines.soonestSeconds).to.equal(null);
  });
});
