import { expect } from 'chai';
import { milliseconds, timestampOf } from '../../src/base/json.ts';

describe('a timestamp', () => {
  it('is read as the API server writes it, whole seconds or parts of them', () => {
    expect(milliseconds('1970-01-01T00:00:01Z')).to.equal(1000);
    expect(milliseconds('1970-01-01T00:00:00.250Z')).to.equal(250);
    expect(milliseconds('1970-01-01T00:00:00.250999Z')).to.equal(250);
  });

  it("is null if it can't be parsed", () => {
    for (const text of [null, '', 'yesterday', '2026-13-01T00:00:00Z']) expect(milliseconds(text)).to.equal(null);
  });

  it('round-trips', () => {
    expect(timestampOf(1_782_907_200_500)).to.equal('2026-07-01T12:00:00.500Z');
    expect(milliseconds(timestampOf(1_782_907_200_500))).to.equal(1_782_907_200_500);
  });
});
