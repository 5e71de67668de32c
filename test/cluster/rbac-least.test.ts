import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { events } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import type { ControllerProcess } from '../support/stage/controller-process.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, sharedFlags, useRollouts } from './rollout-fixture.ts';

const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
// Which rights the controller uses and which it has: the whole run compares them (hack/run-tests.ts). What else its token
// could write: token.test.ts.
describe('a controller with the rights of the installation alone', () => {
  const { stage, newCluster } = useRollouts();
  let kubeconfig: string;
  let certDir: string;
  let controller: ControllerProcess;
  let cluster: RolloutCluster;
  let metrics: string;

  before(async () => {
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
    metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  });

  after(async () => {
    await endAll();
    await stage().startController(sharedFlags);
  });

  async function endAll(): Promise<void> {
    await Promise.all(stage().controllers.map((one) => one.stop('SIGKILL')));
  }

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

async function ownCertificate(controlPlane: ControlPlane): Promise<string> {
  const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
  const directory = join(controlPlane.directory, 'own-certificate');
  await mkdir(directory);
  await copyFile(certificate, join(directory, 'tls.crt'));
  await copyFile(key, join(directory, 'tls.key'));
  return directory;
}
