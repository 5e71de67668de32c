import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { flagDocument, withFlagTable } from '../../../hack/docs/flag-table.ts';
import { rolloutSpec } from '../../../src/api/rollout.ts';
import { flags } from '../../../src/options/flags.ts';

describe('docs/reference.md', () => {
  it('has the flags of the program (else run hack/docs/flag-table.ts)', async () => {
    const document = await readFile(flagDocument, 'utf8');
    expect(withFlagTable(document)).to.equal(document);
    for (const { name } of Object.values(flags)) expect(document).to.contain(`| \`--${name}\` |`);
  });

  it('has every setting', async () => {
    const [, section = ''] = (await readFile(flagDocument, 'utf8')).split('## Settings');
    const [settings = ''] = section.split('## Status');
    const fields = [...settings.matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
    expect(fields).to.have.members(Object.keys(rolloutSpec.shape));
  });

  it('reports a missing placeholder for the table', () => {
    expect(() => withFlagTable('# no place')).to.throw('Expected the document to have');
  });
});
