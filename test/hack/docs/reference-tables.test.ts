import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { referenceDocument, withTables } from '../../../hack/docs/reference-tables.ts';
import { rolloutSpec } from '../../../src/api/rollout.ts';
import { flags } from '../../../src/options/flags.ts';

describe('docs/reference.md', () => {
  it('has the flags and settings of the program (else run hack/docs/reference-tables.ts)', async () => {
    const document = await readFile(referenceDocument, 'utf8');
    expect(withTables(document)).to.equal(document);
    for (const { name } of Object.values(flags)) expect(document).to.contain(`| \`--${name}\` |`);
    for (const field of Object.keys(rolloutSpec.shape)) expect(document).to.contain(`\n| \`${field}\` |`);
  });

  it('reports a missing placeholder for the table', () => {
    expect(() => withTables('# no place')).to.throw('Expected the document to have');
  });
});
