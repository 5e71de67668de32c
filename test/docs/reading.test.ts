import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const mostWords = 8000;

describe('docs/production-checklist.md', () => {
  it(`asks an operator to read six pages of at most ${mostWords} words before production`, async () => {
    const checklist = await readFile(`${docs}production-checklist.md`, 'utf8');
    const pages = [...checklist.matchAll(/^## \[[^\]]+\]\(([^)]+\.md)\)$/gm)].map(([, page = '']) => page);
    expect(pages).to.have.length(6);
    const texts = await Promise.all(pages.map((page) => readFile(docs + page, 'utf8')));
    const words = [checklist, ...texts].join(' ').split(/\s+/).length;
    expect(words).to.be.below(mostWords);
  });
});
