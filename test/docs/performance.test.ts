import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { BenchRecord } from '../../hack/bench/record/record.ts';
import {
  performancePages,
  readRecords,
  recordsFolder,
  withPerformanceTables,
} from '../../hack/docs/performance-tables.ts';

const record: BenchRecord = {
  name: 'one',
  command: 'hack/node.sh hack/bench-one.ts --runs 3',
  date: '2026-01-02',
  commit: '0123456789ab',
  machine: { processor: 'A processor', cores: 2, memoryBytes: 8e9, kernel: '6.18.5' },
  loadAverage: { before: 0.25, after: 1 },
  nodeVersion: 'v24.21.0',
  tables: [{ name: 'idle', title: 'Nothing to do', columns: ['', 'MB'], rows: [['a|b', '5']] }],
  raw: { megabytes: [5, 6] },
};
const places =
  '# Figures\n<!-- run: one -->\n<!-- /run -->\n\n<!-- table: one/idle -->\nold\n<!-- /table -->\nthe end\n';

describe('docs/performance.md and hack/bench/results', () => {
  it('have the recorded tables (otherwise run hack/docs/performance-tables.ts)', async () => {
    const pages = await Promise.all((await performancePages()).map((file) => readFile(file, 'utf8')));
    expect(pages.length).to.be.greaterThan(1);
    expect(withPerformanceTables(pages, await readRecords(recordsFolder))).to.deep.equal(pages);
  });

  it('begin with a page of at most 200 lines', async () => {
    const [first = ''] = await performancePages();
    expect((await readFile(first, 'utf8')).trimEnd().split('\n').length).to.be.at.most(200);
  });

  it('come from complete records that are named like their files', async () => {
    const records = await readRecords(recordsFolder);
    const files = (await readdir(recordsFolder)).filter((name) => !name.endsWith('.md')).toSorted();
    expect(records.map(({ name }) => `${name}.json`)).to.deep.equal(files);
    for (const one of records) {
      expect(one).to.have.all.keys(Object.keys(record));
      expect(one.tables.length, one.name).to.be.greaterThan(0);
      for (const { title, columns, rows } of one.tables) {
        for (const row of rows) expect(row, `${one.name}: ${title}`).to.have.lengthOf(columns.length);
      }
    }
  });

  it('get each table, with machine and date, in its place', () => {
    const origin =
      '2 cores (A processor, 8 GB), Linux 6.18.5, Node 24.21.0, load average 0.3 before and 1.0 after, 2026-01-02, commit 0123456789ab.';
    const written = [
      `# Figures\n<!-- run: one -->\n\`hack/node.sh hack/bench-one.ts --runs 3\`: ${origin}\n<!-- /run -->\n`,
      '<!-- table: one/idle -->\n|  | MB |\n| --- | ---: |\n| a\\|b | 5 |\n<!-- /table -->\nthe end\n',
    ].join('\n');
    expect(withPerformanceTables([places], [record])).to.deep.equal([written]);
    expect(withPerformanceTables([written], [record])).to.deep.equal([written]);
  });

  it('fail for a placeholder without a record and for a table without a placeholder', () => {
    expect(() => withPerformanceTables([places], [])).to.throw('a record in hack/bench/results for <!-- run: one -->');
    expect(() => withPerformanceTables(['# no place'], [record])).to.throw(
      'with a place for <!-- run: one -->, <!-- table: one/idle -->',
    );
  });
});
