import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { events, pods } from '../../src/kube/resource.ts';
import { clusterKind, mysqldContainer, preflightLabel } from '../../src/moco/names.ts';
import { preflightPod } from '../../src/moco/preflight-pod.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { until } from '../support/control-plane/until.ts';
import type { ControllerProcess } from '../support/stage/controller-process.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags, useRollouts } from './rollout-fixture.ts';

const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const json = (value: object): string => JSON.stringify(value);

const container = (name: string): object => ({ containers: [{ name, image: 'somebody/elses:1' }] });

const override = { rule: 'BackupRunning', until: '2099-01-01T00:00:00Z', reason: 'x' };

/** What the ServiceAccount's rights alone would allow. */
const attempts: Readonly<Record<string, { readonly flags: readonly string[]; readonly refusal: string }>> = {
  'change an image of a pod': {
    flags: ['patch', 'pod', 'moco-x-0', '-p', json({ spec: container(mysqldContainer) })],
    refusal: 'moco-rollout changes nothing in the spec of a pod',
  },
  'change a template': {
    flags: ['patch', 'statefulset', 'moco-x', '-p', json({ spec: { template: { spec: container(mysqldContainer) } } })],
    refusal: 'moco-rollout changes no template and no number of replicas',
  },
  'change a setting': {
    flags: ['patch', 'mysqlrollout', 'x', '--type=merge', '-p', json({ spec: { paused: true } })],
    refusal: 'moco-rollout changes no setting',
  },
  'override a rule': {
    flags: ['patch', 'mysqlrollout', 'x', '--type=merge', '-p', json({ spec: { overrides: [override] } })],
    refusal: 'denied request',
  },
  'create a pod as a dry run that isn’t MOCO’s': {
    flags: ['run', 'somebody-elses', '--image=somebody/elses:1'],
    refusal: 'moco-rollout changes only what MOCO has made',
  },
  'create a pod as a dry run that no member is': {
    flags: ['run', 'moco-controller', '--image=somebody/elses:1'],
    refusal: 'moco-rollout changes only what MOCO has made',
  },
  'delete a pod that isn’t MOCO’s': {
    flags: ['delete', 'pod', 'somebody-elses'],
    refusal: 'moco-rollout changes only what MOCO has made',
  },
  'delete a pod that only has the label of a preflight': {
    flags: ['delete', 'pod', 'labelled'],
    refusal: 'moco-rollout changes only what MOCO has made',
  },
};

// Which rights the controller uses and which it has: the whole run compares them (hack/run-tests.ts).
describe('a controller under its policy', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts();
  let kubeconfig: string;
  let certDir: string;
  let controller: ControllerProcess;
  let cluster: RolloutCluster;
  let metrics: string;

  before(async function rollOut() {
    this.timeout(scenarioDeadlineMilliseconds);
    const { controlPlane } = stage();
    await endAll();
    kubeconfig = await controlPlane.kubeconfigFor(serviceAccount);
    certDir = await ownCertificate(controlPlane);
    const metricsPort = await freePort();
    controller = await stage().startController([
      ...sharedFlags,
      `--kubeconfig=${kubeconfig}`,
      `--cert-dir=${certDir}`,
      `--metrics-bind-address=127.0.0.1:${metricsPort}`,
    ]);
    cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({ replicas: 1 });
      await cluster.isTaken();
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
    });
    await cluster.make(pods, { metadata: { name: 'somebody-elses' }, spec: container('x') });
    const labels = { [preflightLabel]: cluster.name };
    await cluster.make(pods, { metadata: { name: 'labelled', labels }, spec: container('x') });
    metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  });

  after(async function restore() {
    this.timeout(scenarioDeadlineMilliseconds);
    await endAll();
    await stage().startController(sharedFlags);
  });

  async function endAll(): Promise<void> {
    await Promise.all(stage().controllers.map((one) => one.stop('SIGKILL')));
  }

  for (const [what, { refusal, flags }] of Object.entries(attempts)) {
    it(`can't ${what}`, async () => {
      const tried = cluster.kubectl('--kubeconfig', kubeconfig, ...flags, '--dry-run=server');
      expect(String(await tried.catch((error: unknown) => error))).to.include(refusal);
    });
  }

  it('can create a pod of MOCO’s as a dry run, and not otherwise', async () => {
    const run = (...flags: readonly string[]): Promise<string> =>
      cluster
        .kubectl('--kubeconfig', kubeconfig, 'run', 'moco-x-9', '--image=somebody/elses:1', ...flags)
        .catch(String);
    expect(await run('--dry-run=server')).to.include('pod/moco-x-9 created (server dry run)');
    expect(await run()).to.include('moco-rollout creates pods as dry runs only');
  });

  it('can create the pod of a preflight where config/preflight allows that, with no Secret, and no other pod', async () => {
    const name = 'moco-rollout-preflight-0123456789abcdef';
    const create = async (change: (pod: PreflightPod) => void = () => undefined): Promise<string> => {
      const pod = preflight(cluster, name);
      change(pod);
      const file = await stage().controlPlane.fileOf(pod);
      return cluster.kubectl('--kubeconfig', kubeconfig, 'create', '-f', file).catch(String);
    };
    expect(await create()).to.include('where it may create mysqlrollouts/preflight');
    await cluster.kubectl('apply', '-k', 'config/preflight');
    const secret = { name: 'a', secret: { secretName: 'moco-x' } };
    const onlyImages = 'the pod of a preflight has images, ConfigMaps and empty directories alone';
    // RBAC reaches the authorizer a moment after it was written.
    await until('no Secret is mounted', async () =>
      (await create(({ spec }) => spec.volumes.push(secret))).includes(onlyImages),
    );
    expect(await create(({ spec }) => Object.assign(spec, { hostNetwork: true }))).to.include(onlyImages);
    expect(await create(({ spec }) => Object.assign(spec, { automountServiceAccountToken: true }))).to.include(
      onlyImages,
    );
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'moco-x', key: 'a' } } }];
    expect(await create(({ spec }) => Object.assign(spec.containers[0] ?? {}, { env }))).to.include(onlyImages);
    const oneMysqld = 'the pod of a preflight is one mysqld that ends at once';
    const [ports, capabilities] = [[{ containerPort: 3306 }], { add: ['SYS_ADMIN'] }];
    const changes: readonly ((pod: PreflightPod) => unknown)[] = [
      ({ metadata }) => Object.assign((metadata as { labels: object }).labels, { 'app.kubernetes.io/name': 'mysql' }),
      ({ spec }) => Object.assign(spec, { nodeName: 'node-1' }),
      ({ spec }) => Object.assign(spec, { priorityClassName: 'system-node-critical' }),
      ({ spec }) => spec.containers.push({ name: 'other', image: 'somebody/elses:1' }),
      ({ spec }) => Object.assign(spec.containers[0] ?? {}, { ports }),
      ({ spec }) => Object.assign(spec.containers[0] ?? {}, { args: ['--init-file=/x'] }),
      ({ spec }) => Object.assign(spec.containers[0] ?? {}, { securityContext: { capabilities } }),
    ];
    for (const change of changes) expect(await create((pod) => void change(pod)), String(change)).to.include(oneMysqld);
    expect(await create(({ metadata }) => Object.assign(metadata, { name: 'moco-x-9' }))).to.include('dry runs only');
    expect(await create(({ metadata }) => Object.assign(metadata, { labels: {} }))).to.include('dry runs only');
    expect(await create()).to.include(`pod/${name} created`);
    const remove = cluster.kubectl('--kubeconfig', kubeconfig, 'delete', 'pod', name, '--wait=false');
    expect(await remove).to.include(`pod "${name}" deleted`);
  });

  it('has disclosed neither its token nor the key of its webhook', async () => {
    const token = /"token": "([^"]+)"/.exec(await readFile(kubeconfig, 'utf8'))?.[1] ?? '';
    const key = await readFile(join(certDir, 'tls.key'), 'utf8');
    const [, , signature = ''] = token.split('.');
    const secrets = [token, signature, ...key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))];
    expect(signature).not.to.equal('');
    const kinds = [events, rolloutKind, clusterKind];
    const objects = await Promise.all(kinds.map((kind) => stage().client.list(kind, {}, { priority: 'read' })));
    const reported = { log: controller.log, metrics, objects: JSON.stringify(objects) };
    for (const [where, text] of Object.entries(reported)) {
      expect(text.length, where).to.be.greaterThan(1000);
      for (const secret of secrets) expect(text.includes(secret), `a secret in the ${where}`).to.equal(false);
    }
  });
});

interface PreflightPod {
  readonly metadata: object;
  readonly spec: { readonly containers: object[]; readonly volumes: object[] };
}

function preflight(cluster: RolloutCluster, name: string): PreflightPod {
  const template = { spec: container(mysqldContainer) };
  const pod = preflightPod({
    namespace: cluster.namespace,
    clusterName: cluster.name,
    rollout: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', name: cluster.name, uid: 'x' },
    node: 'node-1',
    revision: 'x',
    template: { spec: { containers: [{ name: mysqldContainer, image: 'mysql:1' }] } },
    templateBefore: template,
    about: 'images',
    timeoutSeconds: 1,
  }) as unknown as PreflightPod;
  return { ...pod, metadata: { ...pod.metadata, name, ownerReferences: [] } };
}

async function ownCertificate(controlPlane: ControlPlane): Promise<string> {
  const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
  const directory = join(controlPlane.directory, 'own-certificate');
  await mkdir(directory);
  await copyFile(certificate, join(directory, 'tls.crt'));
  await copyFile(key, join(directory, 'tls.key'));
  return directory;
}
