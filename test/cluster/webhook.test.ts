import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { mutateStatefulSetPath } from '../../src/admission/reviewers.ts';
import { type RunningWebhook, startWebhook } from '../../src/admission/server.ts';
import { forceRollingUpdateAnnotation } from '../../src/moco/names.ts';
import { readOne } from '../config/manifests.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';

const startDeadlineMilliseconds = 360_000;
const log = { info: () => {}, warn: () => {}, error: () => {} };

interface StatefulSet {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly updateStrategy: { readonly type: string } };
}

describe('the API server and the webhook as configured by the manifests', function () {
  this.timeout(startDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let webhook: RunningWebhook;
  let names = 0;

  before(async () => {
    controlPlane = await startControlPlane();
    const certDir = join(controlPlane.directory, 'webhook');
    const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    await mkdir(certDir);
    await copyFile(certificate, join(certDir, 'tls.crt'));
    await copyFile(key, join(certDir, 'tls.key'));
    webhook = await startWebhook({ address: { host: '127.0.0.1', port: 0 }, certDir, log });
    const { file: _, ...configuration } = await readOne('MutatingWebhookConfiguration', 'webhook');
    const [installed] = configuration['webhooks'] as [object];
    const clientConfig = {
      url: `https://127.0.0.1:${webhook.address.port}${mutateStatefulSetPath}`,
      caBundle: Buffer.from(controlPlane.caBundle).toString('base64'),
    };
    await apply({ ...configuration, webhooks: [{ ...installed, clientConfig }] });
    await untilConsulted();
  });

  after(async () => {
    await webhook?.close(0);
    await controlPlane?.stop();
  });

  it('keep a labelled StatefulSet at OnDelete when MOCO applies RollingUpdate, without a new resourceVersion', async () => {
    const name = await make(taken);
    // The first one makes MOCO the owner of a field that the taking patch owned; from then on nothing is new.
    await applyAsMoco(name);
    const before = await read(name);
    expect(before.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
    for (let times = 0; times < 3; times++) await applyAsMoco(name);
    const after = await read(name);
    expect(after.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
    expect(after.metadata.resourceVersion).to.equal(before.metadata.resourceVersion);
  });

  it('adopt one by a single patch that sets label and strategy', async () => {
    const name = await make();
    expect((await read(name)).spec.updateStrategy).to.deep.equal(rollingUpdate);
    await patch(name, taken);
    expect((await read(name)).spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
  });

  it('release one by a single patch that removes the label', async () => {
    const name = await make(taken);
    await patch(name, {
      metadata: { labels: { 'moco-rollout.io/strategy': null } },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } },
    });
    expect((await read(name)).spec.updateStrategy).to.deep.equal(rollingUpdate);
  });

  it('let MOCO force a rolling update and adopt the StatefulSet again afterwards', async () => {
    const name = await make(taken);
    await patch(name, { metadata: { annotations: { [forceRollingUpdateAnnotation]: 'true' } } });
    await applyAsMoco(name);
    expect((await read(name)).spec.updateStrategy).to.deep.equal(rollingUpdate);
    await patch(name, { metadata: { annotations: { [forceRollingUpdateAnnotation]: null } } });
    expect((await read(name)).spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
  });

  it('leave a partition that another user sets without effect', async () => {
    const name = await make(taken);
    await patch(name, { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } } });
    expect((await read(name)).spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
  });

  it('record the decision in the audit log', async () => {
    const name = await make(taken);
    await applyAsMoco(name);
    const events = (await controlPlane.audit()).filter(({ requestURI }) =>
      requestURI.includes(`/statefulsets/${name}`),
    );
    expect(JSON.stringify(events)).to.contain('"statefulset.moco-rollout.io/strategy":"labelled"');
  });

  it('refuse no write while the webhook is unavailable', async () => {
    const labelled = await make(taken);
    const { address } = webhook;
    await webhook.close(0);
    try {
      await patch(labelled, { metadata: { annotations: { written: 'meanwhile' } } });
    } finally {
      webhook = await startWebhook({ address, certDir: join(controlPlane.directory, 'webhook'), log });
    }
    const { spec } = await read(labelled);
    expect(spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
  });

  const rollingUpdate = { type: 'RollingUpdate' };
  const taken = {
    metadata: { labels: { 'moco-rollout.io/strategy': 'OnDelete' } },
    spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
  };

  /** A StatefulSet as MOCO makes one, then patched. */
  async function make(change: object = {}): Promise<string> {
    const name = `moco-test-${names++}`;
    await applyAsMoco(name);
    await patch(name, change);
    return name;
  }

  function applyAsMoco(name: string): Promise<string> {
    const selector = { 'app.kubernetes.io/name': 'mysql', 'app.kubernetes.io/instance': name };
    const labels = { ...selector, 'app.kubernetes.io/created-by': 'moco' };
    return apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace: 'default', labels },
      spec: {
        replicas: 0,
        serviceName: name,
        selector: { matchLabels: labels },
        updateStrategy: { type: 'RollingUpdate' },
        template: { metadata: { labels }, spec: { containers: [{ name: 'mysqld', image: 'mysql' }] } },
      },
    });
  }

  async function apply(object: object): Promise<string> {
    const file = join(controlPlane.directory, 'object.json');
    await writeFile(file, JSON.stringify(object));
    return controlPlane.kubectl(
      'apply',
      '--server-side',
      '--force-conflicts',
      '--field-manager=moco-controller',
      '-f',
      file,
    );
  }

  function patch(name: string, change: object): Promise<string> {
    return controlPlane.kubectl('patch', 'statefulset', name, '--type=merge', '-p', JSON.stringify(change));
  }

  async function read(name: string): Promise<StatefulSet> {
    return JSON.parse(await controlPlane.kubectl('get', 'statefulset', name, '-o', 'json'));
  }

  /** The API server takes up a new configuration a moment after it was written. */
  async function untilConsulted(): Promise<void> {
    const name = await make(taken);
    const change = JSON.stringify({ spec: { updateStrategy: { type: 'RollingUpdate' } } });
    const dryRun = ['patch', 'statefulset', name, '--type=merge', '-p', change, '--dry-run=server', '-o', 'json'];
    let type: string;
    do {
      const answer = JSON.parse(await controlPlane.kubectl(...dryRun)) as StatefulSet;
      ({ type } = answer.spec.updateStrategy);
    } while (type !== 'OnDelete');
  }
});
