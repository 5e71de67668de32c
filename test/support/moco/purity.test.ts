import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

/** The files that use the real API server; all others also run in a simulation and a model checker. */
const impure = new Set([
  'backup-job.ts',
  'driver.ts',
  'held-back.ts',
  'install.ts',
  'kinds.ts',
  'looks.ts',
  'loop.ts',
  'objects-of-clusters.ts',
  'perform.ts',
  'renewals.ts',
  'webhook-server.ts',
]);

const pureElsewhere = new Set(['../../../src/moco/names.ts', '../moment.ts']);
const folder = new URL('./', import.meta.url);
/** What only the tests of this folder use. */
const testing = new Set(['recorded-objects.ts', 'story.ts']);
const files = readdirSync(folder).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !testing.has(name),
);

describe('test/support/moco: the decisions', () => {
  for (const file of files.filter((name) => !impure.has(name))) {
    it(`use no clock, randomness or network: ${file}`, () => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const imports = [...text.matchAll(/ from '([^']+)'/g)].map(([, from]) => from ?? '');
      const names = imports.filter((from) => !pureElsewhere.has(from)).map((from) => from.replace('./', ''));
      expect(names.filter((name) => impure.has(name) || !files.includes(name))).to.deep.equal([]);
      expect(text).not.to.match(/Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|Promise|async /);
    });
  }

  it('exclude only existing files as users of the API server', () => {
    expect([...impure].filter((name) => !files.includes(name))).to.deep.equal([]);
  });
});
