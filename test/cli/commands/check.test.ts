import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { policyKind } from '../../../src/api/rollout-policy.ts';
import type { ExchangeRequest } from '../../../src/base/world.ts';
import { neededByController, neededInWholeCluster } from '../../../src/cli/check/rights.ts';
import { persistentVolumeClaims } from '../../../src/kube/resource.ts';
import { controllerPolicies } from '../../../src/objects/controller-policy.ts';
import { clusterPermissions } from '../../../src/objects/permissions.ts';
import { budget, claimOf } from '../../controller/moco-objects.ts';
import { heldByMoco } from '../../controller/object-server.ts';
import { answer } from '../../kube/fake-world.ts';
import { type FakeCluster, forbidden, leasePath, notFound, useFakeCluster } from '../fake-cluster.ts';

interface Definition {
  metadata: { name: string };
  spec: {
    versions: { schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } } }[];
  };
}

const crd = (plural: string): Definition =>
  parse(
    readFileSync(new URL(`../../../config/crd/moco-rollout.io_${plural}.yaml`, import.meta.url), 'utf8'),
  ) as Definition;
const definitionPath = (name: string): string => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
const admissionPath = (plural: string): string => `/apis/admissionregistration.k8s.io/v1/${plural}`;
const deploymentsPath = '/apis/apps/v1/deployments';

const deployment = (name: string, image: string, available: number, args: readonly string[] = []): object => ({
  metadata: { namespace: 'moco-rollout-system', name },
  spec: { template: { spec: { serviceAccountName: 'moco-rollout', containers: [{ name, image, args }] } } },
  status: { availableReplicas: available },
});

const mocoLeasePath = (namespace: string, name: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
const mocoLease = {
  metadata: { namespace: 'moco-system', name: 'moco' },
  spec: { holderIdentity: 'moco-controller-a' },
};

const account = 'system:serviceaccount:moco-rollout-system:moco-rollout';
const firstPolicy = controllerPolicies[0];

/** Everything is as it has to be. */
class Installed {
  readonly cluster: FakeCluster;
  version = 'v1.36.3';
  available = 2;
  mocoArguments: readonly string[] = [];
  readonly denied: string[] = [];
  isDeployed = true;
  hasMoco = true;
  readonly definitions = new Map(
    ['mysqlrollouts', 'mysqlrolloutpolicies', 'mysqlrolloutsequences'].map((one) => [one, crd(one)]),
  );
  readonly lists: Record<string, readonly object[]> = {
    mutatingadmissionpolicies: [{ metadata: { name: 'moco-rollout-statefulset' } }],
    mutatingadmissionpolicybindings: [{ spec: { policyName: 'moco-rollout-statefulset' } }],
    mutatingwebhookconfigurations: [],
    validatingadmissionpolicies: controllerPolicies.map((name) => ({
      metadata: { name },
      spec: { matchConditions: [{ expression: `request.userInfo.username == '${account}'` }] },
    })),
    validatingadmissionpolicybindings: controllerPolicies.map((policyName) => ({
      spec: { policyName, validationActions: ['Deny'] },
    })),
  };

  constructor(cluster: FakeCluster) {
    this.cluster = cluster;
    cluster.server.admit = heldByMoco;
    cluster.lease({});
    cluster.clusterScoped[mocoLeasePath('moco-system', 'moco')] = mocoLease;
    cluster.fault = (request) => this.#answer(request);
  }

  async lines(...argv: readonly string[]): Promise<{ readonly status: number; readonly lines: readonly string[] }> {
    const { status, out, err } = await this.cluster.run('check', ...argv);
    expect(err).to.equal('');
    return { status, lines: out.trim().split('\n').slice(1) };
  }

  #answer(request: ExchangeRequest): ReturnType<typeof answer> | null {
    const [path = '', query = ''] = request.path.split('?');
    if (path === '/version') return answer(200, { gitVersion: this.version });
    if (this.hasMoco && path === definitionPath('mysqlclusters.moco.cybozu.com')) {
      return answer(200, { spec: { versions: [{ name: 'v1beta2', served: true, schema: {} }] } });
    }
    for (const [plural, definition] of this.definitions) {
      if (path === definitionPath(`${plural}.moco-rollout.io`)) return answer(200, definition);
    }
    for (const [plural, items] of Object.entries(this.lists))
      if (path === admissionPath(plural)) return answer(200, { items });
    if (path === deploymentsPath) {
      const ours = deployment('moco-rollout-controller', 'moco-rollout:0.1.0', this.available);
      const mocos = deployment('moco-controller', 'moco:0.36.0', 1, this.mocoArguments);
      return answer(200, { items: query.includes('part-of') ? (this.isDeployed ? [ours] : []) : [mocos] });
    }
    if (!path.endsWith('accessreviews')) return path.includes('customresourcedefinitions') ? notFound() : null;
    const { spec } = JSON.parse(request.body ?? '{}') as {
      spec: { resourceAttributes: { verb: string; resource: string; subresource?: string; name?: string } };
    };
    const { verb, resource, subresource, name } = spec.resourceAttributes;
    const about = [[resource, subresource].filter(Boolean).join('/'), name].filter(Boolean).join(' ');
    const what = `${path.includes('/self') ? 'own ' : ''}${verb} ${about}`;
    return answer(201, { status: { allowed: !this.denied.includes(what) } });
  }
}

describe('check', () => {
  let installed: Installed;

  useFakeCluster((fresh) => {
    installed = new Installed(fresh);
  });

  it('has a line for each check, and exits with 0 if none fails', async () => {
    const { status, lines } = await installed.lines();
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2))).to.deep.equal([
      ['ok', 'Kubernetes'],
      ['ok', 'MOCO'],
      ['ok', 'CRDs'],
      ['ok', 'controller'],
      ['ok', 'rights of the controller'],
      ['ok', 'policies of the controller'],
      ['ok', 'Lease of MOCO'],
      ['ok', 'your rights'],
      ['ok', 'admission'],
      ['ok', 'certificates'],
      ['ok', 'enforced policies'],
      ['ok', 'PodDisruptionBudgets'],
      ['ok', 'manifests'],
      ['ok', 'PersistentVolumeClaims'],
      ['ok', 'preflight'],
      ['ok', 'MySQL versions'],
      ['ok', 'semi-sync plugins'],
      ['ok', 'MySQL'],
    ]);
    expect(status).to.equal(0);
    expect(lines.join('\n')).to.contain('moco-controller runs moco:0.36.0');
  });

  it("says that the interval of MOCO's partition controller is used by clusters that keep their revisions", async () => {
    installed.mocoArguments = ['--zap-log-level=1', '--partition-update-interval=5s'];
    const { status, lines } = await installed.lines();
    expect(status).to.equal(0);
    expect(lines.join('\n')).to.contain('with --partition-update-interval=5s').and.contain('leave the flag off');
  });

  it('says what is unknown while MySQL is not queried, and where it is queried', async () => {
    const last = async (): Promise<string> => (await installed.lines('-n', 'default')).lines.at(-1) ?? '';
    expect(await last()).to.contain(
      'it is unknown whether a ready replica has received what the primary has committed',
    );
    installed.cluster.lease({ featureGates: { ReplicationFacts: true } });
    expect(await last()).to.match(
      /^ok +MySQL +it is queried: system:serviceaccount:\S+ may read MOCO's Secrets in namespace default$/,
    );
    const mysqlProblem = 'moco-test-2 does not answer: no answer within 1 s';
    installed.cluster.server.change(rolloutKind, 'test', { status: { mysqlProblem } });
    expect(await last()).to.match(/^failed +MySQL .*default\/test: moco-test-2 does not answer: no answer within 1 s$/);
    installed.cluster.server.change(rolloutKind, 'test', { status: { mysqlProblem: null } });
    installed.denied.push('get secrets');
    expect(await last()).to.contain('may read the Secret of the cluster in namespace default');
    installed.denied.push('get secrets moco-test');
    expect(await last()).to.contain('which it may not of default/test: config/replication-facts grants it');
  });

  it('finds a namespace in which images cannot be fetched although a setting requests it', async () => {
    const line = async (): Promise<string> =>
      (await installed.lines('-n', 'default')).lines.find((one) => / preflight /.test(one)) ?? '';
    expect(await line()).to.match(/^ok +preflight +no cluster uses it/);
    const preflight = { value: 'Nodes', source: 'MySQLRollout' };
    installed.cluster.server.change(rolloutKind, 'test', { status: { settings: { preflight } } });
    expect(await line()).to.match(/^ok +preflight +system:serviceaccount:\S+ may have images fetched in default$/);
    installed.denied.push('create mysqlrollouts/preflight');
    expect(await line()).to.match(
      /^failed +preflight +\S+ may not create mysqlrollouts\/preflight in default: apply config\/preflight there/,
    );
  });

  it('says whether the controller sees that moco-controller works', async () => {
    const line = async (): Promise<string> =>
      (await installed.lines()).lines.find((one) => / Lease of MOCO /.test(one)) ?? '';
    const { clusterScoped } = installed.cluster;
    expect(await line()).to.match(
      /^ok +Lease of MOCO +\S+ may read the Lease moco-system\/moco, which moco-controller-a holds$/,
    );
    clusterScoped[mocoLeasePath('moco-system', 'moco')] = { ...mocoLease, spec: {} };
    expect(await line()).to.match(/^failed +Lease of MOCO +no process holds the Lease moco-system\/moco/);
    delete clusterScoped[mocoLeasePath('moco-system', 'moco')];
    expect(await line()).to.match(/^failed +Lease of MOCO +there is no Lease moco-system\/moco, .* --moco-lease-name$/);
    installed.cluster.lease({ mocoLeaseNamespace: 'databases', mocoLeaseName: 'moco-2' });
    clusterScoped[mocoLeasePath('databases', 'moco-2')] = mocoLease;
    expect(await line()).to.match(/^ok .* the Lease databases\/moco-2, which moco-controller-a holds$/);
  });

  it('says so where the controller may not read the Lease of MOCO, or where the user may not', async () => {
    const { fault } = installed.cluster;
    const line = async (): Promise<string> =>
      (await installed.lines('-n', 'default')).lines.find((one) => / Lease of MOCO /.test(one)) ?? '';
    installed.cluster.fault = (request) =>
      request.path === mocoLeasePath('moco-system', 'moco') ? forbidden(request) : fault(request);
    expect(await line()).to.match(/^ok +Lease of MOCO +\S+ may read the Lease moco-system\/moco; you may not$/);
    installed.denied.push('get leases moco');
    expect(await line()).to.match(
      /^failed +Lease of MOCO +system:serviceaccount:\S+ may not read the Lease moco-system\/moco, so members are stopped/,
    );
  });

  it('warns of a freeze that a tenant can leave by changing a label, which is no failure', async () => {
    const line = async (): Promise<string> =>
      (await installed.lines()).lines.find((one) => / enforced policies /.test(one)) ?? '';
    const policies: object[] = [];
    installed.cluster.clusterScoped[`/apis/${policyKind.group}/${policyKind.version}/${policyKind.plural}`] = {
      items: policies,
    };
    const byLabel = { selector: { matchLabels: { tier: 'a' } } };
    policies.push({ metadata: { name: 'defaults' }, spec: { ...byLabel, settings: { paused: true } } });
    expect(await line()).to.match(/^ok +enforced policies +no policy enforces settings$/);
    const namespaceSelector = { matchLabels: { team: 'a' } };
    policies.push({ metadata: { name: 'by-namespace' }, spec: { namespaceSelector, enforced: { paused: true } } });
    expect(await line()).to.match(/^ok +enforced policies +no label of a MySQLCluster ends enforced settings$/);
    policies.push({ metadata: { name: 'by-label' }, spec: { ...byLabel, enforced: { paused: true } } });
    const { status } = await installed.lines();
    expect(status).to.equal(0);
    expect(await line()).to.match(
      /^warning +enforced policies +by-label: a user who may edit a MySQLCluster can escape/,
    );
  });

  it('does not know whether MySQL is queried if the user may not read what the controller publishes', async () => {
    const fault = installed.cluster.fault;
    installed.cluster.fault = (request) => (request.path.includes('/leases') ? forbidden(request) : fault(request));
    const { status, lines } = await installed.lines('-n', 'default');
    expect(status).to.equal(0);
    expect(lines.at(-1)).to.match(
      /^unknown +MySQL +you may not read the flags of the controller: bind ClusterRole moco-rollout-viewer in namespace moco-rollout-system$/,
    );
  });

  it('says once that a controller runs outside of a Deployment, and that none is installed', async () => {
    installed.isDeployed = false;
    const results = async (): Promise<readonly string[]> =>
      (await installed.lines()).lines.filter((one) => !one.startsWith('ok')).map((one) => one.trim());
    const [controller, rights, policies, lease, ...others] = await results();
    expect(controller).to.match(/^unknown +controller +a controller leads, but no Deployment has the label \S+$/);
    expect(rights).to.match(
      /^unknown +rights of the controller +without its Deployment the ServiceAccount of the controller is unknown/,
    );
    expect(policies).to.match(
      /^unknown +policies of the controller +without its Deployment the ServiceAccount of the controller is unknown/,
    );
    expect(lease).to.match(
      /^unknown +Lease of MOCO +without its Deployment the ServiceAccount of the controller is unknown/,
    );
    expect(others).to.deep.equal([]);
    delete installed.cluster.clusterScoped[leasePath];
    const failed = (await results()).filter((one) => one.startsWith('failed'));
    expect(failed).to.have.length(1);
    expect(failed[0]).to.match(/^failed +controller +no Deployment has the label \S+: install it$/);
  });

  for (const [missing, path, sentences] of [
    [
      'moco-rollout',
      '/apis/moco-rollout.io/',
      [/^failed +CRDs +there is no kind MySQLRollout: apply the CRDs/, /^failed +controller +no Deployment/],
    ],
    ['MOCO', '/apis/moco.cybozu.com/', [/^failed +MOCO +there is no kind MySQLCluster: install MOCO$/]],
  ] as const) {
    it(`has a line for each check where ${missing} is not installed`, async () => {
      const { lines: all } = await installed.lines();
      const fault = installed.cluster.fault;
      installed.hasMoco = missing !== 'MOCO';
      installed.isDeployed = missing === 'MOCO';
      if (installed.hasMoco) installed.definitions.clear();
      delete installed.cluster.clusterScoped[leasePath];
      installed.cluster.fault = (request) => (request.path.startsWith(path) ? notFound() : fault(request));
      const { status, lines } = await installed.lines();
      expect(status).to.equal(1);
      expect(lines).to.have.length(all.length);
      for (const sentence of sentences) expect(lines.join('\n')).to.match(new RegExp(sentence.source, 'm'));
    });
  }

  it('asks for the rights of config/rbac', () => {
    // Where the policies are left out on purpose, so is the right to create pods.
    const granted = clusterPermissions
      .filter(({ needsPolicy }) => needsPolicy !== true)
      // The Lease of MOCO has a check of its own.
      .filter(({ names }) => names === undefined)
      .flatMap(({ group, resource, verbs }) => verbs.map((verb) => `${verb} ${resource} ${group}`));
    const asked = [...neededByController, ...neededInWholeCluster].flatMap(([group, resource, verbs]) =>
      verbs.map((verb) => `${verb} ${resource} ${group}`),
    );
    expect(asked).to.have.members(granted);
  });

  const failures: Readonly<Record<string, readonly [change: () => void, line: RegExp]>> = {
    'Kubernetes is too old': [
      () => {
        installed.version = 'v1.29.1';
      },
      /^failed +Kubernetes +expected Kubernetes 1\.30 or newer, got v1\.29\.1/,
    ],
    'a CRD is missing': [
      () => installed.definitions.delete('mysqlrolloutpolicies'),
      /^failed +CRDs +there is no kind MySQLRolloutPolicy: apply the CRDs of this version$/,
    ],
    'a CRD is older': [
      () => {
        const [version] = installed.definitions.get('mysqlrollouts')?.spec.versions ?? [];
        delete version?.schema.openAPIV3Schema.properties.spec.properties['blackouts'];
      },
      /^failed +CRDs +mysqlrollouts\.moco-rollout\.io does not know spec\.blackouts/,
    ],
    'no controller is available': [
      () => {
        installed.available = 0;
      },
      /^failed +controller +deployment\/moco-rollout-controller in namespace moco-rollout-system has no available replica/,
    ],
    'a right is missing': [
      () => installed.denied.push('create pods/eviction', 'patch pods'),
      /^failed +rights of the controller +system:serviceaccount:moco-rollout-system:moco-rollout may not patch pods, create pods\/eviction/,
    ],
    'a policy of the controller is missing': [
      () => {
        installed.lists['validatingadmissionpolicies'] = (installed.lists['validatingadmissionpolicies'] ?? []).slice(
          1,
        );
      },
      /^failed +policies of the controller +\S+ can write more than the controller does: there is no ValidatingAdmissionPolicy controller\.moco-rollout\.io: apply/,
    ],
    'nothing binds a policy of the controller': [
      () => {
        installed.lists['validatingadmissionpolicybindings'] = [];
      },
      /^failed +policies of the controller +.*nothing binds controller\.moco-rollout\.io; nothing binds controller-evictions/,
    ],
    'a policy of the controller only warns': [
      () => {
        installed.lists['validatingadmissionpolicybindings'] = controllerPolicies.map((policyName) => ({
          spec: { policyName, validationActions: policyName === firstPolicy ? ['Warn', 'Audit'] : ['Deny'] },
        }));
      },
      /^failed +policies of the controller +.*does: controller\.moco-rollout\.io does not deny: apply/,
    ],
    'a policy of the controller applies to a different ServiceAccount': [
      () => {
        installed.lists['validatingadmissionpolicies'] = controllerPolicies.map((name) => ({
          metadata: { name },
          spec: { matchConditions: [{ expression: `x == '${name === firstPolicy ? 'another' : account}'` }] },
        }));
      },
      /^failed +policies of the controller +.*does: controller\.moco-rollout\.io applies to a different ServiceAccount: apply/,
    ],
    'the user may not read': [
      () => installed.denied.push('own list mysqlclusters'),
      /^failed +your rights +you may not list mysqlclusters/,
    ],
    'nothing keeps StatefulSets at OnDelete': [
      () => {
        installed.lists['mutatingadmissionpolicybindings'] = [];
      },
      /^failed +admission +nothing keeps StatefulSets at OnDelete/,
    ],
    'the admission policy is one of an older version, which does not know the label for new pods': [
      () => {
        const { keep } = installed.cluster.server;
        installed.cluster.server.keep = (after, before) => {
          const { 'moco-rollout.io/new-pods': _, ...labels } = after.metadata.labels ?? {};
          const { spec } = keep({ ...after, metadata: { ...after.metadata, labels } }, before);
          return { ...after, spec };
        };
      },
      /^failed +admission +the MutatingAdmissionPolicy keeps StatefulSets at OnDelete, but not the label moco-rollout\.io\/new-pods: a dry run that lets new pods start at the current revision left it at OnDelete with the label moco-rollout\.io\/new-pods; install the admission of this version/,
    ],
    'a webhook has no certificate': [
      () => {
        const webhooks = [{ name: 'statefulset.moco-rollout.io', clientConfig: {} }];
        installed.lists['mutatingwebhookconfigurations'] = [{ webhooks }];
      },
      /^failed +certificates +statefulset\.moco-rollout\.io has no caBundle/,
    ],
    'a caBundle is no certificate': [
      () => {
        const webhooks = [{ name: 'partition.moco-rollout.io', clientConfig: { caBundle: 'bm8=' } }];
        installed.lists['mutatingwebhookconfigurations'] = [{ webhooks }];
      },
      /^failed +certificates +partition\.moco-rollout\.io has a caBundle that is not a PEM certificate/,
    ],
    'a claim of a member is being deleted': [
      () => {
        const labels = {
          'app.kubernetes.io/name': 'mysql',
          'app.kubernetes.io/instance': 'test',
          'app.kubernetes.io/created-by': 'moco',
        };
        const metadata = { labels, deletionTimestamp: '2026-07-01T12:00:00Z' };
        installed.cluster.server.change(persistentVolumeClaims, claimOf(2), { metadata });
      },
      /PersistentVolumeClaims .*deleting their pods destroys the data: default\/mysql-data-moco-test-2;/,
    ],
    'a budget never allows a disruption': [
      () => {
        const fault = installed.cluster.fault;
        const budget = {
          metadata: { namespace: 'default', name: 'strict', uid: 'x', resourceVersion: '1', generation: 1 },
          spec: { minAvailable: 3, selector: { matchLabels: { 'app.kubernetes.io/instance': 'test' } } },
          status: {
            expectedPods: 3,
            desiredHealthy: 3,
            currentHealthy: 3,
            disruptionsAllowed: 0,
            observedGeneration: 1,
          },
        };
        installed.cluster.fault = (request) =>
          request.path.includes('poddisruptionbudgets') ? answer(200, { items: [budget] }) : fault(request);
      },
      /^failed +PodDisruptionBudgets +these never allow a disruption: default\/strict \(cluster test\)/,
    ],
    'Kubernetes cannot count the pods of a budget': [
      () => {
        const fault = installed.cluster.fault;
        const message = 'found no controller ref for pod "job-1"';
        const conditions = [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message }];
        const failing = { ...budget(), status: { disruptionsAllowed: 0, conditions } };
        installed.cluster.fault = (request) =>
          request.path.includes('poddisruptionbudgets') ? answer(200, { items: [failing] }) : fault(request);
      },
      /^failed +PodDisruptionBudgets +Kubernetes cannot count the pods of these, and allows no disruption: default\/moco-test \(cluster test\): found no controller ref for pod "job-1"; remove/,
    ],
    'two budgets select the members': [
      () => {
        const fault = installed.cluster.fault;
        const owner = { kind: 'Kafka', name: 'orders', uid: 'k', controller: true };
        const more = {
          metadata: { namespace: 'default', name: 'team', uid: 'x', resourceVersion: '1', ownerReferences: [owner] },
        };
        const extra = { ...budget(), ...more };
        installed.cluster.fault = (request) =>
          request.path.includes('poddisruptionbudgets') ? answer(200, { items: [budget(), extra] }) : fault(request);
      },
      /^failed +PodDisruptionBudgets +these select members beside another budget, and Kubernetes evicts no pod that several select: default\/team \(cluster test, owned by Kafka orders\); their owners have to delete them or narrow their selectors/,
    ],
    'a cluster is to get MySQL 9.7 and has members without the renamed plugins': [
      () => {
        template('9.7.1', '0.17.0');
        members(['8.4.8', '0.16.0'], ['8.4.8', '0.17.0'], ['8.4.8', '0.17.0']);
      },
      /^failed +semi-sync plugins +these will get a mysqld that has only the renamed plugins.*: default\/test \(moco-test-0\);/,
    ],
  };

  const images = (mysqld: string, agent: string): object => ({
    containers: [
      { name: 'mysqld', image: `mysql:${mysqld}` },
      { name: 'agent', image: `moco-agent:${agent}` },
    ],
  });
  const members = (...all: readonly (readonly [mysqld: string, agent: string])[]): void =>
    all.forEach(([mysqld, agent], ordinal) => {
      installed.cluster.bench.changePod(ordinal, { spec: images(mysqld, agent) });
    });
  const template = (mysqld: string, agent: string): void =>
    installed.cluster.bench.changeStatefulSet({ spec: { template: { spec: images(mysqld, agent) } } });
  const pluginsLine = async (): Promise<string | undefined> =>
    (await installed.lines()).lines.find((one) => one.includes(' semi-sync plugins '));

  it('names the clusters whose members have not restarted since MOCO introduced the renamed plugins', async () => {
    template('8.4.8', '0.17.0');
    members(['8.4.8', '0.16.0'], ['8.4.8', '0.17.0'], ['8.4.8', '0.16.0']);
    expect(await pluginsLine()).to.match(
      /^ok .*keep these at MySQL 8\.4 until .*restarted.*: default\/test \(moco-test-0, moco-test-2\)$/,
    );
    members(['8.4.8', '0.17.0'], ['8.4.8', '0.17.1'], ['8.4.8', '1.0.0']);
    expect(await pluginsLine()).to.match(/^ok .*no cluster gets MySQL 9\.5 or newer before/);
  });

  it('does not know it if the tag of moco-agent is no version, and needs it only for a newer mysqld', async () => {
    template('9.7.1', 'latest');
    members(['8.4.8', 'latest'], ['8.4.8', '0.17.0'], ['8.4.8', '0.17.0']);
    expect(await pluginsLine()).to.match(/^unknown .*no version in their tags.*: default\/test \(moco-test-0\)$/);
    template('8.4.8', 'latest');
    expect(await pluginsLine()).to.match(/^ok /);
  });

  for (const [what, [change, line]] of Object.entries(failures)) {
    it(`fails if ${what}, and only that line`, async () => {
      change();
      const { status, lines } = await installed.lines();
      expect(status).to.equal(1);
      expect(lines.filter((one) => !one.startsWith('ok'))).to.have.length(1);
      expect(lines.find((one) => one.startsWith('failed'))).to.match(line);
    });
  }

  it('tries the label for new pods as a dry run on an adopted StatefulSet, and changes nothing', async () => {
    const { lines } = await installed.lines();
    expect(lines.find((line) => line.includes(' admission '))).to.match(
      /the MutatingAdmissionPolicy keeps StatefulSets at OnDelete, and at partition = replicas with the label moco-rollout\.io\/new-pods/,
    );
    expect(installed.cluster.server.writes.map(({ path }) => path)).to.deep.equal([
      '/apis/apps/v1/namespaces/default/statefulsets/moco-test?dryRun',
    ]);
  });

  it('says so where the user may not try it, and tries nothing where no StatefulSet is adopted', async () => {
    const fault = installed.cluster.fault;
    installed.cluster.fault = (request) => (request.method === 'PATCH' ? forbidden(request) : fault(request));
    const { status, lines } = await installed.lines();
    expect(status).to.equal(0);
    expect(lines.find((line) => line.includes(' admission '))).to.match(
      /OnDelete; you lack the right to try whether it keeps the label moco-rollout\.io\/new-pods/,
    );
    installed.cluster.bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/strategy': null } } });
    const { lines: later } = await installed.lines();
    expect(later.find((line) => line.includes(' admission '))).to.match(/keeps StatefulSets at OnDelete$/);
  });

  it('is unknown, and no failure, where the user may not read', async () => {
    const fault = installed.cluster.fault;
    installed.cluster.fault = (request) =>
      request.path.includes('admissionregistration') ? forbidden(request) : fault(request);
    const { status, lines } = await installed.lines();
    expect(status).to.equal(0);
    expect(lines.filter((one) => one.startsWith('unknown')).map((one) => one.split(/ {2,}/)[1])).to.deep.equal([
      'policies of the controller',
      'admission',
      'certificates',
    ]);
  });

  it('names what a user may not change, which is no failure', async () => {
    installed.denied.push('own approve mysqlrollouts');
    const { status, lines } = await installed.lines();
    expect(status).to.equal(0);
    expect(lines.join('\n')).to.match(/but not approve \(approve mysqlrollouts\)$/m);
  });

  it('writes its findings for programs', async () => {
    const { out } = await installed.cluster.run('check', '-o', 'json');
    expect((JSON.parse(out) as readonly object[])[0]).to.deep.equal({
      about: 'Kubernetes',
      result: 'ok',
      sentence: 'v1.36.3',
    });
  });
});
