import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { holdRules } from '../src/core/rules/catalogue.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What each part of the program may import besides itself: only parts that stand above it here. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  core: [],
  kube: ['base'],
  telemetry: ['base'],
  moco: ['base', 'core', 'kube'],
  api: ['base', 'core', 'kube', 'moco'],
  mysql: ['base', 'core', 'kube', 'moco'],
  evictions: ['base', 'kube'],
  admission: ['base', 'moco', 'telemetry'],
  objects: ['base', 'core', 'kube', 'telemetry', 'moco', 'api', 'evictions'],
  controller: ['base', 'core', 'kube', 'telemetry', 'moco', 'api', 'mysql', 'evictions', 'objects'],
  plan: ['base', 'core', 'kube', 'moco', 'api', 'objects', 'controller'],
};

/** The rooms of the controller: a file imports from its own room and from those before it. */
const controllerOrder = ['facts', 'fleet', 'questions', 'pass', 'status', 'disrupt', ''];

/** What plans and the entrances may import of the controller besides facts and the fleet, by the file that does. */
const importsOfEntrances: Readonly<Record<string, readonly string[]>> = {
  // It starts the controller.
  'src/program.ts': ['controller.ts', 'questions/checks.ts'],
  // A command decides from the same facts: it asks for them as a pass does.
  'src/cli/cluster/cluster-snapshot.ts': ['questions/', 'pass/memory.ts'],
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

/** A way from a file back to itself, or nothing. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const free = new Set<string>();
  const circleFrom = (path: string, way: readonly string[]): readonly string[] => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (free.has(path)) return [];
    for (const next of graph.get(path) ?? []) {
      const circle = circleFrom(next, [...way, path]);
      if (circle.length > 0) return circle;
    }
    free.add(path);
    return [];
  };
  for (const path of graph.keys()) {
    const circle = circleFrom(path, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

const partOf = (path: string): string => path.split('/')[1] ?? '';
const source = sources('src');
const inFolder = (folder: string): readonly Source[] => source.filter(({ path }) => path.startsWith(`src/${folder}/`));

/** A comment may name what code may not. */
const withoutComments = (text: string): string => text.replace(/\/\*.*?\*\//gs, '').replace(/(^|\s)\/\/.*$/gm, '$1');

describe('the architecture', () => {
  it('is read by these tests', () => {
    expect(inFolder('core').length).to.be.greaterThan(10);
    const decide = source.find(({ path }) => path === 'src/core/decide.ts');
    expect(decide && importsOf(decide)).to.include('src/core/decision.ts');
    expect(importsOf({ path: 'src/core/x.ts', text: "const x = await import('../kube/y.ts')" })).to.deep.equal([
      'src/kube/y.ts',
    ]);
  });

  it('has no folder that these tests do not know', () => {
    const parts = source.map(({ path }) => partOf(path));
    expect(parts.filter((part) => !isEntrance(part) && !(part in mayImport))).to.deep.equal([]);
  });

  it('lets imports point in one direction', () => {
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

  it('lets the folders of the controller import in one direction', () => {
    const rank = (path: string): number => {
      const [, folder = '', file] = path.slice('src/'.length).split('/');
      return controllerOrder.indexOf(file === undefined ? '' : folder);
    };
    const files = inFolder('controller');
    expect(files.filter(({ path }) => rank(path) < 0).map(({ path }) => path)).to.deep.equal([]);
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith('src/controller/') && rank(path) > rank(file.path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('lets plans, the command line and the flags import facts and the fleet of the controller', () => {
    const allowed = ['facts/', 'fleet/', 'pass/collect-facts.ts'];
    const wrong = source
      .filter(({ path }) => isEntrance(partOf(path)) || partOf(path) === 'plan')
      .flatMap((file) =>
        importsOf(file)
          .filter((path) => path.startsWith('src/controller/'))
          .map((path) => path.slice('src/controller/'.length))
          .filter((path) => ![...allowed, ...(importsOfEntrances[file.path] ?? [])].some((one) => path.startsWith(one)))
          .map((path) => `${file.path} imports ${path}`),
      );
    expect(wrong).to.deep.equal([]);
  });

  it('lets the folders of the command line import in one direction', () => {
    const order = 'main run commands check diagnose cluster html terminal nearest option command-error host'.split(' ');
    const rank = (path: string): number => order.indexOf(path.slice('src/cli/'.length).replace(/(\/.*|\.ts)$/, ''));
    const files = inFolder('cli');
    expect(files.filter(({ path }) => rank(path) < 0).map(({ path }) => path)).to.deep.equal([]);
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((path) => path.startsWith('src/cli/') && rank(path) < rank(file.path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('lets only pass/remember.ts change what is remembered of a cluster', () => {
    const changes =
      /\bObject\.assign\(|\bmemory(\.\w+)+\s*(\?\?)?=[^=>]|\bmemory(\.\w+)+\.(set|delete|add|push|clear)\(/;
    const files = inFolder('controller').filter(({ text }) => changes.test(text));
    expect(files.map(({ path }) => path)).to.deep.equal(['src/controller/pass/remember.ts']);
    // The compiler refuses other ways: everything that is remembered is read-only.
    const types = [...inFolder('controller/questions').map(({ path }) => path), 'src/controller/pass/memory.ts'];
    const fields = source
      .filter(({ path }) => types.includes(path))
      .map((file) => ({ ...file, text: file.text.replace(/^(export )?class [^]*?^}$/gm, '') }))
      .flatMap(({ text }) => [...text.matchAll(/^ +(readonly )?\w+\??: .*;$/gm)]);
    expect(fields.length).to.be.greaterThan(30);
    expect(fields.filter(([, readonly]) => readonly === undefined).map(([line]) => line)).to.deep.equal([]);
  });

  it('lets only the core know what it lacks: no question depends on the name of a rule', () => {
    const names = holdRules.join('|');
    const byName = new RegExp(
      `\\brule\\)?\\s*[!=]==\\s*'(${names})'|switch \\([^)]*\\brule\\b|case '(${names})'|has\\([^)]*\\brule\\)`,
    );
    expect(byName.test("hold?.rule === 'ReplicasBehind'")).to.equal(true);
    expect(byName.test("switch (hold.rule) {\n  case 'LongWrite':")).to.equal(true);
    expect(byName.test('rules.has(hold.rule)')).to.equal(true);
    const asks = inFolder('controller').filter(({ path }) => !/^src\/controller\/(facts|fleet|status)\//.test(path));
    expect(asks.length).to.be.greaterThan(20);
    const wrong = asks.filter(({ text }) => byName.test(withoutComments(text)));
    expect(wrong.map(({ path }) => path)).to.deep.equal([]);
  });

  it('has no circular imports, types included', () => {
    const graph = new Map(source.map((file) => [file.path, importsOf(file)]));
    expect(circleIn(graph)).to.deep.equal([]);
  });

  it('detects circular imports', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['d', 'b']],
      ['d', []],
    ]);
    expect(circleIn(graph)).to.deep.equal(['b', 'c', 'b']);
  });

  it('has no comment wider than 120 columns', () => {
    const wide = [...source, ...sources('hack')].flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line) => (line.length > 120 && /^ *(\/\/|\/?\*)/.test(line) ? [`${path}: ${line}`] : [])),
    );
    expect(wide, 'comments to wrap at 120 columns').to.deep.equal([]);
  });

  it('opens each file of more than 80 lines with a comment that says what it is for', () => {
    const withoutImports = (text: string): string => text.replace(/^#!.*/, '').replace(/^(?:\s*import [^;]*;)+/, '');
    const silent = [...source, ...sources('hack')]
      .filter(({ text }) => text.split('\n').length > 80)
      .filter(({ text }) => ![text, withoutImports(text)].some((one) => one.trimStart().startsWith('//')));
    expect(
      silent.map(({ path }) => path),
      'files to open with one or two sentences, after the imports',
    ).to.deep.equal([]);
  });

  it('leaves the time limits of tests to the runner', () => {
    const limited = sources('test').filter(({ text }) => /\bthis\.timeout\(|^\s*\}\)\.timeout\(/m.test(text));
    expect(limited.map(({ path }) => path)).to.deep.equal([]);
  });

  it('has no folder and file of the same name side by side', () => {
    const folders = new Set(source.map(({ path }) => dirname(path)));
    expect(source.map(({ path }) => path).filter((path) => folders.has(path.replace(/\.ts$/, '')))).to.deep.equal([]);
  });

  it('lets src import nothing from hack or test', () => {
    const wrong = source.flatMap((file) =>
      importsOf(file)
        .filter((path) => /^(hack|test)\//.test(path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('keeps the core pure, without a clock, a promise or Node’s API', () => {
    for (const file of inFolder('core')) {
      expect(
        importsOf(file).filter((path) => !path.startsWith('src/core/')),
        file.path,
      ).to.deep.equal([]);
      expect(withoutComments(file.text), file.path).not.to.match(
        /\bPromise\b|\bDate\b(?!\([^)])|\basync\b|\bawait\b|'node:|\bprocess\b|\bconsole\b|\bsetTimeout\b|\bMath\.random\b|\bperformance\b/,
      );
    }
  });

  it('lets only kube have an HTTP client', () => {
    const clients = /^(undici|@kubernetes\/client-node|node:https?)(\/|$)/;
    const servers = ['src/telemetry/', 'src/admission/'];
    const wrong = source.flatMap((file) =>
      importsOf(file)
        .filter((name) => clients.test(name) && !file.path.startsWith('src/kube/'))
        .filter((name) => !(name.startsWith('node:') && servers.some((folder) => file.path.startsWith(folder))))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('lets only moco spell the names of MOCO', () => {
    const wrong = source.filter(({ path, text }) => !path.startsWith('src/moco/') && text.includes('moco.cybozu.com'));
    expect(wrong.map(({ path }) => path)).to.deep.equal([]);
  });
});
