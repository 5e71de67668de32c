import { expect } from 'chai';
import { MysqlError, type SqlQuery } from '../../src/mysql/mysql-session.ts';
import { askClone } from '../../src/mysql/statements.ts';

const saying =
  (...rows: Awaited<ReturnType<SqlQuery>>): SqlQuery =>
  () =>
    Promise.resolve(rows);

describe('what mysqld says of the clone that it receives', () => {
  it('is its stage, and how much of all stages is copied', async () => {
    expect(await askClone(saying(['FILE COPY', '1073741824', '5368709120']))).to.deep.equal({
      stage: 'FILE COPY',
      copiedBytes: 1_073_741_824,
      estimatedBytes: 5_368_709_120,
    });
  });

  it('is nothing between two stages, and before the first one', async () => {
    expect(await askClone(saying([null, null, null]))).to.deep.equal({ stage: '', copiedBytes: 0, estimatedBytes: 0 });
  });

  it('is cut and printable, however long the stage is', async () => {
    const { stage } = await askClone(saying([`a\n${'b'.repeat(1000)}`, '0', '0']));
    expect(stage).to.equal(`a?${'b'.repeat(78)}`);
  });

  it('is no answer of a mysqld with other columns', async () => {
    for (const row of [
      ['FILE COPY', 'much', '1'],
      ['FILE COPY', '-1', '1'],
    ]) {
      const failure: unknown = await askClone(saying(row)).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(MysqlError);
    }
  });
});
