import { expect } from 'chai';
import { fieldReference } from '../../../hack/docs/field-table.ts';

describe('docs/fields.md', () => {
  const text = fieldReference();

  it('has a meaning for every field', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.length).to.be.greaterThan(50);
    for (const row of rows) expect(row).to.match(/\| [A-Z].{4,}\.? \|$/);
  });

  it('describes the items of lists and maps, with types and ranges', () => {
    expect(text).to.match(/\| `pinnedMembers\[\]\.ordinal` \| integer from 0 to 999, required \|/);
    expect(text).to.match(/\| `strategy` \| `OnDelete`, `Partition` \|/);
    expect(text).to.match(/\| `minReadySeconds` \| integer from 0 to 3600 \|/);
    expect(text).to.match(/\| `members\[\]\.\w+` \|/);
  });
});
