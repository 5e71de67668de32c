import { expect } from 'chai';
import {
  createdByLabel,
  createdByMoco,
  mocoWebhookConfiguration,
  strategyLabel,
  strategyOnDelete,
} from '../../src/moco/names.ts';
import { mutateStatefulSetPath } from '../../src/webhook/reviewers.ts';
import { type Manifest, readManifests, readOne } from './manifests.ts';

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

  it('fails closed, is invoked again after others, and has no side effects', () => {
    expect(webhook).to.deep.include({
      failurePolicy: 'Fail',
      reinvocationPolicy: 'IfNeeded',
      sideEffects: 'None',
      timeoutSeconds: 10,
      matchPolicy: 'Equivalent',
      admissionReviewVersions: ['v1'],
    });
  });

  it('leads through its Service to the path and the port of the server', async () => {
    const { service } = webhook.clientConfig;
    expect(service.path).to.equal(mutateStatefulSetPath);
    const services = (await readManifests()).filter(({ kind }) => kind === 'Service');
    const [found] = services.filter(({ metadata }) => metadata.name === service.name);
    expect(found?.metadata.namespace).to.equal(service.namespace);
    expect(found?.['spec']).to.deep.include({
      ports: [{ name: 'webhook', port: service.port, targetPort: 'webhook' }],
    });
  });

  it('has its CA put in by cert-manager, from the certificate that the Deployment mounts', async () => {
    const certificate = await readOne('Certificate', 'default');
    const patch = await readOne('MutatingWebhookConfiguration', 'default');
    const { name, namespace } = certificate.metadata;
    expect(patch.metadata.name).to.equal(configuration.metadata.name);
    expect(patch.metadata.annotations).to.deep.equal({ 'cert-manager.io/inject-ca-from': `${namespace}/${name}` });
    const { service } = webhook.clientConfig;
    expect(certificate['spec']).to.have.property('dnsNames').that.includes(`${service.name}.${service.namespace}.svc`);
  });
});
