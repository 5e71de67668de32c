import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/installing.md',
  'docs/uninstalling.md',
  'docs/decisions/0008-manifests.md',
];

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | number>>;
}

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

interface Updates {
  readonly updates: readonly {
    readonly 'package-ecosystem': string;
    readonly directory?: string;
    readonly directories?: readonly string[];
  }[];
}

/** What an ecosystem's folder holds. */
const manifests: Readonly<Record<string, string>> = {
  npm: 'package-lock.json',
  gomod: 'go.mod',
  docker: 'Dockerfile',
  'github-actions': '.github/workflows',
};

const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

async function isThere(path: string): Promise<boolean> {
  return access(join(root, path)).then(
    () => true,
    () => false,
  );
}

async function targets(): Promise<readonly string[]> {
  return [...(await text('Makefile')).matchAll(/^([a-z-]+):.*## /gm)].map(([, target = '']) => target);
}

describe('what a stranger is told', () => {
  for (const document of documents) {
    it(`in ${document} names files and targets that there are`, async () => {
      const said = await text(document);
      const named = [...said.matchAll(/`((?:src|test|hack|config|docs)\/[\w./-]*\w|\.ci\/run)`/g)].map(
        ([, path = '']) => path,
      );
      const linked = [...said.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = '']) =>
        join(dirname(document), path),
      );
      for (const path of [...named, ...linked]) expect(await isThere(path), path).to.equal(true);
      const made = [...said.matchAll(/`make ([a-z-]+)`/g)].map(([, target = '']) => target);
      expect(await targets()).to.include.members(made);
    });
  }

  it('is how a rule is added: each table of all rules is named', async () => {
    const said = await text('CONTRIBUTING.md');
    const files = (await readdir(join(root, 'src'), { recursive: true })).filter((file) => file.endsWith('.ts'));
    for (const file of files) {
      const demands = /Readonly<Record<HoldRule, /.test(await text(join('src', file)));
      if (demands) expect(said, `src/${file}`).to.contain(`src/${file}`);
    }
  });
});

describe('what a public forge runs', () => {
  let workflow: Workflow;
  let steps: readonly Step[];

  before(async () => {
    workflow = parse(await text('.github/workflows/ci.yml')) as Workflow;
    steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  });

  it('is the two commands that .ci/run has', async () => {
    const commands = (await text('.ci/run')).split('\n').filter((line) => line.startsWith('make '));
    expect(commands).to.include.members(['make check', 'make test']);
    expect(steps.map(({ run }) => run)).to.include.members(commands);
  });

  it('is on the Node and the Go that are asked for, with no more rights than to read', async () => {
    expect(workflow.permissions).to.deep.equal({ contents: 'read' });
    const versions = (name: string): readonly string[] =>
      steps.flatMap((step) => (step.with?.[name] === undefined ? [] : [String(step.with[name])]));
    for (const version of versions('node-version')) expect(manifest.engines.node).to.equal(`>=${version}.0.0`);
    const [go] = versions('go-version');
    for (const folder of ['control-plane', 'go-tools']) {
      expect(await text(`hack/${folder}/go.mod`)).to.match(new RegExp(`^go ${go}(\\.\\d+)?$`, 'm'));
    }
  });

  it('keeps up to date every kind of dependency that there is, where it is', async () => {
    const { updates } = parse(await text('.github/dependabot.yml')) as Updates;
    expect(updates.map((one) => one['package-ecosystem'])).to.have.members(Object.keys(manifests));
    for (const one of updates) {
      for (const directory of one.directories ?? [one.directory ?? '']) {
        const path = join(directory, manifests[one['package-ecosystem']] ?? '').replace(/^\//, '');
        expect(await isThere(path), path).to.equal(true);
      }
    }
  });
});
