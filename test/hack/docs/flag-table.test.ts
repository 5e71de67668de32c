import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { operatingDocument, withFlagTable } from '../../../hack/docs/flag-table.ts';
import { flagNames } from '../../../src/options/flags.ts';

describe('docs/operating.md', () => {
  it('has the flags that the program has (else run hack/docs/flag-table.ts)', async () => {
    const document = await readFile(operatingDocument, 'utf8');
    expect(withFlagTable(document)).to.equal(document);
    for (const name of flagNames) expect(document).to.contain(`| \`--${name}\` |`);
  });

  it('says what is missing where the place for the table is', () => {
    expect(() => withFlagTable('# no place')).to.throw('Expected the document to have');
  });
});
