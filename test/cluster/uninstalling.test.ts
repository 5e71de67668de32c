import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { until } from '../../hack/control-plane/until.ts';
import { chartDirectory } from '../../hack/helm/chart.ts';
import type { MySQLCluster, StatefulSet } from '../../hack/moco/objects.ts';
import { sampleCluster } from '../../hack/moco/sample.ts';
import { defaultSettings } from '../../hack/moco/settings.ts';
import { statefulSetBody } from '../../hack/moco/stateful-set.ts';
import { strategyLabel, strategyOnDelete } from '../../src/moco/names.ts';
import { cli } from './cli-program.ts';
import { commandsUnder } from './document-commands.ts';
import { Helm, type HelmSaid } from './helm-program.ts';

const buildDeadlineMilliseconds = 30 * 60_000;
const testDeadlineMilliseconds = 360_000;
const waitMilliseconds = 180_000;
const mocoDefinitions = fileURLToPath(new URL('../../hack/moco/crd', import.meta.url));
const system = 'moco-rollout-system';
const release = ['moco-rollout', '--namespace', system];
const withoutCertManager = ['certificate.certManager=false', 'certificate.caBundle=Y2E='];

const commandsOf = (heading: string): Promise<readonly string[]> => commandsUnder(heading, 'uninstalling.md');

/** No controller and no kubelet run here: the webhook that is registered never answers, and a Job's pod is played. */
describe('uninstalling', function () {
  this.timeout(testDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let helm: Helm;

  before(async function build() {
    this.timeout(buildDeadlineMilliseconds);
    helm = await Helm.open();
    controlPlane = await startControlPlane({ audit: false, manifests: [mocoDefinitions] });
    await apply(sampleCluster({ name: 'test', namespace: 'default' }));
  });

  beforeEach(async () => {
    await takenOver();
    const values = withoutCertManager.flatMap((value) => ['--set', value]);
    await succeeds(helmHere('install', ...release, chartDirectory, '--create-namespace', ...values));
    await until(refused, waitMilliseconds, () => 'Expected writes to be refused while nobody answers for the webhook');
  });

  after(async () => {
    await controlPlane?.stop();
    await helm?.close();
  });

  it('that can’t give back removes nothing, and does once the document’s commands are run', async () => {
    const stuck = await helmHere('uninstall', ...release, '--timeout=5s');
    expect(stuck.status, stuck.out).to.equal(1);
    expect(await installed()).to.equal(true);
    expect((await strategy())?.type).to.equal('OnDelete');
    const commands = await commandsOf('The controller stopped, and `helm uninstall` does not come to its end');
    const before = await pods();
    await inTurn(commands, () => playJob(before));
    await isBack();
    expect(await installed()).to.equal(false);
    const { out } = await cli(controlPlane.adminKubeconfig, ['hand-back', '--all']);
    expect(out, 'the CRDs are kept, and the marker with them').to.contain('nothing to hand back');
  });

  it('gives back by the Roles of the namespaces that are listed', async () => {
    await succeeds(helmHere('upgrade', ...release, chartDirectory, '--reuse-values', '--set', 'namespaces={default}'));
    const [webhook = '', uninstall = ''] = await commandsOf(
      'The controller stopped, and `helm uninstall` does not come to its end',
    );
    await inTurn([webhook]);
    await inTurn([uninstall], () => playJob([]));
    await isBack();
  });

  it('without hooks leaves nobody who gives back, but the plugin does', async () => {
    await succeeds(helmHere('uninstall', ...release, '--no-hooks'));
    expect((await strategy())?.type).to.equal('OnDelete');
    await inTurn(await commandsOf('Uninstalled with `--no-hooks`, or pruned'));
    await isBack();
  });

  it('pruned by whoever has applied it, the CRDs too, leaves nobody either, and the plugin does', async () => {
    const { out } = await helmHere('get', 'manifest', ...release);
    const file = join(controlPlane.directory, 'pruned.yaml');
    await writeFile(file, out);
    await controlPlane.kubectl('delete', '-f', file);
    expect((await strategy())?.type).to.equal('OnDelete');
    await inTurn(await commandsOf('Uninstalled with `--no-hooks`, or pruned'));
    await isBack();
    // What GitOps tools don't keep, and Helm wants back.
    await succeeds(helmHere('uninstall', ...release, '--no-hooks'));
  });

  it('by deleting the namespace leaves a webhook that nobody answers for, until it is deleted as well', async () => {
    await controlPlane.kubectl('delete', 'namespace', system);
    expect(await refused()).to.equal(true);
    await inTurn(await commandsOf('The namespace deleted first'));
    await isBack();
    const kinds = 'clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingadmissionpolicy';
    const left = await controlPlane.kubectl(
      'get',
      kinds,
      '--selector=app.kubernetes.io/part-of=moco-rollout',
      '-o',
      'name',
    );
    expect(left).to.equal('');
  });

  it('by deleting the CRDs first loses what was wished, and no StatefulSet', async () => {
    await inTurn((await commandsOf('With Helm')).filter((command) => command.startsWith('kubectl delete')));
    await inTurn(await commandsOf('The CRDs deleted first'));
    await isBack();
    expect(await installed()).to.equal(false);
  });

  function helmHere(...args: readonly string[]): Promise<HelmSaid> {
    return helm.run(...args, '--kubeconfig', controlPlane.adminKubeconfig);
  }

  /** Runs commands of the document; `meanwhile` runs beside each of helm's. */
  async function inTurn(commands: readonly string[], meanwhile: () => Promise<void> = nothing): Promise<void> {
    for (const command of commands) {
      const [program, ...args] = command.split(' ');
      if (program === 'helm') {
        await Promise.all([succeeds(helmHere(...args)), meanwhile()]);
      } else if (args[0] === 'moco-rollout') {
        const { status, err } = await cli(controlPlane.adminKubeconfig, args.slice(1));
        expect(status, err).to.equal(0);
      } else {
        await controlPlane.kubectl(...args);
      }
    }
  }

  /** Of the Job. */
  async function pods(): Promise<readonly Pod[]> {
    const selector = '--selector=app.kubernetes.io/component=hand-back';
    const { items } = JSON.parse(await controlPlane.kubectl('get', 'pods', '-n', system, selector, '-o', 'json')) as {
      items: readonly Pod[];
    };
    return items;
  }

  /** What a kubelet does with the pod of the hook's Job: runs its arguments with the rights of its ServiceAccount. */
  async function playJob(before: readonly Pod[]): Promise<void> {
    const old = before.map(({ metadata }) => metadata.uid);
    const ask = async (): Promise<Pod | undefined> =>
      (await pods()).find(({ metadata }) => !old.includes(metadata.uid));
    const { metadata, spec } = await until(ask, waitMilliseconds, () => 'Expected the Job to have a pod');
    const kubeconfig = await controlPlane.kubeconfigFor({ namespace: system, name: spec.serviceAccountName });
    const { status, err } = await cli(kubeconfig, spec.containers[0].args, 'image');
    expect(status, err).to.equal(0);
    const succeeded = JSON.stringify({ status: { phase: 'Succeeded' } });
    const patch = ['--subresource=status', '--type=merge', '--patch', succeeded];
    await controlPlane.kubectl('patch', 'pod', metadata.name, '-n', system, ...patch);
  }

  /** A StatefulSet as it is once the controller has taken it over. */
  async function takenOver(): Promise<void> {
    await controlPlane.kubectl('delete', 'statefulset', 'moco-test', '--ignore-not-found');
    const cluster = JSON.parse(await controlPlane.kubectl('get', 'mysqlcluster', 'test', '-o', 'json')) as MySQLCluster;
    const { metadata, spec, ...rest } = statefulSetBody(cluster, defaultSettings) as unknown as StatefulSet;
    const labels = { ...metadata.labels, [strategyLabel]: strategyOnDelete };
    await apply({
      ...rest,
      metadata: { ...metadata, name: 'moco-test', namespace: 'default', labels },
      spec: { ...spec, updateStrategy: { type: strategyOnDelete } },
    });
  }

  async function apply(object: object): Promise<void> {
    const file = join(controlPlane.directory, 'object.yaml');
    await writeFile(file, stringify(object));
    await controlPlane.kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
  }

  async function read(): Promise<StatefulSet> {
    return JSON.parse(await controlPlane.kubectl('get', 'statefulset', 'moco-test', '-o', 'json')) as StatefulSet;
  }

  const strategy = async (): Promise<StatefulSet['spec']['updateStrategy']> => (await read()).spec.updateStrategy;

  async function isBack(): Promise<void> {
    const { metadata, spec } = await read();
    expect(metadata.labels).not.to.have.property(strategyLabel);
    expect(spec.updateStrategy).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: spec.replicas } });
  }

  const installed = async (): Promise<boolean> =>
    (await controlPlane.kubectl('get', 'deployment', '-n', system, '-o', 'name').catch(() => '')) !== '';

  async function refused(): Promise<true | undefined> {
    const annotate = ['annotate', 'statefulset', 'moco-test', 'some=thing', '--overwrite', '--dry-run=server'];
    const said = await controlPlane.kubectl(...annotate).catch((error: Error) => error.message);
    return said.includes('failed calling webhook') ? true : undefined;
  }
});

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly [{ readonly args: readonly string[] }];
  };
}

async function nothing(): Promise<void> {}

async function succeeds(said: Promise<HelmSaid>): Promise<void> {
  const { status, out, err } = await said;
  expect(status, out + err).to.equal(0);
}
