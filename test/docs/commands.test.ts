import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { executableName, pluginName } from '../../hack/plugin/krew.ts';
import { platforms } from '../../hack/plugin/platforms.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { FakeCluster } from '../cli/fake-cluster.ts';
import { filledIn, isRunUnderItsHeading, kindOf, partsOf } from './command-kind.ts';
import { type DocumentedCommand, documentedCommands, root } from './markdown.ts';

const run = promisify(execFile);

/** `test/cluster/cli-documents.test.ts` runs the commands that need an API server. */
describe('the commands in the documents', () => {
  let commands: readonly DocumentedCommand[];
  let parts: readonly string[];
  const ofKind = (kind: ReturnType<typeof kindOf>): readonly string[] => [
    ...new Set(parts.filter((part) => kindOf(part) === kind)),
  ];

  before(async () => {
    commands = await documentedCommands();
    parts = commands.flatMap(({ command }) => partsOf(command));
  });

  it('are all tested here or in test/cluster', async () => {
    const sources: string[] = [];
    for await (const file of glob('test/cluster/*.test.ts', { cwd: root })) {
      sources.push(await readFile(join(root, file), 'utf8'));
    }
    const isRun = commands.filter((one) => isRunUnderItsHeading(one, sources)).map(({ command }) => command);
    expect(commands.length).to.be.greaterThan(50);
    expect(isRun).to.include('make undeploy');
    const unknown = commands.filter(({ command }) => partsOf(command).some((part) => kindOf(part) === 'unknown'));
    expect(unknown).to.deep.equal([]);
    // The order of helm commands matters, so a test has to run them under their heading.
    const helm = commands.filter(({ command }) => partsOf(command).some((part) => kindOf(part) === 'helm'));
    expect(helm.filter(({ command }) => !isRun.includes(command))).to.deep.equal([]);
  });

  it('name existing targets of make, which start existing programs', async () => {
    const targets = ofKind('make').map((part) => part.split(' ').at(-1) ?? '');
    expect(targets).to.include.members(['demo', 'undeploy']);
    for (const target of targets) {
      const { stdout } = await run('make', ['-n', target], { cwd: root });
      const scripts = [...stdout.matchAll(/\bhack\/[\w./-]+\.(?:ts|sh)\b/g)].map(([script]) => script);
      expect(stdout, target).to.match(/hack\/|kubectl |node_modules\/\.bin\//);
      for (const script of scripts) expect(await readFile(join(root, script), 'utf8'), script).not.to.equal('');
    }
  });

  it('use flags that the scripts know', async () => {
    const used = Map.groupBy(ofKind('script'), (part) => part.split(' ')[1] ?? '');
    for (const [script, lines] of used) {
      const help = await run(process.execPath, [script, '--help'], { cwd: root }).catch((error: unknown) => error);
      const { stdout, stderr } = help as { stdout: string; stderr: string };
      expect(`${stdout}${stderr}`, script).to.match(/^usage: /im);
      for (const flag of lines.join(' ').match(/--[a-z-]+/g) ?? [])
        expect(`${stdout}${stderr}`, script).to.contain(flag);
    }
  });

  it('set variables that the shell scripts know', async () => {
    expect(ofKind('shell-script').length).to.be.greaterThan(0);
    for (const line of ofKind('shell-script')) {
      const { stdout } = await run(line.split(' ').at(-1) ?? '', ['--help'], { cwd: root });
      expect(stdout, line).to.match(/^Usage: /);
      for (const [, variable] of line.matchAll(/([A-Z_]+)=/g)) expect(stdout, line).to.contain(`  ${variable}  `);
    }
  });

  it('start the bundle with the flags of the image', async () => {
    const [, ...entry] = JSON.parse(
      /^ENTRYPOINT (.*)$/m.exec(await readFile(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '',
    ) as string[];
    const flags = entry.filter((word) => word.startsWith('--')).join(' ');
    expect(ofKind('bundle')).to.deep.equal(ofKind('bundle').map(() => `node ${flags} dist/main.js`));
  });

  it('install existing files of the plugin', () => {
    const made = platforms.flatMap(({ name }) => [`${name}/${executableName}`, `${executableName}-${name}.tar.gz`]);
    const named = ofKind('plugin-file').flatMap((part) =>
      [...part.matchAll(/dist\/plugin\/(\S+)/g)].map(([, file]) => file),
    );
    expect(named.length).to.be.greaterThan(1);
    expect([...made, `${pluginName}.yaml`]).to.include.members(named);
  });

  it('build the image of the manifests from the Dockerfile', async () => {
    expect(await readFile(join(root, 'Dockerfile'), 'utf8')).to.match(/^FROM /m);
    const deployment = await readFile(join(root, 'config/manager/deployment.yaml'), 'utf8');
    const [, version = ''] = /image: moco-rollout:(.*)/.exec(deployment) ?? [];
    expect(ofKind('docker')).to.have.members([`docker build --tag IMAGE:${version} .`, `docker push IMAGE:${version}`]);
  });

  it('are accepted by the plugin', async () => {
    const lines = ofKind('plugin');
    expect(lines).to.include('kubectl moco-rollout release --all --all-namespaces');
    // A reader's own manifest.
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-commands-'));
    const manifest = join(directory, 'cluster.json');
    for (const line of lines) {
      const cluster = await FakeCluster.start();
      await writeFile(manifest, JSON.stringify(cluster.server.get(clusterKind, 'test')));
      const [, , ...argv] = filledIn(line)
        .replace(/ > \S+$/, '')
        .replace(/ -f \S+\.yaml$/, ` -f ${manifest}`)
        .split(' ');
      const { status, err } = await (argv.includes('--watch') ? cluster.watch(null, ...argv) : cluster.run(...argv));
      await cluster.close();
      expect(status, `${line}: ${err}`).not.to.equal(2);
    }
    await rm(directory, { recursive: true });
  });
});
