import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { releaseChart } from '../../hack/release/chart.ts';
import { chartDirectory, configDirectory, type Manifest, parseManifests } from '../config/manifests.ts';
import { Helm, set, withoutPolicies, withPolicies } from './helm-program.ts';

const namespace = 'moco-rollout-system';
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** An Application of Argo CD, or a HelmRelease or a Kustomization of Flux. */
interface Example {
  readonly spec: { readonly source?: { readonly helm: { readonly valuesObject: object } }; readonly values?: object };
}

interface Alert {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface PrometheusRule extends Manifest {
  readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] };
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly containers: readonly [Readonly<Record<string, unknown>> & { readonly args: readonly string[] }];
  };
}

// What the API server says of it: test/cluster/helm.test.ts.
describe('the values of the Helm chart', () => {
  let helm: Helm;

  before(async () => {
    helm = await Helm.open();
  });

  after(() => helm?.close());

  const rendered = (...values: readonly string[]): Promise<readonly Manifest[]> =>
    helm.render(namespace, ...withPolicies, ...set(...values));

  async function podTemplates(...values: readonly string[]): Promise<readonly PodTemplate[]> {
    const pods = (await rendered(...values)).filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    expect(pods).to.have.length(2);
    return pods.map((manifest) => (manifest['spec'] as { readonly template: PodTemplate }).template);
  }

  it('of hack/kind turn the gate on and adopt nothing', async () => {
    const file = fileURLToPath(new URL('../../hack/kind/values.yaml', import.meta.url));
    for (const kubernetes of [withPolicies, withoutPolicies]) {
      const manifests = await helm.render(namespace, ...kubernetes, '--values', file);
      const [deployment] = manifests.filter(({ kind }) => kind === 'Deployment');
      const spec = deployment?.['spec'] as { readonly template: PodTemplate } | undefined;
      const controller = spec?.template.spec.containers[0];
      expect(controller?.['image']).to.match(/^moco-rollout:/);
      expect(controller?.args).to.include.members([
        '--feature-gates=UpdateStrategyOnDelete=true',
        '--default-strategy=Partition',
      ]);
    }
  });

  it('set the image of the controller and of the release, with a digest if there is one', async () => {
    const images: Readonly<Record<string, readonly string[]>> = {
      'moco-rollout:0.1.0': [],
      'somewhere/moco-rollout:0.1.0': ['image.repository=somewhere/moco-rollout'],
      'moco-rollout:v1': ['image.tag=v1'],
      [`moco-rollout:0.1.0@${digest}`]: [`image.digest=${digest}`],
    };
    for (const [image, values] of Object.entries(images)) {
      for (const { spec } of await podTemplates(...values)) expect(spec.containers[0]['image']).to.equal(image);
    }
  });

  it('of a released chart install its image by its digest', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-released-'));
    try {
      await releaseChart({ repository: 'somewhere/moco-rollout', digest, page: 'somewhere', tag: 'v0.1.0' }, directory);
      const { status, out, err } = await helm.run('template', 'some', directory, ...withPolicies);
      expect(status, err).to.equal(0);
      expect(
        out.split('\n').filter((line) => line.trim() === `image: somewhere/moco-rollout:0.1.0@${digest}`),
      ).to.have.length(2);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('are accepted as the examples for Argo CD and Flux have them', async () => {
    const document = await readFile(join(configDirectory, '../docs/how-to/gitops.md'), 'utf8');
    const examples = [...document.matchAll(/```yaml\n(.*?)```/gs)].flatMap(
      ([, text = '']) => parseManifests(text) as unknown as readonly Example[],
    );
    const given = examples.flatMap(({ spec }) => spec.source?.helm.valuesObject ?? spec.values ?? []);
    expect(given).to.have.length(2);
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-examples-'));
    try {
      for (const values of given) {
        const file = join(directory, 'values.yaml');
        await writeFile(file, stringify(values));
        const all = await helm.render(namespace, ...withPolicies, '--values', file);
        expect(JSON.stringify(all.find(({ kind }) => kind === 'Deployment'))).to.contain(
          '--default-strategy=Partition',
        );
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('name another ServiceAccount everywhere, and annotate it', async () => {
    const all = await rendered('serviceAccount.name=rollouts', 'serviceAccount.annotations.team=databases');
    const account = all.find(({ kind }) => kind === 'ServiceAccount');
    expect(account?.metadata).to.deep.include({ name: 'rollouts', annotations: { team: 'databases' } });
    const policy = JSON.stringify(all.find(({ metadata }) => metadata.name === 'controller.moco-rollout.io'));
    expect(policy).to.contain(`'system:serviceaccount:${namespace}:rollouts'`);
    const subjects = all.flatMap((manifest) => (manifest['subjects'] ?? []) as readonly object[]);
    expect(subjects.length).to.be.greaterThan(2);
    for (const subject of subjects) expect(subject).to.include({ name: 'rollouts', namespace });
    for (const { spec } of await podTemplates('serviceAccount.name=rollouts')) {
      expect(spec['serviceAccountName']).to.equal('rollouts');
    }
    const without = await rendered('serviceAccount.create=false', 'serviceAccount.name=rollouts');
    expect(without.filter(({ kind }) => kind === 'ServiceAccount')).to.deep.equal([]);
  });

  it('label every object, and pods also with their own labels, but no selector', async () => {
    const values = ['commonLabels.team=databases', 'podLabels.pod=controller'];
    for (const { kind, metadata } of await rendered(...values, 'policies.a.priority=1')) {
      expect(metadata['labels' as keyof typeof metadata], kind).to.include({ team: 'databases' });
    }
    for (const { metadata } of await podTemplates(...values)) {
      expect(metadata.labels).to.include({
        team: 'databases',
        pod: 'controller',
        'app.kubernetes.io/name': 'moco-rollout',
      });
    }
    const selecting = (await rendered(...values)).map((manifest) => manifest['spec']).map((spec) => selectorOf(spec));
    expect(JSON.stringify(selecting)).to.contain('app.kubernetes.io/component').and.not.to.contain('databases');
  });

  it('place the pods of the controller and of the release, and set variables of their environment', async () => {
    const values = [
      'priorityClassName=high',
      'nodeSelector.pool=system',
      'tolerations[0].operator=Exists',
      'imagePullSecrets[0].name=pull',
      'extraEnv[0].name=HTTPS_PROXY',
      'extraEnv[0].value=127.0.0.1:1',
    ];
    for (const { spec } of await podTemplates(...values)) {
      expect(spec).to.deep.include({
        priorityClassName: 'high',
        nodeSelector: { pool: 'system' },
        tolerations: [{ operator: 'Exists' }],
        imagePullSecrets: [{ name: 'pull' }],
      });
      expect(spec.containers[0]['env']).to.deep.include({ name: 'HTTPS_PROXY', value: '127.0.0.1:1' });
    }
    const [controller] = await podTemplates('topologySpreadConstraints[0].topologyKey=rack');
    expect(controller?.spec['topologySpreadConstraints']).to.deep.equal([{ topologyKey: 'rack' }]);
  });

  it('set the number of replicas and their PodDisruptionBudget', async () => {
    const all = await rendered('replicaCount=3', 'podDisruptionBudget.maxUnavailable=50%');
    const specOf = (kind: string): unknown => all.find((manifest) => manifest.kind === kind)?.['spec'];
    expect(specOf('Deployment')).to.include({ replicas: 3 });
    expect(specOf('PodDisruptionBudget')).to.include({ maxUnavailable: '50%' });
    const without = await rendered('podDisruptionBudget.enabled=false');
    expect(without.filter(({ kind }) => kind === 'PodDisruptionBudget')).to.deep.equal([]);
  });

  it('become flags: settings and flags', async () => {
    const [controller] = await podTemplates(
      'settings.strategy=Partition',
      'settings.minReadySeconds=30',
      'settings.replicaDelayGraceSeconds=0',
      'flags.max-concurrent-rollouts=5',
    );
    expect(controller?.spec.containers[0].args.slice(2)).to.deep.equal([
      '--min-ready-seconds=30',
      '--replica-delay-grace-seconds=0',
      '--default-strategy=Partition',
      '--max-concurrent-rollouts=5',
    ]);
  });

  it('become policies and sequences, which Argo CD applies after their CRDs', async () => {
    const all = await rendered(
      'policies.production.settings.minReadySeconds=30',
      'sequences.production.stages[0].name=all',
    );
    const own = all.filter(({ apiVersion }) => apiVersion === 'moco-rollout.io/v1alpha1');
    expect(own.map(({ kind, metadata, ['spec']: spec }) => [kind, metadata.name, spec])).to.deep.equal([
      ['MySQLRolloutPolicy', 'production', { settings: { minReadySeconds: 30 } }],
      ['MySQLRolloutSequence', 'production', { stages: [{ name: 'all' }] }],
    ]);
    for (const { metadata } of own) {
      expect(metadata.annotations).to.include({
        'argocd.argoproj.io/sync-options': 'SkipDryRunOnMissingResource=true',
      });
    }
  });

  it('name another issuer, and then there is no self-signed one', async () => {
    const values = ['admission=webhook', 'certificate.issuerRef.kind=ClusterIssuer', 'certificate.issuerRef.name=ca'];
    const own = (await rendered(...values)).filter(({ apiVersion }) => apiVersion.startsWith('cert-manager.io/'));
    expect(own.map(({ kind }) => kind)).to.deep.equal(['Certificate']);
    expect(own[0]?.['spec']).to.deep.include({ issuerRef: { kind: 'ClusterIssuer', name: 'ca' } });
  });

  it('say which Prometheus is asked for checks, with the CA and the token of a projected volume', async () => {
    const args = async (...values: readonly string[]): Promise<readonly string[]> =>
      (await podTemplates(...values))[0]?.spec.containers[0].args.filter((arg) => arg.includes('prometheus')) ?? [];
    const url = 'prometheus.url=https://prometheus.example:9090';
    expect(await args()).to.deep.equal([]);
    expect(await args(url)).to.deep.equal(['--prometheus-url=https://prometheus.example:9090']);
    const all = [url, 'prometheus.ca.configMap=ca', 'prometheus.token.secret=token', 'prometheus.token.key=it'];
    expect(await args(...all)).to.deep.equal([
      '--prometheus-url=https://prometheus.example:9090',
      '--prometheus-ca-file=/etc/moco-rollout/prometheus/ca.crt',
      '--prometheus-token-file=/etc/moco-rollout/prometheus/token',
    ]);
    const [{ spec } = expect.fail('no pods')] = await podTemplates(...all);
    expect(spec.containers[0]['volumeMounts']).to.deep.equal([
      { name: 'prometheus', mountPath: '/etc/moco-rollout/prometheus', readOnly: true },
    ]);
    const sources = [
      { configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { secret: { name: 'token', items: [{ key: 'it', path: 'token' }] } },
    ];
    expect(spec['volumes']).to.deep.equal([{ name: 'prometheus', projected: { defaultMode: 0o440, sources } }]);
  });

  it('say what a Prometheus of many tenants is sent, and through which proxy', async () => {
    const [{ spec } = expect.fail('no pods')] = await podTemplates(
      'prometheus.url=https://mimir.example/prometheus',
      'prometheus.headers.secret=tenant',
      'prometheus.basicAuth.secret=login',
      'prometheus.basicAuth.key=pair',
      'prometheus.proxyUrl=http://proxy.example:3128',
    );
    expect(spec.containers[0].args.filter((arg) => arg.includes('prometheus'))).to.deep.equal([
      '--prometheus-url=https://mimir.example/prometheus',
      '--prometheus-basic-auth-file=/etc/moco-rollout/prometheus/basic-auth',
      '--prometheus-headers-file=/etc/moco-rollout/prometheus/headers',
      '--prometheus-proxy-url=http://proxy.example:3128',
    ]);
    const sources = [
      { secret: { name: 'login', items: [{ key: 'pair', path: 'basic-auth' }] } },
      { secret: { name: 'tenant', items: [{ key: 'headers', path: 'headers' }] } },
    ];
    expect(spec['volumes']).to.deep.equal([{ name: 'prometheus', projected: { defaultMode: 0o440, sources } }]);
  });

  it('set labels, interval and relabelings of the ServiceMonitor', async () => {
    const all = await rendered(
      'serviceMonitor.enabled=true',
      'serviceMonitor.additionalLabels.release=prometheus',
      'serviceMonitor.interval=1m',
      'serviceMonitor.relabelings[0].action=labeldrop',
    );
    const monitor = all.find(({ kind }) => kind === 'ServiceMonitor');
    expect(JSON.stringify(monitor?.metadata)).to.contain('"release":"prometheus"');
    const spec = monitor?.['spec'] as { readonly endpoints: readonly object[] } | undefined;
    expect(spec?.endpoints[0]).to.deep.include({ interval: '1m', relabelings: [{ action: 'labeldrop' }] });
  });

  async function alerts(...values: readonly string[]): Promise<ReadonlyMap<string, Alert>> {
    const all = await rendered('prometheusRule.enabled=true', ...values);
    const rule = all.find(({ kind }) => kind === 'PrometheusRule') as PrometheusRule;
    return new Map(rule.spec.groups.flatMap(({ rules }) => rules).map((alert) => [alert.alert, alert]));
  }

  it('leave alerts as they are by default', async () => {
    const text = await readFile(join(configDirectory, 'prometheus/prometheus-rule.yaml'), 'utf8');
    const source = (parse(text) as PrometheusRule).spec.groups.flatMap(({ rules }) => rules);
    expect([...(await alerts()).values()]).to.deep.equal(source);
  });

  it('change alerts: the address of runbooks, severities, and which of them there are', async () => {
    const before = await alerts();
    const changed = await alerts(
      'prometheusRule.runbookBaseUrl=runbooks.example/',
      'prometheusRule.rules.MocoRolloutStalled.severity=critical',
      'prometheusRule.rules.MocoRolloutPausedStale.enabled=false',
    );
    expect([...before.keys()].filter((name) => !changed.has(name))).to.deep.equal(['MocoRolloutPausedStale']);
    for (const { alert, annotations, labels } of changed.values()) {
      expect(annotations['runbook_url']).to.equal(`runbooks.example/${alert}.md`);
      const severity = alert === 'MocoRolloutStalled' ? 'critical' : before.get(alert)?.labels['severity'];
      expect(labels['severity'], alert).to.equal(severity);
    }
  });

  const wrong: Readonly<Record<string, RegExp>> = {
    'replicaCount=0': /at '\/replicaCount': minimum: got 0, want 1/,
    'replicas=3': /additional properties 'replicas' not allowed/,
    'image.digest=latest': /at '\/image\/digest'/,
    'serviceAccount.create=false': /at '\/serviceAccount\/name': minLength: got 0/,
    'commonLabels.app\\.kubernetes\\.io/name=mine': /at '\/commonLabels\/app.kubernetes.io~1name'/,
    'podLabels.app\\.kubernetes\\.io/component=mine': /at '\/podLabels\/app.kubernetes.io~1component'/,
    'podDisruptionBudget.maxUnavailable=0': /at '\/podDisruptionBudget\/maxUnavailable'/,
    'extraEnv[0].name=POD_NAMESPACE': /at '\/extraEnv\/0\/name'/,
    'settings.strategy=Gradual': /at '\/settings\/strategy': value must be one of 'OnDelete', 'Partition'/,
    'settings.maxUnavailable=2': /at '\/settings': additional properties 'maxUnavailable' not allowed/,
    'settings.minReadySeconds=soon': /at '\/settings\/minReadySeconds': got string, want integer/,
    'policies.Production.priority=1': /at '\/policies': additional properties 'Production' not allowed/,
    'certificate.issuerRef.kind=Issuer': /at '\/certificate\/issuerRef'/,
    'serviceMonitor.interval=30': /at '\/serviceMonitor\/interval'/,
    'prometheusRule.rules.MocoRolloutStalled.expr=1': /additional properties 'expr' not allowed/,
    'certificate.certManager=false': /at '\/certificate\/caBundle': minLength: got 0/,
    'admission=certificate': /at '\/admission': value must be one of 'auto', 'policy', 'webhook', 'none'/,
    'partitionDriver=auto': /at '\/partitionDriver': value must be one of 'moco', 'own'/,
    'flags.partition-driver=own': /at '\/flags': additional properties 'partition-driver' not allowed/,
    'flags.default-strategy=Partition': /at '\/flags': additional properties 'default-strategy' not allowed/,
    'featureGates.OnDelete=true': /additional properties 'OnDelete' not allowed/,
    'flags.log-level=loud': /at '\/flags\/log-level': value must be one of 'debug', 'info', 'warn', 'error'/,
    'flags.namespaces=a': /at '\/flags': additional properties 'namespaces' not allowed/,
    'flags.lease-duration=15': /at '\/flags\/lease-duration'/,
    'flags.lease-duration=0s': /at '\/flags\/lease-duration': 'not' failed/,
    'flags.max-concurrent-reconciles=0': /at '\/flags\/max-concurrent-reconciles': minimum: got 0, want 1/,
    'flags.release-stalled-slots=1': /at '\/flags\/release-stalled-slots': got number, want boolean/,
    'release.timeout=soon': /at '\/release\/timeout'/,
    'prometheus.url=prometheus:9090': /at '\/prometheus\/url'/,
    'namespaces={Team A}': /at '\/namespaces\/0'/,
  };

  for (const [value, refusal] of Object.entries(wrong)) {
    it(`are refused with the place of the mistake: ${value}`, async () => {
      const { status, err } = await helm.run('template', 'some', chartDirectory, '--set', value);
      expect(status).to.equal(1);
      expect(err).to.match(refusal);
    });
  }

  it('are refused if they change an alert that does not exist', async () => {
    const values = 'prometheusRule.enabled=true,prometheusRule.rules.MocoRolloutStaled.enabled=false';
    const { status, err } = await helm.run('template', 'some', chartDirectory, '--set', values);
    expect(status).to.equal(1);
    expect(err).to.match(/expected names of alerts, got MocoRolloutStaled; the alerts are MocoRolloutStalled, /);
  });

  it('do not make an unsupported version of Kubernetes a supported one', async () => {
    const { status, err } = await helm.run('template', 'some', chartDirectory, '--kube-version', 'v1.29.14');
    expect(status).to.equal(1);
    expect(err).to.contain('chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.14');
    expect(await helm.render(namespace, ...withoutPolicies)).not.to.deep.equal([]);
  });
});

function selectorOf(spec: unknown): unknown {
  const { selector, podSelector } = (spec ?? {}) as { readonly selector?: unknown; readonly podSelector?: unknown };
  return selector ?? podSelector;
}
