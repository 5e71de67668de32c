import { access, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { documents, type Markdown, root } from './markdown.ts';

const isThere = (path: string): Promise<boolean> =>
  access(join(root, path)).then(
    () => true,
    () => false,
  );

/** The anchors that a forge makes of headings: lower case, hyphens instead of spaces, no punctuation. */
function anchorsOf(text: string): readonly string[] {
  const headings = text.replaceAll(/^ *```[^]*?^ *```/gm, '').match(/^#+ .*/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('the links in the documents', () => {
  let all: readonly Markdown[];
  let targets: readonly string[];

  before(async () => {
    all = await documents();
    const makefile = await readFile(join(root, 'Makefile'), 'utf8');
    targets = [...makefile.matchAll(/^([a-z-]+):/gm)].map(([, target = '']) => target);
    expect(all.length).to.be.greaterThan(30);
  });

  it('lead to existing files and headings', async () => {
    const broken: string[] = [];
    for (const { path, text } of all) {
      for (const [, link = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? path : normalize(join(dirname(path), file));
        const other = all.find((one) => one.path === target);
        const jumps = anchor === undefined || (other !== undefined && anchorsOf(other.text).includes(anchor));
        if (!(await isThere(target)) || !jumps) broken.push(`${path}: ${link}`);
      }
    }
    expect(broken).to.deep.equal([]);
  });

  it('and named paths lead to existing files', async () => {
    const missing: string[] = [];
    for (const { path, text } of all) {
      const named = text.matchAll(/`((?:src|test|hack|config|docs)\/[\w./-]*\w|\.ci\/run)`/g);
      for (const [, file = ''] of named) if (!(await isThere(file))) missing.push(`${path}: ${file}`);
    }
    expect(missing).to.deep.equal([]);
  });

  it('and named targets of make exist', () => {
    const missing = all.flatMap(({ path, text }) =>
      [...text.matchAll(/`make ([a-z-]+)`/g)]
        .filter(([, target = '']) => !targets.includes(target))
        .map(([said]) => `${path}: ${said}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('begin with a README.md of at most 900 words', () => {
    const readme = all.find(({ path }) => path === 'README.md');
    const words = readme?.text.trim().split(/\s+/).length;
    expect(words).to.be.within(1, 900);
  });

  it('lead to six pages from the production checklist', () => {
    const text = all.find(({ path }) => path === 'docs/production-checklist.md')?.text ?? '';
    expect(new Set([...text.matchAll(/\]\(([^#)]+)/g)].map(([, page]) => page)).size).to.equal(6);
  });

  it('lead to every page of docs from a README', async () => {
    const lists = all.filter(({ path }) => /(^|\/)README\.md$/.test(path)).map(({ text }) => text);
    const unlisted = all
      .filter(
        ({ path }) => path.startsWith('docs/') && !path.endsWith('README.md') && !path.startsWith('docs/decisions/'),
      )
      .filter(({ path }) => !lists.some((list) => list.includes(`${path.slice(path.lastIndexOf('/') + 1)})`)));
    expect(unlisted.map(({ path }) => path)).to.deep.equal([]);
  });
});
