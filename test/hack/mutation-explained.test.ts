import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('the mutants that hack/mutate explains or lists', () => {
  it('change what the sources still have', async () => {
    const pages = ['README.md', 'survivors.md'].map((name) => readFile(`${root}hack/mutate/${name}`, 'utf8'));
    const sections = (await Promise.all(pages)).flatMap((page) => page.split(/^## /m).slice(1));
    expect(sections).not.to.deep.equal([]);
    for (const section of sections) {
      const [file = ''] = section.split('\n');
      expect(existsSync(root + file), file).to.equal(true);
      const source = inOneLine(await readFile(root + file, 'utf8'));
      for (const [, before = ''] of section.matchAll(/^- `(.+?)` → `/gm))
        expect(source, file).to.contain(inOneLine(before));
    }
  });
});
