import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { commandOf, Recording } from '../../../../hack/bench/record/record.ts';
import { percentile, spreadOf } from '../../../../hack/bench/record/spread.ts';
import { type Table, textOf } from '../../../../hack/bench/record/table.ts';

const program = fileURLToPath(new URL('../../../../hack/bench-one.ts', import.meta.url));
const table: Table = {
  name: 'idle',
  title: 'Nothing to do',
  columns: ['variant', 'MB'],
  rows: [
    ['bundle', '5'],
    ['as it is', '10.25'],
  ],
};

describe('the record of a benchmark', () => {
  it('is a file of measurements, with samples in one line', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-record-'));
    try {
      const file = join(directory, 'new', 'one.json');
      const raw = { samples: [1, 2.5, 3], words: ['a, b', '[c]'] };
      const recording = new Recording('one');
      await recording.write(file, [table], raw);
      const text = await readFile(file, 'utf8');
      const record = recording.record([table], raw);
      expect(JSON.parse(text)).to.deep.include({ name: 'one', tables: [table], raw, nodeVersion: process.version });
      expect(record.date).to.match(/^\d{4}-\d\d-\d\d$/);
      expect(record.commit).to.match(/^([0-9a-f]{12}(-dirty)?|unknown)$/);
      expect(text).to.contain('"samples": [1, 2.5, 3]');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('names the command from the root of the repository, without the output file', () => {
    const expected = 'hack/node.sh hack/bench-one.ts --runs 3';
    expect(commandOf(['node', program, '--record', 'a.json', '--runs', '3'])).to.equal(expected);
    expect(commandOf(['node', program, '--runs', '3', '--record=a.json'])).to.equal(expected);
    expect(commandOf(['node', program, '--output', 'a', '--runs', '3', '--record', 'a.json'])).to.equal(expected);
  });

  it('is printed as a table with aligned figures', () => {
    expect(textOf(table)).to.equal('Nothing to do\n  variant      MB\n  bundle        5\n  as it is  10.25');
  });

  it('has spreads around the median, also for an even number of samples', () => {
    expect(spreadOf([4, 1, 3])).to.deep.equal({ lowest: 1, median: 3, highest: 4 });
    expect(spreadOf([4, 1, 3, 2])).to.deep.equal({ lowest: 1, median: 2.5, highest: 4 });
    expect(percentile([4, 1, 3, 2], 0.5)).to.equal(2);
    expect(percentile([1, 2, 3], 0.99)).to.equal(3);
    expect(spreadOf([])).to.deep.equal({ lowest: Number.NaN, median: Number.NaN, highest: Number.NaN });
  });
});
