import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const wordsOf = (texts: readonly string[]): number => texts.join(' ').trim().split(/\s+/).length;

const mostProductionWords = 8000;
const mostUserWords = 36_000;
const mostChangelogLines = 60;

/** `make docs` writes them wholly or in most parts. */
const generated = ['docs/fields.md', 'docs/reference.md', 'docs/rules.md'];

describe('docs/production-checklist.md', () => {
  it(`asks an operator to read six pages of at most ${mostProductionWords} words before production`, async () => {
    const checklist = await text('docs/production-checklist.md');
    const pages = [...checklist.matchAll(/^## \[[^\]]+\]\(([^)]+\.md)\)$/gm)].map(([, page = '']) => page);
    expect(pages).to.have.length(6);
    const texts = await Promise.all(pages.map((page) => text(join('docs', page))));
    expect(wordsOf([checklist, ...texts])).to.be.below(mostProductionWords);
  });
});

describe('the documents for users', () => {
  it(`have at most ${mostUserWords} words that are not generated`, async () => {
    const pages = ['README.md'];
    for await (const page of glob('docs/{*,how-to/*,runbooks/*}.md', { cwd: root })) pages.push(page);
    expect(pages).to.include.members(generated).and.to.have.length.greaterThan(50);
    const written = pages.filter((page) => !generated.includes(page));
    expect(wordsOf(await Promise.all(written.map(text)))).to.be.below(mostUserWords);
  });

  it('begin with a sentence, before any list, table, command or heading', async () => {
    const silent: string[] = [];
    for await (const page of glob('docs/{*,how-to/*,runbooks/*}.md', { cwd: root })) {
      if (!/^# .+\n\n[A-Z`][^\n|]{20,}/.test(await text(page))) silent.push(page);
    }
    expect(silent).to.deep.equal([]);
  });
});

describe('CHANGELOG.md', () => {
  it(`has at most ${mostChangelogLines} lines`, async () => {
    expect((await text('CHANGELOG.md')).trimEnd().split('\n').length).to.be.at.most(mostChangelogLines);
  });
});
