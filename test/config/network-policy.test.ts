import { expect } from 'chai';
import { readOne } from './manifests.ts';

interface Policy {
  readonly podSelector: { readonly matchLabels: object };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly { readonly ports: readonly { readonly port: string }[]; readonly from?: object }[];
}

interface Pods {
  readonly selector: { readonly matchLabels: object };
  readonly template: {
    readonly spec: { readonly containers: readonly [{ readonly ports: readonly { name: string }[] }] };
  };
}

describe('the NetworkPolicy', () => {
  it('lets only pods of the namespace of Prometheus connect, and only to the metrics port', async () => {
    const policy = (await readOne('NetworkPolicy'))['spec'] as Policy;
    const pods = (await readOne('Deployment'))['spec'] as Pods;
    expect(policy.podSelector.matchLabels).to.deep.equal(pods.selector.matchLabels);
    expect(policy.policyTypes).to.deep.equal(['Ingress']);
    const prometheus = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
    expect(policy.ingress).to.deep.equal([{ ports: [{ port: 'metrics' }], from: [prometheus] }]);
    const named = pods.template.spec.containers[0].ports.map(({ name }) => name);
    expect(named).to.include('metrics');
  });
});
