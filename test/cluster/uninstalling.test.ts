import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { rolloutCompleteCondition, strategyLabel, strategyOnDelete } from '../../src/moco/names.ts';
import { chartDirectory } from '../config/manifests.ts';
import { commandsUnder } from '../docs/markdown.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import type { MySQLCluster, StatefulSet } from '../support/moco/objects.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { defaultSettings } from '../support/moco/settings.ts';
import { statefulSetBody } from '../support/moco/stateful-set.ts';
import { cli, cliOfImage } from './cli-program.ts';
import { Helm, type HelmSaid, set } from './helm-program.ts';

const mocoDefinitions = fileURLToPath(new URL('../support/moco/crd', import.meta.url));
const system = 'moco-rollout-system';
const release = ['moco-rollout', '--namespace', system];
/** Its webhook fails closed. Its certificate is nobody's, and nobody answers. */
const ownPartitionDriver = set('partitionDriver=own', 'certificate.certManager=false', 'certificate.caBundle=Y2E=');

const commandsOf = (heading: string): Promise<readonly string[]> => commandsUnder(heading, 'uninstalling.md');

/**
 * No controller and no kubelet run here: a webhook that is registered never answers, and a Job's pod is played. The plain
 * `helm uninstall` is part of real-nodes.test.ts.
 */
describe('uninstalling', () => {
  let controlPlane: ControlPlane;
  let helm: Helm;

  before(async () => {
    helm = await Helm.open();
    controlPlane = await startControlPlane({ audit: false, manifests: [mocoDefinitions] });
    await apply(sampleCluster({ name: 'test', namespace: 'default' }));
  });

  beforeEach(async () => {
    await takenOver();
    await succeeds(helmHere('install', ...release, chartDirectory, '--create-namespace'));
    await until('the admission policy is in force', kept);
  });

  after(async () => {
    await controlPlane?.stop();
    await helm?.close();
  });

  it('removes nothing if it cannot release, and does after the documented commands', async () => {
    await succeeds(helmHere('upgrade', ...release, chartDirectory, ...ownPartitionDriver));
    await until('writes are refused while no process answers for the webhook', refused);
    const stuck = await helmHere('uninstall', ...release, '--timeout=5s');
    expect(stuck.status, stuck.out).to.equal(1);
    expect(await installed()).to.equal(true);
    expect((await strategy())?.type).to.equal('OnDelete');
    const before = await pods();
    const commands = await commandsOf('The own partition driver stopped, and `helm uninstall` fails');
    await inTurn(commands, () => playJob(before));
    await isBack();
    expect(await installed()).to.equal(false);
  });

  it('releases clusters with the Roles of the listed namespaces', async () => {
    await succeeds(
      helmHere('upgrade', ...release, chartDirectory, '--reset-then-reuse-values', '--set', 'namespaces={default}'),
    );
    const [uninstall = ''] = await commandsOf('With Helm');
    await inTurn([uninstall], () => playJob([]));
    await isBack();
  });

  it('by pruning, the CRDs too, releases nothing either, but the plugin does', async () => {
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

  it('by deleting the namespace leaves the policy in force until it is deleted as well', async () => {
    await controlPlane.kubectl('delete', 'namespace', system);
    expect(await kept()).to.equal(true);
    await inTurn(await commandsOf('The namespace deleted first'));
    await isBack();
    const kinds = 'clusterrole,clusterrolebinding,mutatingwebhookconfiguration,validatingadmissionpolicy';
    expect(await left(`${kinds},mutatingadmissionpolicy,mutatingadmissionpolicybinding`)).to.equal('');
  });

  it('by deleting the CRDs first loses the settings, but no StatefulSet', async () => {
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
    const selector = '--selector=app.kubernetes.io/component=release';
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
    const { metadata, spec } = await until('the Job has a pod', ask);
    const kubeconfig = await controlPlane.kubeconfigFor({ namespace: system, name: spec.serviceAccountName });
    const { status, err } = await cliOfImage(kubeconfig, spec.containers[0].args);
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
    const condition = { type: rolloutCompleteCondition, status: 'True', reason: 'RolloutComplete', message: '' };
    const conditions = [{ ...condition, lastTransitionTime: '2026-01-02T03:04:05Z' }];
    const status = JSON.stringify({ status: { currentPrimaryIndex: 0, syncedReplicas: 3, conditions } });
    const patch = ['--subresource=status', '--type=merge', '--patch', status];
    await controlPlane.kubectl('patch', 'mysqlcluster', 'test', ...patch);
  }

  async function apply(object: object): Promise<void> {
    const file = await controlPlane.fileOf(object);
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
    const conditions = ['get', 'mysqlcluster', 'test', '-o', 'jsonpath={.status.conditions[*].type}'];
    expect(await controlPlane.kubectl(...conditions)).not.to.contain(rolloutCompleteCondition);
  }

  const installed = async (): Promise<boolean> =>
    (await controlPlane.kubectl('get', 'deployment', '-n', system, '-o', 'name').catch(() => '')) !== '';

  /** What is left of a release, by name. */
  const left = (kinds: string): Promise<string> =>
    controlPlane.kubectl('get', kinds, '--selector=app.kubernetes.io/part-of=moco-rollout', '-o', 'name');

  /** Admission keeps the StatefulSet at OnDelete. */
  async function kept(): Promise<boolean> {
    const asked = await patched({ type: 'RollingUpdate', rollingUpdate: null }).catch(() => '');
    return asked.trim() === 'OnDelete';
  }

  /** The webhook of the own partition driver is asked before the StatefulSet is released, and does not answer. */
  async function refused(): Promise<boolean> {
    const labels = { [strategyLabel]: null };
    const said = await patched({ type: 'RollingUpdate', rollingUpdate: null }, labels).catch(
      (error: Error) => error.message,
    );
    return said.includes('failed calling webhook');
  }

  /** The strategy that would come out. */
  function patched(updateStrategy: object, labels: object = {}): Promise<string> {
    const patch = JSON.stringify({ metadata: { labels }, spec: { updateStrategy } });
    const flags = [
      '--type=merge',
      `--patch=${patch}`,
      '--dry-run=server',
      '-o',
      'jsonpath={.spec.updateStrategy.type}',
    ];
    return controlPlane.kubectl('patch', 'statefulset', 'moco-test', ...flags);
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
