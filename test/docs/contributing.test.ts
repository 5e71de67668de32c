import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

describe('what a stranger is told', () => {
  it('is how a rule is added: each table of all rules is named', async () => {
    const said = await text('CONTRIBUTING.md');
    const files = (await readdir(join(root, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'));
    for (const file of files) {
      const demands = /Readonly<Record<HoldRule, /.test(await text(join('src', file)));
      if (demands) expect(said, `src/${file}`).to.contain(`src/${file}`);
    }
  });
});
