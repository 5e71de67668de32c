import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import type { Connection } from '../../src/kube/connection.ts';
import { putCertificate } from '../admission/certificates.ts';
import { OwnWebhook } from '../cluster/webhook-fixture.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { beginsHeldBack } from '../support/moco/held-back.ts';
import { accessWith, type ObjectClient } from '../support/object-client.ts';

describe('an API server with a client certificate for webhooks', () => {
  let directory: string;
  let controlPlane: ControlPlane;
  let connection: Connection;
  let client: ObjectClient;
  let webhook: OwnWebhook;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-clients-'));
    await putCertificate(directory, 'api-server');
    // A file of its own for the webhook's side, so that a test can replace it.
    await copyFile(join(directory, 'tls.crt'), join(directory, 'ca.crt'));
    await copyFile(join(directory, 'tls.crt'), join(directory, 'right.crt'));
    controlPlane = await startControlPlane({
      audit: false,
      moreApiServerFlags: [`--admission-control-config-file=${await admissionConfiguration()}`],
    });
    ({ client, connection } = accessWith(controlPlane.adminKubeconfig));
    webhook = await OwnWebhook.start(controlPlane, client, { clientCaFile: join(directory, 'ca.crt') });
  });

  after(async () => {
    await webhook?.stop();
    await connection?.close();
    await controlPlane?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('is accepted if the webhook has its CA, and refused if the webhook has another', async () => {
    await webhook.register('partition-driver');
    await putCertificate(directory, 'another');
    await startAnewWith('tls.crt');
    expect(await beginsHeldBack(client)).to.equal(false);
    await startAnewWith('right.crt');
    expect(await beginsHeldBack(client)).to.equal(true);
  });

  async function startAnewWith(ca: string): Promise<void> {
    await webhook.goAway();
    await copyFile(join(directory, ca), join(directory, 'ca.crt'));
    await webhook.comeBack();
  }

  /** As the documentation of Kubernetes has it under "Authenticate API servers"; the name `*` is any webhook's. */
  async function admissionConfiguration(): Promise<string> {
    const kubeConfigFile = join(directory, 'webhooks.kubeconfig');
    const user = { 'client-certificate-data': await base64('tls.crt'), 'client-key-data': await base64('tls.key') };
    await writeFile(kubeConfigFile, stringify({ apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] }));
    const file = join(directory, 'admission.yaml');
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'WebhookAdmissionConfiguration',
      kubeConfigFile,
    };
    await writeFile(
      file,
      stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AdmissionConfiguration',
        plugins: [{ name: 'MutatingAdmissionWebhook', configuration }],
      }),
    );
    return file;
  }

  async function base64(name: string): Promise<string> {
    return (await readFile(join(directory, name))).toString('base64');
  }
});
