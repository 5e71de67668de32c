import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const run = promisify(execFile);

describe('the plugin under a real kubectl', () => {
  const controlPlane = useControlPlane();
  let directory = '';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plugin-'));
    const install = async (name: string, text: string): Promise<void> => {
      await writeFile(join(directory, name), text);
      await chmod(join(directory, name), 0o755);
    };
    await install('kubectl-moco_rollout', `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    const { stdout } = await run(process.execPath, [program, 'completion']);
    await install('kubectl_complete-moco_rollout', stdout);
  });

  after(() => rm(directory, { recursive: true, force: true }));

  async function kubectl(...argv: readonly string[]): Promise<string> {
    const { binaries, adminKubeconfig } = controlPlane();
    await writeFile(join(directory, 'kubectl'), `#!/bin/sh\nexec '${binaries.kubectl}' "$@"\n`);
    await chmod(join(directory, 'kubectl'), 0o755);
    const env = { ...process.env, KUBECONFIG: adminKubeconfig, PATH: `${directory}${delimiter}${process.env['PATH']}` };
    const { stdout } = await run(join(directory, 'kubectl'), [...argv], { env });
    return stdout;
  }

  it('is found and asked by it, for commands as for words', async () => {
    expect(await kubectl('moco-rollout', 'explain', 'Paused')).to.match(/^Paused\n {2}what it means/);
    const words = await kubectl('__complete', 'moco-rollout', 'sta');
    expect(words).to.match(/^status\tShow how far rollouts are, and what they wait for\n:4\n/);
    expect(await kubectl('__complete', 'moco-rollout', 'explain', 'Paus')).to.match(/^Paused\t/);
  });

  it('has reason to: kubectl itself calls a rollout complete at a partition', async () => {
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
    expect(await kubectl('rollout', 'status', 'statefulset/x', '-n', namespace, '--timeout=60s')).to.contain(
      'partitioned roll out complete',
    );
  });
});
