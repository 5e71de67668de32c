import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { configDirectory, type Manifest, readManifests } from '../config/manifests.ts';

const startDeadlineMilliseconds = 120_000;

describe('the API server and the manifests', function () {
  this.timeout(startDeadlineMilliseconds);
  let controlPlane: ControlPlane;
  let built: readonly Manifest[];

  before(async () => {
    controlPlane = await startControlPlane({ audit: false });
    const text = await controlPlane.kubectl('kustomize', join(configDirectory, 'default'));
    const documents = parseAllDocuments(text);
    built = 'empty' in documents ? [] : documents.map((document) => document.toJS() as Manifest);
  });

  after(() => controlPlane?.stop());

  it('build with kustomize into everything that the directories hold', async () => {
    const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
    const held = (await readManifests()).filter(({ file }) => !file.startsWith('samples')).map(nameOf);
    expect(built.map(nameOf)).to.have.members([...new Set(held)]);
  });

  it('get the annotation by which cert-manager finds the webhook configuration', () => {
    const configuration = built.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
    expect(configuration?.metadata.annotations).to.have.property('cert-manager.io/inject-ca-from');
    expect(configuration?.['webhooks']).to.have.length(1);
  });

  it('are all taken, checked strictly, but for cert-manager’s kinds, which aren’t there', async () => {
    const file = join(controlPlane.directory, 'default.yaml');
    const ours = built.filter(({ apiVersion }) => !apiVersion.startsWith('cert-manager.io/'));
    expect(built.length - ours.length).to.equal(2);
    await writeFile(file, ours.map((manifest) => stringify(manifest)).join('---\n'));
    const applied = await controlPlane.kubectl('apply', '--server-side', '--validate=strict', '-o', 'name', '-f', file);
    expect(applied.trim().split('\n')).to.have.length(ours.length);
  });

  it('are taken directory by directory as well, once their namespace exists', async () => {
    for (const directory of ['crd', 'rbac', 'webhook', 'manager', 'samples']) {
      const path = join(configDirectory, directory);
      const applied = await controlPlane.kubectl('apply', '--server-side', '-o', 'name', '-f', path);
      const held = await readManifests(directory);
      expect(applied.trim().split('\n'), directory).to.have.length(held.length);
    }
  });
});
