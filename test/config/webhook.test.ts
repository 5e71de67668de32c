import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { mutateStatefulSetPath } from '../../src/admission/mutations.ts';
import {
  createdByLabel,
  createdByMoco,
  mocoWebhookConfiguration,
  strategyLabel,
  strategyOnDelete,
} from '../../src/moco/names.ts';
import { configDirectory, type Manifest, readManifests, readOne } from './manifests.ts';

interface Webhook {
  readonly clientConfig: { readonly service: { name: string; namespace: string; path: string; port: number } };
  readonly [field: string]: unknown;
}

describe('the webhook configuration', () => {
  let configuration: Manifest;
  let webhook: Webhook;

  before(async () => {
    configuration = await readOne('MutatingWebhookConfiguration', 'webhook');
    [webhook] = configuration['webhooks'] as [Webhook];
  });

  it('has a name that sorts after MOCO’s, so that it has the last word', () => {
    // The API server sorts by bytes, as this comparison does for ASCII.
    expect(configuration.metadata.name > mocoWebhookConfiguration).to.equal(true);
    expect(configuration['webhooks']).to.have.length(1);
  });

  it('is a component with what serves it, and no part of the default', async () => {
    const component = parse(await readFile(join(configDirectory, 'webhook/Kustomization'), 'utf8'));
    const resources = ['mutating-webhook-configuration.yaml'];
    expect(component).to.deep.include({ kind: 'Component', components: ['../webhook-server'], resources });
  });

  it('selects by our label and MOCO’s, and only updates of StatefulSets', () => {
    expect(webhook).to.deep.include({
      objectSelector: { matchLabels: { [createdByLabel]: createdByMoco, [strategyLabel]: strategyOnDelete } },
      rules: [
        {
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          operations: ['UPDATE'],
          resources: ['statefulsets'],
          scope: 'Namespaced',
        },
      ],
    });
  });

  it('never fails a write, is reinvoked after other webhooks, and has no side effects', () => {
    expect(webhook).to.deep.include({
      failurePolicy: 'Ignore',
      reinvocationPolicy: 'IfNeeded',
      sideEffects: 'None',
      timeoutSeconds: 3,
      matchPolicy: 'Equivalent',
      admissionReviewVersions: ['v1'],
    });
  });

  it('points through its Service to the path and port of the server', async () => {
    const { service } = webhook.clientConfig;
    expect(service.path).to.equal(mutateStatefulSetPath);
    const services = (await readManifests()).filter(({ kind }) => kind === 'Service');
    const [found] = services.filter(({ metadata }) => metadata.name === service.name);
    expect(found?.metadata.namespace).to.equal(service.namespace);
    expect(found?.['spec']).to.deep.include({
      ports: [{ name: 'webhook', port: service.port, targetPort: 'webhook' }],
    });
  });

  it('gets its CA from cert-manager, from the certificate of its Service', async () => {
    const certificate = await readOne('Certificate', 'webhook-server', 'moco-rollout-webhook');
    const { name, namespace } = certificate.metadata;
    expect(configuration.metadata.annotations).to.deep.equal({
      'cert-manager.io/inject-ca-from': `${namespace}/${name}`,
    });
    const { service } = webhook.clientConfig;
    expect(certificate['spec']).to.have.property('dnsNames').that.includes(`${service.name}.${service.namespace}.svc`);
  });
});
