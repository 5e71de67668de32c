import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

describe('CONTRIBUTING.md', () => {
  it('names the place to add a rule: only the catalogue has a table of all rules', async () => {
    const files = (await readdir(join(root, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'));
    const tables: string[] = [];
    for (const file of files) {
      const text = await readFile(join(root, 'src', file), 'utf8');
      if (/\bRecord<HoldRule,|\bin HoldRule\]/.test(text)) tables.push(file);
    }
    expect(tables).to.deep.equal(['core/rules/catalogue.ts']);
  });
});
