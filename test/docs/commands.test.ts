import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { executableName, pluginName } from '../../hack/plugin/krew.ts';
import { platforms } from '../../hack/plugin/platforms.ts';
import { FakeCluster } from '../cli/fake-cluster.ts';
import { filledIn, isRunUnderItsHeading, kindOf, partsOf } from './command-kind.ts';
import { type DocumentedCommand, documentedCommands, root } from './markdown.ts';

const run = promisify(execFile);

/** Nothing of these is left to a reader to find out; `test/cluster/cli-documents.test.ts` runs the rest. */
describe('every command in the documents', () => {
  let commands: readonly DocumentedCommand[];
  let parts: readonly string[];
  const ofKind = (kind: ReturnType<typeof kindOf>): readonly string[] => [
    ...new Set(parts.filter((part) => kindOf(part) === kind)),
  ];

  before(async () => {
    commands = await documentedCommands();
    parts = commands.flatMap(({ command }) => partsOf(command));
  });

  it('is of a kind that something here or in test/cluster runs', async () => {
    const sources: string[] = [];
    for await (const file of glob('test/cluster/*.test.ts', { cwd: root })) {
      sources.push(await readFile(join(root, file), 'utf8'));
    }
    const isRun = commands.filter((one) => isRunUnderItsHeading(one, sources)).map(({ command }) => command);
    expect(commands.length).to.be.greaterThan(50);
    expect(isRun).to.include('make undeploy');
    const unknown = commands.filter(({ command }) => partsOf(command).some((part) => kindOf(part) === 'unknown'));
    expect(unknown).to.deep.equal([]);
    // Helm's releases follow on each other: only a test that knows in which order can run them.
    const helm = commands.filter(({ command }) => partsOf(command).some((part) => kindOf(part) === 'helm'));
    expect(helm.filter(({ command }) => !isRun.includes(command))).to.deep.equal([]);
  });

  it('of make has a target that starts programs that there are', async () => {
    const targets = ofKind('make').map((part) => part.split(' ').at(-1) ?? '');
    expect(targets).to.include.members(['demo', 'test', 'undeploy']);
    for (const target of targets) {
      const { stdout } = await run('make', ['-n', target], { cwd: root });
      const scripts = [...stdout.matchAll(/\bhack\/[\w./-]+\.(?:ts|sh)\b/g)].map(([script]) => script);
      expect(stdout, target).to.match(/hack\/|kubectl /);
      for (const script of scripts) expect(await readFile(join(root, script), 'utf8'), script).not.to.equal('');
    }
  });

  it('of a script has flags that the script knows', async () => {
    const used = Map.groupBy(ofKind('script'), (part) => part.split(' ')[1] ?? '');
    for (const [script, lines] of used) {
      const help = await run(process.execPath, [script, '--help'], { cwd: root }).catch((error: unknown) => error);
      const { stdout, stderr } = help as { stdout: string; stderr: string };
      expect(`${stdout}${stderr}`, script).to.match(/^usage: /im);
      for (const flag of lines.join(' ').match(/--[a-z-]+/g) ?? [])
        expect(`${stdout}${stderr}`, script).to.contain(flag);
    }
  });

  it('that starts the bundle does so as the image does', async () => {
    const [, ...entry] = JSON.parse(
      /^ENTRYPOINT (.*)$/m.exec(await readFile(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '',
    ) as string[];
    const flags = entry.filter((word) => word.startsWith('--')).join(' ');
    expect(ofKind('bundle')).to.deep.equal(ofKind('bundle').map(() => `node ${flags} dist/main.js`));
  });

  it('that takes a file of the plugin takes one that is made', () => {
    const made = platforms.flatMap(({ name }) => [`${name}/${executableName}`, `${executableName}-${name}.tar.gz`]);
    const named = ofKind('plugin-file').flatMap((part) =>
      [...part.matchAll(/dist\/plugin\/(\S+)/g)].map(([, file]) => file),
    );
    expect(named.length).to.be.greaterThan(1);
    expect([...made, `${pluginName}.yaml`]).to.include.members(named);
  });

  it('of the plugin is one that it understands', async () => {
    const lines = ofKind('plugin');
    expect(lines).to.include('kubectl moco-rollout hand-back --all');
    for (const line of lines) {
      const cluster = await FakeCluster.start();
      const [, , ...argv] = filledIn(line).split(' ');
      const { status, err } = await cluster.run(...argv);
      await cluster.close();
      expect(status, `${line}: ${err}`).not.to.equal(2);
    }
  });
});
