import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { mutatePartitionPath } from '../../src/admission/mutations.ts';
import {
  createdByLabel,
  createdByMoco,
  forceRollingUpdateAnnotation,
  mocoWebhookConfiguration,
  newPodsLabel,
  strategyLabel,
} from '../../src/moco/names.ts';
import { configDirectory, type Manifest, readManifests, readOne } from './manifests.ts';

interface Webhook {
  readonly clientConfig: { readonly service: { name: string; namespace: string; path: string; port: number } };
  readonly [field: string]: unknown;
}

const argument = { op: 'add', path: '/spec/template/spec/containers/0/args/-' };

describe('the component for installations whose MOCO has no webhook of StatefulSets', () => {
  let configuration: Manifest;
  let webhook: Webhook;

  before(async () => {
    configuration = await readOne('MutatingWebhookConfiguration', 'partition-driver');
    [webhook] = configuration['webhooks'] as [Webhook];
  });

  it('holds one webhook configuration and is no part of the default', async () => {
    const component = parse(await readFile(join(configDirectory, 'partition-driver/Kustomization'), 'utf8'));
    expect(component).to.deep.include({ kind: 'Component', resources: ['mutating-webhook-configuration.yaml'] });
    const [{ patch }] = component.patches;
    expect(parse(patch)).to.deep.equal([{ ...argument, value: '--partition-driver=own' }]);
    expect(await readManifests('partition-driver')).to.have.length(1);
    expect(configuration['webhooks']).to.have.length(1);
    const installed = parse(await readFile(join(configDirectory, 'default/kustomization.yaml'), 'utf8'));
    expect(JSON.stringify(installed)).not.to.contain('partition-driver');
  });

  it('has a name that sorts after the one for OnDelete, so that it sees what that has made', async () => {
    const forOnDelete = await readOne('MutatingWebhookConfiguration', 'webhook');
    // The API server sorts by bytes, as this comparison does for ASCII.
    expect(configuration.metadata.name > forOnDelete.metadata.name).to.equal(true);
    expect(configuration.metadata.name > mocoWebhookConfiguration).to.equal(true);
  });

  it('selects every StatefulSet of MOCO’s that isn’t at OnDelete, new ones too', () => {
    expect(webhook).to.deep.include({
      objectSelector: { matchLabels: { [createdByLabel]: createdByMoco } },
      rules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['statefulsets'],
          scope: 'Namespaced',
        },
      ],
    });
    expect(webhook).to.have.nested.property('matchConditions[0].expression').that.contains("!= 'OnDelete'");
  });

  it('selects one that comes from OnDelete with the label for new pods, and not one that is pinned already', () => {
    const conditions = webhook['matchConditions'] as readonly { name: string; expression: string }[];
    expect(conditions.map(({ name }) => name)).to.deep.equal(['not-on-delete', 'not-pinned']);
    for (const { expression } of conditions) expect(expression).to.contain(`'${newPodsLabel}'`);
    expect(conditions[1]?.expression)
      .to.contain(`'${strategyLabel}'`)
      .and.to.contain(`'${forceRollingUpdateAnnotation}'`);
  });

  it('fails closed, and documents why', async () => {
    expect(webhook['failurePolicy']).to.equal('Fail');
    const component = await readFile(join(configDirectory, 'partition-driver/Kustomization'), 'utf8');
    expect(component).to.match(/^(#.*\n)*# This webhook fails closed\./);
  });

  it('is reinvoked after other webhooks, and has no side effects', () => {
    expect(webhook).to.deep.include({
      name: 'partition.moco-rollout.io',
      reinvocationPolicy: 'IfNeeded',
      sideEffects: 'None',
      timeoutSeconds: 10,
      matchPolicy: 'Equivalent',
      admissionReviewVersions: ['v1'],
    });
  });

  it('points to its path through the Service of the other webhooks, with the CA of the same certificate', async () => {
    const { service } = webhook.clientConfig;
    const forOnDelete = await readOne('MutatingWebhookConfiguration', 'webhook');
    const [other] = forOnDelete['webhooks'] as readonly Webhook[];
    expect(service).to.deep.equal({ ...other?.clientConfig.service, path: mutatePartitionPath });
    const certificate = await readOne('Certificate', 'webhook-server', 'moco-rollout-webhook');
    const { name, namespace } = certificate.metadata;
    expect(configuration.metadata.annotations).to.deep.equal({
      'cert-manager.io/inject-ca-from': `${namespace}/${name}`,
    });
  });
});
