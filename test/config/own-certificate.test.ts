import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { flags } from '../../src/options/flags.ts';
import { ownConfigurations } from '../../src/webhook/self-made/webhook-configurations.ts';
import { configDirectory, readManifests, readOne } from './manifests.ts';

describe('the manifests for a certificate of the controller’s own', () => {
  it('grant one Secret by its name, where RBAC can, and the webhook configurations by theirs', async () => {
    const role = await readOne('Role', 'own-certificate');
    expect(role.metadata.namespace).to.equal('moco-rollout-system');
    expect(role['rules']).to.deep.equal([
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: [flags['webhook-secret'].defaultText],
        verbs: ['get', 'update'],
      },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ]);
    expect((await readOne('ClusterRole', 'own-certificate'))['rules']).to.deep.equal([
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations'],
        resourceNames: ownConfigurations,
        verbs: ['get', 'patch'],
      },
    ]);
  });

  it('keep the controller to these by a policy for its ServiceAccount and its Secret', async () => {
    const { metadata } = await readOne('ServiceAccount', 'rbac');
    const policy = await readOne('ValidatingAdmissionPolicy', 'own-certificate');
    const binding = await readOne('ValidatingAdmissionPolicyBinding', 'own-certificate');
    expect(binding['spec']).to.deep.equal({ policyName: policy.metadata.name, validationActions: ['Deny'] });
    const text = JSON.stringify(policy['spec']);
    expect(text).to.contain(`'system:serviceaccount:${metadata.namespace}:${metadata.name}'`);
    expect(text).to.contain(`'${flags['webhook-secret'].defaultText}'`);
  });

  it('name the webhook configurations that there are, and the program the Service and the Secret', async () => {
    const configurations = [
      await readOne('MutatingWebhookConfiguration', 'webhook'),
      await readOne('MutatingWebhookConfiguration', 'partition-driver'),
    ];
    expect(configurations.map(({ metadata }) => metadata.name)).to.deep.equal(ownConfigurations);
    const services = (await readManifests('webhook')).filter(({ kind }) => kind === 'Service');
    expect(services.map(({ metadata }) => metadata.name)).to.deep.equal([flags['webhook-service'].defaultText]);
    expect((await readOne('Certificate', 'default'))['spec']).to.include({
      secretName: flags['webhook-secret'].defaultText,
    });
  });

  it('are config/default and what differs', async () => {
    const overlay = parse(await readFile(join(configDirectory, 'own-certificate/kustomization.yaml'), 'utf8'));
    expect(overlay.resources[0]).to.equal('../default');
    const files = (await readManifests('own-certificate')).map(({ file }) => file.split('/').at(-1));
    expect(overlay.resources.slice(1)).to.have.members(files);
  });
});
