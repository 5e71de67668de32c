import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
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
    built = await build(join(configDirectory, 'default'));
  });

  after(() => controlPlane?.stop());

  it('build with kustomize into everything that the directories hold', async () => {
    const held = (await readManifests())
      .filter(({ file }) => !/^(samples|partition-driver|prometheus)\b/.test(file))
      .map(nameOf);
    expect(built.map(nameOf)).to.have.members([...new Set(held)]);
  });

  it('build with the component for partitions beside them into one webhook configuration more', async () => {
    const directory = join(controlPlane.directory, 'overlay');
    await mkdir(directory);
    const from = (name: string): string => relative(directory, join(configDirectory, name));
    const overlay = { resources: [from('default')], components: [from('partition-driver')] };
    await writeFile(join(directory, 'kustomization.yaml'), stringify(overlay));
    const more = (await build(directory)).map(nameOf).filter((name) => !built.map(nameOf).includes(name));
    expect(more).to.deep.equal(['MutatingWebhookConfiguration /moco-rollout-partition-webhook-configuration']);
  });

  it('get the annotation by which cert-manager finds the webhook configuration', () => {
    const configuration = built.find(({ kind }) => kind === 'MutatingWebhookConfiguration');
    expect(configuration?.metadata.annotations).to.have.property('cert-manager.io/inject-ca-from');
    expect(configuration?.['webhooks']).to.have.length(2);
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
    for (const directory of ['crd', 'rbac', 'webhook', 'partition-driver', 'manager', 'samples']) {
      const path = join(configDirectory, directory);
      const applied = await controlPlane.kubectl('apply', '--server-side', '-o', 'name', '-f', path);
      const held = await readManifests(directory);
      expect(applied.trim().split('\n'), directory).to.have.length(held.length);
    }
  });

  async function build(directory: string): Promise<readonly Manifest[]> {
    const documents = parseAllDocuments(await controlPlane.kubectl('kustomize', directory));
    return 'empty' in documents ? [] : documents.map((document) => document.toJS() as Manifest);
  }
});

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
