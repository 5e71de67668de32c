import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { filledIn, isRunUnderItsHeading, kindOf, partsOf, withoutWaiting } from '../docs/command-kind.ts';
import { commandsUnder, type DocumentedCommand, documentedCommands } from '../docs/markdown.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { goTool } from '../support/go-tools/build.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { patienceMilliseconds } from '../support/patience.ts';
import { foreignKinds } from './foreign-kinds.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const complete = {
  type: 'moco-rollout.io/RolloutComplete',
  status: 'True',
  reason: 'Complete',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
};

const named = (name: string, namespace?: string): object => ({ name, ...(namespace !== undefined && { namespace }) });
const labels = { 'app.kubernetes.io/instance': 'test' };
const podSpec = { containers: [{ name: 'mysqld', image: 'mysql' }] };
/** Not the pod's, or it would be deleted as one too many. */
const others = { app: 'none' };

/** What a reader has whose cluster is called `test`. */
const cluster: readonly object[] = [
  sampleCluster({ name: 'test', namespace: 'default' }),
  { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', metadata: named('test', 'default') },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: named('moco-test', 'default'),
    spec: {
      replicas: 0,
      serviceName: 'none',
      selector: { matchLabels: others },
      template: { metadata: { labels: others }, spec: podSpec },
    },
  },
  { apiVersion: 'v1', kind: 'Pod', metadata: { ...named('moco-test-0', 'default'), labels }, spec: podSpec },
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: named('moco-rollout', 'moco-rollout-system') },
  {
    apiVersion: 'moco-rollout.io/v1alpha1',
    kind: 'MySQLRolloutPolicy',
    metadata: named('test'),
    spec: { settings: {} },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: named('moco-rollout-partition-webhook-configuration'),
  },
];

const readTest = (name: string): Promise<string> => readFile(join(root, 'test/cluster', name), 'utf8');

/**
 * Runs the commands for kubectl and helm in a shell as documented, with names for the placeholders. No controller runs: the
 * test checks the answer of the API server. Commands that `installing.test.ts` and `uninstalling.test.ts` run are skipped.
 */
describe('the commands in the documents', () => {
  let controlPlane: ControlPlane;
  let commands: readonly DocumentedCommand[];
  let directory: string;
  let environment: NodeJS.ProcessEnv;

  before(async () => {
    const helm = await goTool('helm');
    controlPlane = await startControlPlane({ audit: false, manifests: [join(root, 'test/support/moco/crd')] });
    directory = join(controlPlane.directory, 'reader');
    await mkdir(directory);
    await symlink(join(root, 'config'), join(directory, 'config'));
    await writeFile(join(directory, 'change.yaml'), stringify({ metadata: { annotations: { changed: 'again' } } }));
    environment = {
      ...process.env,
      HOME: directory,
      KUBECONFIG: controlPlane.adminKubeconfig,
      PATH: [dirname(helm), dirname(controlPlane.binaries.kubectl), process.env['PATH']].join(delimiter),
    };
    commands = await documentedCommands();
    await apply(...foreignKinds);
  });

  after(() => controlPlane?.stop());

  it('of README.md install moco-rollout, adopt one cluster and wait for its rollout', async () => {
    const [, install = '', ...others] = await commandsUnder('Install', '../README.md');
    await shell(withoutWaiting(install));
    await apply(...cluster);
    await patchStatus();
    for (const command of others) await shell(withoutWaiting(command));
    const path = 'jsonpath={.items[*].spec.strategy} {.items[*].metadata.name}';
    expect(await shell(`kubectl get mysqlrollouts -o '${path}'`)).to.equal('OnDelete test');
    const args = 'kubectl get deployment moco-rollout-controller -n moco-rollout-system -o jsonpath={..args}';
    expect(await shell(args)).to.contain('--default-strategy=Partition');
  });

  it('of getting-started.md install moco-rollout and adopt one cluster', async () => {
    await shell('helm uninstall moco-rollout --namespace moco-rollout-system --no-hooks');
    const [, ...install] = await commandsUnder('Install moco-rollout', 'getting-started.md');
    const adopt = await commandsUnder('Adopt one cluster', 'getting-started.md');
    // Everything that a reader has to run until a first cluster is adopted.
    expect(1 + install.length + adopt.length).to.be.at.most(6);
    for (const command of install) await shell(withoutWaiting(command));
    await shell(
      `kubectl patch mysqlrollout test --subresource=status --type=merge --patch='{"status":{"strategy":"OnDelete"}}'`,
    );
    for (const command of adopt) await shell(filledIn(command));
  });

  it('the FlowSchema of limit-a-fleet.md is that of the controller’s requests', async () => {
    const text = await readFile(join(root, 'docs/how-to/limit-a-fleet.md'), 'utf8');
    const [, flowSchema = ''] = /```yaml\n(apiVersion: flowcontrol[^`]*)```/.exec(text) ?? [];
    await writeFile(join(directory, 'flow-schema.yaml'), flowSchema);
    await shell('kubectl apply -f flow-schema.yaml');
    const uid = await shell('kubectl get flowschema moco-rollout -o jsonpath={.metadata.uid}');
    const controller = '--as=system:serviceaccount:moco-rollout-system:moco-rollout';
    await until('the API server knows the FlowSchema', async () => {
      const headers = await shell(
        `kubectl get --raw /apis/moco-rollout.io/v1alpha1/mysqlrollouts ${controller} -v=8 2>&1`,
      );
      return headers.includes(uid);
    });
  });

  it('are accepted by the API server as documented', async () => {
    const sources = [await readTest('installing.test.ts'), await readTest('uninstalling.test.ts')];
    const isRun = commands.filter((one) => isRunUnderItsHeading(one, sources)).map(({ command }) => command);
    const remaining = commands.filter(({ command }) => !isRun.includes(command));
    const asked = remaining.filter(({ command }) => partsOf(command).every((part) => kindOf(part) === 'kubectl'));
    const ran: string[] = [];
    for (const command of new Set(asked.map((one) => one.command))) {
      await shell(filledIn(command)).catch((error: unknown) => {
        throw new Error(`expected \`${command}\` to be answered, got ${String(error)}`);
      });
      ran.push(command);
    }
    expect(ran.length).to.be.greaterThan(20);
    // The end of a pipe that begins with the plugin.
    await shell(`echo '{}' | ${pipedInto(remaining)}`);
  });

  it('that need a kubelet use flags that kubectl knows', async () => {
    const parts = commands.flatMap(({ command }) => partsOf(command));
    const asking = new Set(parts.filter((part) => kindOf(part) === 'kubectl-node'));
    expect(asking.size).to.be.greaterThan(2);
    for (const part of asking) {
      const [flags = ''] = filledIn(part).split(' -- ');
      expect(await shell(`${flags} --help`), part).to.contain('Usage:');
    }
    const unknown = await shell('kubectl logs --no-such-flag --help').catch((error: Error) => error.message);
    expect(unknown).to.contain('unknown flag');
  });

  function pipedInto(remaining: readonly DocumentedCommand[]): string {
    const [piped] = remaining.filter(({ command }) => /^kubectl moco-rollout .* \| kubectl /.test(command));
    return partsOf(piped?.command ?? '')[1] ?? '';
  }

  async function patchStatus(): Promise<void> {
    const status = JSON.stringify({ status: { currentPrimaryIndex: 0, conditions: [complete] } });
    await shell(`kubectl patch mysqlcluster test --subresource=status --type=merge --patch='${status}'`);
  }

  async function apply(...objects: readonly object[]): Promise<void> {
    await controlPlane.apply(await controlPlane.fileOf(...objects));
  }

  /** Rejects where it ends with another status than 0, in any part of a pipe, with all that it said. */
  async function shell(command: string): Promise<string> {
    const { stdout } = await run('bash', ['-o', 'pipefail', '-c', command], {
      cwd: directory,
      env: environment,
      timeout: patienceMilliseconds,
    });
    return stdout;
  }
});
