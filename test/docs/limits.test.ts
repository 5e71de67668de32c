import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from './markdown.ts';

// The table "Limits on input" of test/verification/limits.md has links to the code and to tests, with what each of them has to
// say: a constant with its value, or the title of a test.

interface Row {
  readonly input: string;
  readonly constants: readonly Linked[];
  readonly tests: readonly Linked[];
}

interface Linked {
  /** Path from the root. */
  readonly path: string;
  readonly says: string;
}

const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

function rowsOf(document: string): readonly Row[] {
  const [, table = ''] = /<!-- limits -->\n([^]*?)<!-- end of limits -->/.exec(document) ?? [];
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => {
      const cells = line.split(' | ');
      const [input = '', , , , code = '', shown = ''] = cells;
      expect(cells, line).to.have.lengthOf(6);
      const constants = [...code.matchAll(/\[([^\]]+)\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, says = '', path = '']) => ({
        says,
        path,
      }));
      const tests = [...shown.matchAll(/\]\(\.\.\/([^)]+)\): \*([^*]+)\*/g)].map(([, path = '', says = '']) => ({
        says,
        path: `test/${path}`,
      }));
      return { input, constants, tests };
    });
}

/** `name = value` as a constant, whatever its type, or `name: value` as a field. */
function declares(source: string, says: string): boolean {
  const [, name = '', sign = '', value = ''] = /^(\w+)( =|:) (.+)$/.exec(says) ?? [];
  if (sign === ':') return source.includes(`  ${name}: ${value},`);
  const [, declared] = new RegExp(`\\bconst ${name}(?:: \\w+)? = (.+?)(?: as const)?;`).exec(source) ?? [];
  return declared === value;
}

describe('the limits on input in test/verification/limits.md', () => {
  let rows: readonly Row[];

  before(async () => {
    rows = rowsOf(await text('test/verification/limits.md'));
  });

  it('have a row for each kind of input, with a test behind it', () => {
    expect(rows.length).to.be.greaterThan(15);
    expect(rows.filter(({ tests }) => tests.length === 0).map(({ input }) => input)).to.deep.equal([]);
    const bare = rows.filter(({ constants }) => constants.length === 0).map(({ input }) => input);
    expect(bare).to.have.lengthOf(1);
    expect(bare[0]).to.contain('pattern');
  });

  it('are constants of the code with these values', async () => {
    const wrong: string[] = [];
    for (const { path, says } of rows.flatMap(({ constants }) => constants)) {
      if (!declares(await text(path), says)) wrong.push(`${path}: ${says}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('are shown by tests of these titles', async () => {
    const missing: string[] = [];
    for (const { path, says } of rows.flatMap(({ tests }) => tests)) {
      const source = await text(path);
      if (![`it('${says}'`, `it("${says}"`].some((title) => source.includes(title))) missing.push(`${path}: ${says}`);
    }
    expect(missing).to.deep.equal([]);
  });

  it('would not pass with another value or another title', async () => {
    const source = await text('src/kube/object-limits.ts');
    expect(declares(source, 'mostValuesOfObject = 50_000')).to.equal(true);
    expect(declares(source, 'mostValuesOfObject = 50_001')).to.equal(false);
    expect(declares(source, 'mostValuesOf = 50_000')).to.equal(false);
    expect(declares(await text('src/controller/status/status-limits.ts'), 'bytes: 16_385')).to.equal(false);
  });
});
