import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { releasePermissions } from '../../src/objects/permissions.ts';
import { chartDirectory, configDirectory, isHook, type Manifest, nameOf, parseManifests } from '../config/manifests.ts';
import { rightsOf, rightsOfPermissions } from '../config/rights.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { Helm, set, withoutPolicies, withPolicies } from './helm-program.ts';
import { kustomize, type Overlay } from './kustomize.ts';

const namespace = 'moco-rollout-system';
/** Of others, which aren't there. */
const foreignGroups = /^(cert-manager\.io|monitoring\.coreos\.com)\//;
const ofTheRelease = [
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
];

const policyKinds = (version: string): readonly string[] =>
  ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map(
    (kind) => `admissionregistration.k8s.io/${version} ${kind}`,
  );
const webhookKinds = [
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration',
  // Of the CA, and of the webhooks.
  'cert-manager.io/v1 Certificate',
  'cert-manager.io/v1 Certificate',
  'cert-manager.io/v1 Issuer',
  'cert-manager.io/v1 Issuer',
];

const everything = set(
  'featureGates.UpdateStrategyOnDelete=true',
  'admission=webhook',
  'partitionDriver=own',
  'serviceMonitor.enabled=true',
  'prometheusRule.enabled=true',
  'dashboard.enabled=true',
  'serviceMonitor.additionalLabels.release=prometheus',
  'prometheusRule.additionalLabels.release=prometheus',
  'replicaCount=3',
  `image.digest=sha256:${'0'.repeat(64)}`,
  'serviceAccount.name=rollouts',
  'serviceAccount.annotations.team=databases',
  'commonLabels.team=databases',
  'podLabels.pod=controller',
  'extraEnv[0].name=HTTPS_PROXY',
  'extraEnv[0].value=127.0.0.1:1',
  'topologySpreadConstraints[0].maxSkew=1',
  'topologySpreadConstraints[0].topologyKey=rack',
  'topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway',
  'topologySpreadConstraints[0].labelSelector.matchLabels.app=x',
  'podDisruptionBudget.maxUnavailable=50%',
  'settings.strategy=Partition',
  'policies.production.settings.minReadySeconds=30',
  'policies.production.enforced.paused=true',
  'sequences.production.stages[0].name=all',
  'priorityClassName=system-cluster-critical',
  'podAnnotations.team=databases',
  'nodeSelector.pool=system',
  'image.tag=0.1.0-1',
  'imagePullSecrets[0].name=pull',
  'extraVolumes[0].name=authority',
  'extraVolumes[0].configMap.name=authority',
  'extraVolumeMounts[0].name=authority',
  'extraVolumeMounts[0].mountPath=/authority',
  'flags.client-ca-file=/authority/ca.crt',
  'flags.log-level=debug',
  'flags.kube-api-burst=100000',
);

describe('the Helm chart', () => {
  let controlPlane: ControlPlane;
  let helm: Helm;

  before(async () => {
    helm = await Helm.open();
    controlPlane = await startControlPlane({ audit: false });
  });

  after(async () => {
    await controlPlane?.stop();
    await helm?.close();
  });

  it('passes helm lint', async () => {
    const { status, out, err } = await helm.run('lint', '--strict', chartDirectory);
    expect(status, out + err).to.equal(0);
  });

  it('reports that policies and sequences need the CRDs, before it installs anything', async () => {
    const kubeconfig = ['--kubeconfig', controlPlane.adminKubeconfig];
    const install = ['install', 'some', chartDirectory, '--namespace', 'default', ...kubeconfig];
    const { status, err } = await helm.run(...install, '--set', 'policies.production.priority=1');
    expect(status).to.equal(1);
    expect(err).to.contain('install without these values, then run helm upgrade with them');
    const { out } = await helm.run('list', '--all', '--short', '--namespace', 'default', ...kubeconfig);
    expect(out.trim()).to.equal('');
  });

  const inPlace = 'featureGates.InPlaceUpdate=true';
  const ownDriver = set('partitionDriver=own');
  const installations: Readonly<Record<string, readonly [config: string | Overlay, flags: readonly string[]]>> = {
    'config/default': ['default', withPolicies],
    'config/kubernetes-before-1.36': ['kubernetes-before-1.36', withoutPolicies],
    'the component for the partition driver': [
      { resources: ['default'], components: ['webhook-server', 'partition-driver'] },
      [...withPolicies, ...ownDriver],
    ],
    'the component for the partition driver, before Kubernetes 1.36': [
      { resources: ['kubernetes-before-1.36'], components: ['partition-driver'] },
      [...withoutPolicies, ...ownDriver],
    ],
    'the component for egress': [
      { resources: ['default'], components: ['egress'] },
      [...withPolicies, ...set('networkPolicy.egress.enabled=true')],
    ],
    'the component for updates in place': [
      { resources: ['default'], components: ['in-place'] },
      [...withPolicies, ...set(inPlace)],
    ],
    'the component for EvictionRequests': [
      { resources: ['default'], components: ['eviction-requests'] },
      [...withPolicies, ...set('featureGates.EvictionRequests=true')],
    ],
  };

  for (const [what, [config, flags]] of Object.entries(installations)) {
    it(`installs the same objects as ${what}, except for the namespace`, async () => {
      const { [`Namespace /${namespace}`]: own, ...others } = byName(await kustomize(controlPlane, config));
      expect(own).not.to.equal(undefined);
      const rendered = (await helm.render(namespace, ...flags)).filter((manifest) => !isHook(manifest));
      expect(byName(rendered.map(withoutGates))).to.deep.equal(others);
    });
  }

  it('names no user and no group but that of mounted files, which a value leaves to OpenShift', async () => {
    const securityOf = async (...values: readonly string[]): Promise<readonly string[]> => {
      const rendered = await helm.render(namespace, ...withPolicies, ...set('admission=webhook', ...values));
      const ids = /"(?:runAsUser|runAsGroup|fsGroup)":\d+/g;
      return rendered.flatMap((manifest) => JSON.stringify(manifest).match(ids) ?? []);
    };
    expect(await securityOf()).to.deep.equal(['"fsGroup":65532']);
    expect(await securityOf('fsGroup=null')).to.deep.equal([]);
    expect(await securityOf('admission=policy')).to.deep.equal([]);
  });

  it('grants no pods to be created without the policies that confine them, and needs none then', async () => {
    const render = (...values: readonly string[]): Promise<readonly Manifest[]> =>
      helm.render(namespace, ...withPolicies, ...set(...values));
    const grants = (manifests: readonly Manifest[]): boolean =>
      rightsOf(manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')).includes('create pods');
    for (const where of [[], ['namespaces={one}']]) {
      expect(grants(await render(...where))).to.equal(true);
      const without = await render('controllerPolicy.enabled=false', 'preflight.namespaces={one}', ...where);
      expect(grants(without)).to.equal(false);
      expect(JSON.stringify(without)).to.contain('"--dry-run-pods=false"').and.not.contain('mysqlrollouts/preflight');
    }
  });

  it('turns a feature gate on', async () => {
    const rendered = await helm.render(namespace, ...withPolicies, ...set(inPlace));
    const deployment = rendered.find(({ kind }) => kind === 'Deployment');
    expect(JSON.stringify(deployment)).to.contain(`"--feature-gates=InPlaceUpdate=true"`);
  });

  const inNamespaces: Readonly<Record<string, readonly [component: string, gates: readonly string[], value: string]>> =
    {
      'read Secrets': ['replication-facts', set('featureGates.ReplicationFacts=true'), 'replicationFacts'],
      'fetch images': ['preflight', [], 'preflight'],
    };
  for (const [what, [component, gates, value]] of Object.entries(inNamespaces)) {
    it(`lets it ${what} in the namespaces that the values name alone, as its component does`, async () => {
      const rights = async (...values: readonly string[]): Promise<readonly Manifest[]> =>
        (await helm.render(namespace, ...withPolicies, ...gates, ...set(...values))).filter(
          ({ metadata }) => metadata.name === `moco-rollout-${component}`,
        );
      expect(await rights()).to.deep.equal([]);
      const kustomized = await kustomize(controlPlane, component);
      const placed = ['a', 'b'].flatMap((where) =>
        kustomized.map((manifest) => ({ ...manifest, metadata: { ...manifest.metadata, namespace: where } })),
      );
      expect(byName(await rights(`${value}.namespaces={a,b}`))).to.deep.equal(byName(placed));
    });
  }

  it('lets it read the Secrets alone that the values name', async () => {
    const values = ['featureGates.ReplicationFacts=true', 'replicationFacts.namespaces={a}'];
    const named = await helm.render(namespace, ...set(...values, 'replicationFacts.secretNames={moco-test}'));
    expect(JSON.stringify(named)).to.contain('"resourceNames":["moco-test"]');
  });

  const chosen: Readonly<Record<string, readonly [flags: readonly string[], kinds: readonly string[]]>> = {
    'auto, with the policy in v1': [withPolicies, policyKinds('v1')],
    'auto, with the policy in v1beta1 alone': [
      [...withoutPolicies, '--api-versions', 'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy'],
      policyKinds('v1beta1'),
    ],
    'auto, for Kubernetes 1.36 without an API server to ask': [['--kube-version', 'v1.36.0'], policyKinds('v1')],
    'auto, without the policy': [withoutPolicies, webhookKinds],
    policy: [[...withoutPolicies, '--set', 'admission=policy'], policyKinds('v1')],
    webhook: [[...withPolicies, '--set', 'admission=webhook'], webhookKinds],
    none: [[...withoutPolicies, '--set', 'admission=none'], []],
  };

  for (const [what, [flags, kinds]] of Object.entries(chosen)) {
    it(`keeps StatefulSets at OnDelete by the chosen admission: ${what}`, async () => {
      const rendered = await helm.render(namespace, ...flags);
      const found = rendered
        .filter(({ kind, apiVersion }) => kind.startsWith('Mutating') || apiVersion.startsWith('cert-manager.io/'))
        .map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
      expect(found).to.have.members(kinds);
      const served = JSON.stringify(rendered).includes('--webhook-bind-address');
      expect(served).to.equal(kinds === webhookKinds);
    });
  }

  it('guards approvals, overrides and enforced settings whether or not it has roles for people', async () => {
    const guards = (rendered: readonly Manifest[]): readonly string[] =>
      rendered
        .filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'))
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const rolesOf = (rendered: readonly Manifest[]): readonly string[] =>
      rendered.filter(({ kind }) => kind === 'ClusterRole').map(({ metadata }) => metadata.name);
    const withRoles = await helm.render(namespace, ...withPolicies);
    const without = await helm.render(namespace, ...withPolicies, '--set', 'users.create=false');
    expect(guards(without)).to.deep.equal(guards(withRoles));
    expect(guards(without)).to.include('ValidatingAdmissionPolicyBinding enforced.moco-rollout.io');
    expect(rolesOf(without)).to.not.include('moco-rollout-enforcer');
    for (const rendered of [withRoles, without]) {
      const advised = [...JSON.stringify(rendered).matchAll(/; ClusterRole ([\w-]+) has it/g)].map(([, role]) => role);
      expect(rolesOf(rendered)).to.include.members(advised);
    }
  });

  it('is accepted by the API server with every option, in another namespace', async () => {
    await controlPlane.kubectl('create', 'namespace', 'elsewhere');
    const rendered = await helm.render('elsewhere', ...everything);
    expect(JSON.stringify(rendered)).not.to.contain(namespace);
    await taken(rendered);
    const deployment = rendered.find(({ kind }) => kind === 'Deployment');
    expect(JSON.stringify(deployment)).to.contain('"--feature-gates=UpdateStrategyOnDelete=true"');
    expect(JSON.stringify(deployment)).to.contain(
      '"--client-ca-file=/authority/ca.crt","--kube-api-burst=100000","--log-level=debug"',
    );
    const configMap = rendered.find(({ kind }) => kind === 'ConfigMap');
    const data = (configMap?.['data'] ?? {}) as Record<string, string>;
    const dashboard = await readFile(join(configDirectory, 'grafana/moco-rollout.json'), 'utf8');
    expect(JSON.parse(data['moco-rollout.json'] ?? '')).to.deep.equal(JSON.parse(dashboard));
    const rule = rendered.find(({ kind }) => kind === 'PrometheusRule');
    const [source] = parseManifests(await readFile(join(configDirectory, 'prometheus/prometheus-rule.yaml'), 'utf8'));
    expect(rule?.['spec']).to.deep.equal(source?.['spec']);
  });

  it('has Roles in the listed namespaces and no ClusterRole', async () => {
    for (const name of ['narrow', 'one', 'two']) await controlPlane.kubectl('create', 'namespace', name);
    const rendered = await helm.render('narrow', '--set', 'namespaces={one,two}');
    await taken(rendered);
    const wide = rendered.filter(({ kind }) => kind === 'ClusterRole' || kind === 'ClusterRoleBinding');
    expect(wide.map(({ metadata }) => metadata.name)).to.have.members([
      'moco-rollout-viewer',
      'moco-rollout-editor',
      'moco-rollout-operator',
      'moco-rollout-enforcer',
    ]);
    const account = '--as=system:serviceaccount:narrow:moco-rollout';
    const may = (verb: string, resource: string, ...where: readonly string[]): Promise<string> =>
      controlPlane.kubectl('auth', 'can-i', verb, resource, account, '-n', ...where).then(trimmed, () => 'no');
    expect(await may('delete', 'pods', 'one')).to.equal('yes');
    expect(await may('update', 'mysqlrollouts.moco-rollout.io', 'two', '--subresource=status')).to.equal('yes');
    expect(await may('delete', 'pods', 'default')).to.equal('no');
    expect(await may('list', 'mysqlrolloutpolicies.moco-rollout.io', 'one')).to.equal('no');
  });

  it('has hooks for the release only, which grant the ServiceAccount what that needs, and only where it is installed', async () => {
    const scopes: Readonly<Record<string, readonly string[]>> = { ClusterRole: [], Role: ['namespaces={one,two}'] };
    for (const [kind, values] of Object.entries(scopes)) {
      const rendered = await helm.render(namespace, ...set(...values));
      const hooks = rendered.filter(isHook);
      expect([...new Set(hooks.map((hook) => hook.kind))]).to.have.members([kind, `${kind}Binding`, 'Job']);
      const roles = hooks.filter((hook) => hook.kind === kind);
      expect(roles.map(({ metadata }) => metadata.namespace)).to.deep.equal(
        kind === 'Role' ? ['one', 'two'] : [undefined],
      );
      for (const role of roles) expect(rightsOf([role])).to.deep.equal(rightsOfPermissions(releasePermissions));
      for (const binding of hooks.filter((hook) => hook.kind === `${kind}Binding`)) {
        expect(binding['subjects']).to.deep.equal([{ kind: 'ServiceAccount', name: 'moco-rollout', namespace }]);
      }
    }
  });

  it('uses the user’s certificate instead of cert-manager’s', async () => {
    const own = [
      'admission=webhook',
      'partitionDriver=own',
      'certificate.certManager=false',
      'certificate.caBundle=Y2E=',
      'certificate.secretName=mine',
    ];
    const rendered = await helm.render(namespace, ...set(...own));
    expect(rendered.filter(({ apiVersion }) => apiVersion.startsWith('cert-manager.io/'))).to.deep.equal([]);
    const text = JSON.stringify(rendered.filter(({ kind }) => /^(Mutating|Deployment)/.test(kind)));
    expect(text.match(/"caBundle":"Y2E="/g)).to.have.length(2);
    expect(text).to.contain('"secretName":"mine"').and.not.to.contain('cert-manager.io');
  });

  it('keeps the CRDs when uninstalled', async () => {
    const rendered = await helm.render(namespace);
    const definitions = rendered.filter(({ kind }) => kind === 'CustomResourceDefinition');
    expect(definitions).to.have.length(3);
    for (const { metadata } of definitions) {
      expect(metadata.annotations, metadata.name).to.include({ 'helm.sh/resource-policy': 'keep' });
    }
  });

  const without: Readonly<Record<string, readonly string[]>> = {
    'crds.install=false': ['CustomResourceDefinition'],
    'users.create=false': ['ClusterRole'],
    'controllerPolicy.enabled=false': ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
    'networkPolicy.enabled=false': ['NetworkPolicy'],
    'release.enabled=false': ['ClusterRole', 'ClusterRoleBinding', 'Job'],
    'replicaCount=1': ['PodDisruptionBudget'],
  };

  let everyName: readonly string[] | null = null;

  for (const [value, kinds] of Object.entries(without)) {
    it(`omits ${kinds.join(', ')} with ${value}`, async () => {
      everyName ??= (await helm.render(namespace)).map(nameOf);
      const left = (await helm.render(namespace, '--set', value)).map(nameOf);
      const missing = everyName.filter((name) => !left.includes(name)).map((name) => name.split(' ')[0]);
      expect([...new Set(missing)]).to.have.members(kinds);
    });
  }

  it('needs cert-manager for a webhook, and helm reports that', async () => {
    const kubeconfig = ['--kubeconfig', controlPlane.adminKubeconfig];
    const install = ['install', 'some', chartDirectory, '--namespace', 'default', '--set', 'admission=webhook'];
    const { status, err } = await helm.run(...install, ...kubeconfig);
    expect(status).to.equal(1);
    expect(err).to.match(/no matches for kind "(Certificate|Issuer)" in version "cert-manager\.io\/v1"/);
    const { out } = await helm.run('list', '--all', '--short', '--namespace', 'default', ...kubeconfig);
    expect(out.trim()).to.equal('');
  });

  /** Applies everything but what needs the kinds of others, the CRDs first. */
  async function taken(rendered: readonly Manifest[]): Promise<void> {
    await controlPlane.apply(join(configDirectory, 'crd'));
    const ours = rendered.filter(({ apiVersion }) => !foreignGroups.test(apiVersion));
    const flags = ['--server-side', '--force-conflicts', '--validate=strict', '-o', 'name'];
    const applied = await controlPlane.kubectl('apply', ...flags, '-f', await controlPlane.fileOf(...ours));
    expect(applied.trim().split('\n')).to.have.length(ours.length);
  }
});

/**
 * The chart turns a gate on together with what it needs. A Kustomize component leaves the gate to the user who installs
 * it.
 */
function withoutGates(manifest: Manifest): Manifest {
  return JSON.parse(JSON.stringify(manifest).replace(/,"--feature-gates=[^"]*"/, '')) as Manifest;
}

const trimmed = (text: string): string => text.trim();

const byName = (objects: readonly Manifest[]): Record<string, unknown> =>
  Object.fromEntries(objects.map((object) => [nameOf(object), comparable(object)]));

/** Without what tells who has installed it. */
function comparable(object: Manifest): unknown {
  const {
    labels = {},
    annotations = {},
    ...metadata
  } = object.metadata as Manifest['metadata'] & { labels?: Record<string, string> };
  const ownLabels = Object.entries(labels).filter(([label]) => !ofTheRelease.includes(label));
  const ownAnnotations = Object.entries(annotations).filter(([name]) => name !== 'helm.sh/resource-policy');
  return {
    ...object,
    metadata: { ...metadata, labels: Object.fromEntries(ownLabels), annotations: Object.fromEntries(ownAnnotations) },
  };
}
