import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { makeExecutable } from '../../hack/plugin/executable.ts';
import { executableName } from '../../hack/plugin/krew.ts';
import { nodeDirectory } from '../../hack/plugin/node-package.ts';
import { platforms } from '../../hack/plugin/platforms.ts';
import { makeSources, type Sources } from '../../hack/plugin/sources.ts';
import { FakeCluster } from '../cli/fake-cluster.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const run = promisify(execFile);

/** For this machine with its own Node in it, or what there is for every other. */
const platform =
  platforms.find(({ node }) => node?.name === `node-${process.platform}-${process.arch}`) ?? platforms.at(-1);

/** Nothing else is around: no Node, no home. */
describe('the plugin as one file, under a real kubectl', function () {
  const controlPlane = useControlPlane();
  let directory = '';
  let plugin = '';
  let sources: Sources;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plugin-'));
    plugin = join(directory, executableName);
    sources = await makeSources(directory);
    if (platform?.node)
      await makeExecutable(sources.program, join(await nodeDirectory(platform.node), 'bin/node'), plugin);
    else await cp(sources.program, plugin);
  });

  after(() => rm(directory, { recursive: true, force: true }));

  /** What is in PATH: this, sh, and where the plugin doesn't bring its own, Node. */
  const path = (): string =>
    [directory, '/bin', ...(platform?.node ? [] : [dirname(process.execPath)])].join(delimiter);

  async function kubectl(...argv: readonly string[]): Promise<string> {
    const { binaries, adminKubeconfig } = controlPlane();
    await writeFile(join(directory, 'kubectl'), `#!/bin/sh\nexec '${binaries.kubectl}' "$@"\n`);
    await chmod(join(directory, 'kubectl'), 0o755);
    const { stdout } = await run(join(directory, 'kubectl'), [...argv], {
      // Without a home kubectl would keep what it has discovered in the working directory.
      env: { KUBECONFIG: adminKubeconfig, PATH: path(), HOME: directory },
    });
    return stdout;
  }

  it('is built reproducibly', async function () {
    if (!platform?.node) this.skip();
    const again = join(directory, 'again');
    await makeExecutable(sources.program, join(await nodeDirectory(platform.node), 'bin/node'), again);
    const [one, other] = await Promise.all([plugin, again].map(async (file) => sha256(await readFile(file))));
    expect(one).to.equal(other);
    await rm(again);
  });

  it('runs on its own, whatever NODE_OPTIONS is', async () => {
    const cluster = await FakeCluster.start();
    try {
      const env = { KUBECONFIG: await cluster.kubeconfig(), PATH: path(), NODE_OPTIONS: '--no-such-option' };
      const { stdout, stderr } = await run(plugin, ['status', 'test'], {
        env: platform?.node ? env : { ...env, NODE_OPTIONS: '' },
      });
      expect(stderr).to.equal('');
      expect(stdout).to.match(/^test +Unknown +0 of 3 updated/);
      expect((await run(plugin, ['--help'], { env: {} })).stdout).to.match(/^Usage: kubectl moco-rollout COMMAND/);
    } finally {
      await cluster.close();
    }
  });

  it('is called by kubectl to complete commands and arguments, by the script that it prints', async () => {
    const script = join(directory, 'kubectl_complete-moco_rollout');
    await writeFile(script, await kubectl('moco-rollout', 'completion'), { mode: 0o755 });
    expect(await kubectl('moco-rollout', 'explain', 'Paused')).to.match(/^Paused\n {2}meaning/);
    const words = await kubectl('__complete', 'moco-rollout', 'sta');
    expect(words).to.match(/^status\tShow the progress of rollouts and what they wait for\n:4\n/);
    expect(await kubectl('__complete', 'moco-rollout', 'explain', 'Paus')).to.match(/^Paused\t/);
  });

  it('is needed since kubectl itself calls a rollout complete at a partition', async () => {
    const namespace = await freshNamespace(controlPlane());
    const labels = { app: 'x' };
    await writeFile(
      join(directory, 'statefulset.json'),
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 'x', namespace },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
          template: { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'none' }] } },
        },
      }),
    );
    await kubectl('apply', '-f', join(directory, 'statefulset.json'));
    expect(await kubectl('rollout', 'status', 'statefulset/x', '-n', namespace, '--timeout=180s')).to.contain(
      'partitioned roll out complete',
    );
  });
});

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
