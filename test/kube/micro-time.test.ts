import { expect } from 'chai';
import { microTime } from '../../src/kube/micro-time.ts';

describe('a MicroTime', () => {
  it('has microseconds', () => {
    expect(microTime(Date.parse('2026-07-01T12:00:00.123Z'))).to.equal('2026-07-01T12:00:00.123000Z');
  });

  it('leaves out what is less than a millisecond', () => {
    expect(microTime(1.9)).to.equal('1970-01-01T00:00:00.001000Z');
  });
});
