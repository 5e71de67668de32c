import { expect } from 'chai';
import { parseOptions } from '../../src/options/options.ts';
import { type Manifest, readManifests, readOne } from './manifests.ts';

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly resources: unknown;
  readonly securityContext: unknown;
}

interface DeploymentSpec {
  readonly replicas: number;
  readonly selector: { readonly matchLabels: Record<string, string> };
  readonly template: {
    readonly metadata: { readonly labels: Record<string, string> };
    readonly spec: {
      readonly serviceAccountName: string;
      readonly securityContext: unknown;
      readonly containers: readonly [Container];
    };
  };
}

describe('the Deployment', () => {
  let deployment: Manifest;
  let spec: DeploymentSpec;
  let container: Container;

  before(async () => {
    deployment = await readOne('Deployment');
    spec = deployment['spec'] as DeploymentSpec;
    [container] = spec.template.spec.containers;
  });

  it('runs two replicas of which one leads, as the ServiceAccount that has the permissions', async () => {
    const account = await readOne('ServiceAccount');
    expect(spec.replicas).to.equal(2);
    expect(spec.template.spec.serviceAccountName).to.equal(account.metadata.name);
    expect(deployment.metadata.namespace).to.equal(account.metadata.namespace);
  });

  it('passes valid flags with matching ports, and serves no webhook', () => {
    const parsed = parseOptions(container.args.map((argument) => argument.replace('$(POD_NAMESPACE)', 'own')));
    if (parsed.kind !== 'options') throw new Error(JSON.stringify(parsed));
    const { options } = parsed;
    expect(options).to.include({ leaderElect: true, leaderElectionNamespace: 'own' });
    expect(Object.fromEntries(container.ports.map(({ name, containerPort }) => [name, containerPort]))).to.deep.equal({
      metrics: options.metricsBindAddress?.port,
      health: options.healthProbeBindAddress?.port,
    });
    expect(options.webhookBindAddress).to.equal(null);
    expect(JSON.stringify(spec)).not.to.match(/[Vv]olume|certificate/);
  });

  it('is probed on the port that serves health', () => {
    expect(container.livenessProbe.httpGet).to.deep.equal({ path: '/healthz', port: 'health' });
    expect(container.readinessProbe.httpGet).to.deep.equal({ path: '/readyz', port: 'health' });
  });

  it('passes Kubernetes’ restricted pod security standard, with a read-only root file system', () => {
    expect(spec.template.spec.securityContext).to.deep.include({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources).to.have.nested.property('limits.memory');
  });

  it('is selected by every selector for it', async () => {
    const selecting = (await readManifests()).filter(
      ({ kind }) => kind === 'Service' || kind === 'PodDisruptionBudget',
    );
    expect(selecting).to.have.length(3);
    expect(spec.template.metadata.labels).to.deep.equal(spec.selector.matchLabels);
    for (const { kind, ...rest } of selecting) {
      const selector = (rest['spec'] as { selector: Record<string, unknown> }).selector;
      expect(kind === 'Service' ? selector : selector['matchLabels']).to.deep.equal(spec.selector.matchLabels);
    }
  });
});
