import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What each part of the program may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  kube: ['core'],
  telemetry: ['core'],
  moco: ['core'],
  webhook: ['moco', 'kube', 'telemetry', 'core'],
  controller: ['moco', 'kube', 'telemetry', 'core'],
};

/** Parts above all others: they start everything, and read its flags. So are the files that lie in no part. */
const entrances: readonly string[] = ['cli', 'options'];
const isEntrance = (part: string): boolean => entrances.includes(part) || part.endsWith('.ts');

interface Source {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
}

function sources(folder: string): readonly Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file.slice(root.length), text: readFileSync(file, 'utf8') }));
}

/** What a file imports, dynamic and re-exported ones included: paths from the root, or names of packages. */
function importsOf({ path, text }: Source): readonly string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, name = '']) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name));
}

const partOf = (path: string): string => path.split('/')[1] ?? '';
const source = sources('src');
const inFolder = (folder: string): readonly Source[] => source.filter(({ path }) => path.startsWith(`src/${folder}/`));

/** A comment may name what code may not. */
const withoutComments = (text: string): string => text.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/.*$/gm, '$1');

describe('the way the program is cut', () => {
  it('is seen by these tests', () => {
    expect(inFolder('core').length).to.be.greaterThan(10);
    const decide = source.find(({ path }) => path === 'src/core/decide.ts');
    expect(decide && importsOf(decide)).to.include('src/core/decision.ts');
    expect(importsOf({ path: 'src/core/x.ts', text: "const x = await import('../kube/y.ts')" })).to.deep.equal([
      'src/kube/y.ts',
    ]);
  });

  it('has no part that these tests do not know', () => {
    const parts = source.map(({ path }) => partOf(path));
    expect(parts.filter((part) => !isEntrance(part) && !(part in mayImport))).to.deep.equal([]);
  });

  it('lets imports point one way', () => {
    const wrong = source.flatMap((file) => {
      const part = partOf(file.path);
      if (isEntrance(part)) return [];
      const allowed = [part, ...(mayImport[part] ?? [])];
      return importsOf(file)
        .filter((path) => path.startsWith('src/') && !allowed.includes(partOf(path)))
        .map((path) => `${file.path} imports ${path}`);
    });
    expect(wrong).to.deep.equal([]);
  });

  it('lets src import nothing of hack or test', () => {
    const wrong = source.flatMap((file) =>
      importsOf(file)
        .filter((path) => /^(hack|test)\//.test(path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('keeps the core to itself, without a clock, a promise or anything of Node', () => {
    for (const file of inFolder('core')) {
      expect(
        importsOf(file).filter((path) => !path.startsWith('src/core/')),
        file.path,
      ).to.deep.equal([]);
      expect(withoutComments(file.text), file.path).not.to.match(
        /\bPromise\b|\bDate\b|\basync\b|\bawait\b|node:|\bprocess\b|\bconsole\b|\bsetTimeout\b|\bMath\.random\b|\bperformance\b/,
      );
    }
  });

  it('lets nobody but kube bring a client for HTTP', () => {
    const clients = /^(undici|@kubernetes\/client-node|node:https?)(\/|$)/;
    const servers = ['src/telemetry/', 'src/webhook/'];
    const wrong = source.flatMap((file) =>
      importsOf(file)
        .filter((name) => clients.test(name) && !file.path.startsWith('src/kube/'))
        .filter((name) => !(name.startsWith('node:') && servers.some((folder) => file.path.startsWith(folder))))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it("lets nobody but moco spell a name that is MOCO's", () => {
    const wrong = source.filter(({ path, text }) => !path.startsWith('src/moco/') && text.includes('moco.cybozu.com'));
    expect(wrong.map(({ path }) => path)).to.deep.equal([]);
  });
});
