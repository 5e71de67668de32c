import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

/** What meets the real API server; everything else is to run in a simulation and in a model checker as well. */
const impure = new Set([
  'backup-job.ts',
  'certificate.ts',
  'driver.ts',
  'held-back.ts',
  'install.ts',
  'kinds.ts',
  'looks.ts',
  'loop.ts',
  'main.ts',
  'objects-of-clusters.ts',
  'perform.ts',
  'webhook-server.ts',
]);

const folder = new URL('../../../hack/moco/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.ts'));

describe('hack/moco: what decides', () => {
  for (const file of files.filter((name) => !impure.has(name))) {
    it(`knows no clock, no chance and no network: ${file}`, () => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const imports = [...text.matchAll(/ from '([^']+)'/g)].map(([, from]) => from ?? '');
      const names = imports.filter((from) => from !== '../../src/moco/names.ts').map((from) => from.replace('./', ''));
      expect(names.filter((name) => impure.has(name) || !files.includes(name))).to.deep.equal([]);
      expect(text).not.to.match(/Date\.now|new Date\(\)|Math\.random|performance\.|setTimeout|Promise|async /);
    });
  }

  it('is not all there is: every file named as meeting the API server exists', () => {
    expect([...impure].filter((name) => !files.includes(name))).to.deep.equal([]);
  });
});
