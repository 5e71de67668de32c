import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { fieldDocument, fieldReference } from '../../../hack/docs/field-table.ts';

describe('docs/fields.md', () => {
  let text: string;

  before(async () => {
    text = await readFile(fieldDocument, 'utf8');
  });

  it('is what the CRDs say (else run hack/docs/field-table.ts)', async () => {
    expect(await fieldReference()).to.equal(text);
  });

  it('has a meaning for every field', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.length).to.be.greaterThan(50);
    for (const row of rows) expect(row).to.match(/\| [A-Z].{4,}\.? \|$/);
  });

  it('goes into lists and maps, with types and their ranges', () => {
    expect(text).to.match(/\| `heldMembers\[\]\.ordinal` \| integer from 0 to 999, required \|/);
    expect(text).to.match(/\| `strategy` \| `OnDelete`, `Partition` \|/);
    expect(text).to.match(/\| `minReadySeconds` \| integer from 0 to 3600 \|/);
    expect(text).to.match(/\| `members\.\*\.\w+` \|/);
  });
});
