import { expect } from 'chai';
import { missingRows, type Row, Rows } from './rows.ts';

const acknowledged: readonly Row[] = [
  [0, 1],
  [0, 2],
  [1, 1],
];

describe('the comparison of rows', () => {
  it('finds acknowledged rows that a member does not have, by writer and number', () => {
    expect(missingRows(new Rows(acknowledged), new Rows([[0, 1]]))).to.deep.equal([
      [0, 2],
      [1, 1],
    ]);
    expect(missingRows(new Rows(acknowledged), new Rows())).to.deep.equal(acknowledged);
  });

  it('does not miss rows that were never acknowledged', () => {
    const more: readonly Row[] = [...acknowledged, [0, 3], [7, 1]];
    expect(missingRows(new Rows(acknowledged), new Rows(more))).to.deep.equal([]);
  });

  it('counts each row once', () => {
    const rows = new Rows([...acknowledged, [0, 1]]);
    expect(rows.size).to.equal(3);
    expect(rows.has([0, 1])).to.equal(true);
    expect(rows.has([1, 2])).to.equal(false);
  });
});
