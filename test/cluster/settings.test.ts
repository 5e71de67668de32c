import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { builtInStrategy } from '../../src/api/settings.ts';
import { Cache } from '../../src/controller/cache/cache.ts';
import { Watches } from '../../src/controller/cache/watches.ts';
import { settingsOf } from '../../src/controller/facts/settings-in-force.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { keyOf } from '../../src/kube/store.ts';
import { realWorld } from '../../src/kube/world.ts';
import { readOne } from '../config/manifests.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { until } from '../support/control-plane/until.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { ObjectClient } from '../support/object-client.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const testDeadlineMilliseconds = 180_000;
const waitMilliseconds = 90_000;
const builtIn = { policy: defaultPolicy, strategy: builtInStrategy };
const ofWholeCluster = ['MySQLRolloutPolicy', 'MySQLRolloutSequence', 'Namespace'];

describe('settings on a real API server', function () {
  this.timeout(testDeadlineMilliseconds);
  const controlPlane = useControlPlane();
  let namespace: string;
  let cache: Cache;
  let connection: Connection;
  let stop: AbortController;
  let running: Promise<void>;
  let watches: Watches;
  let asked: string[];
  /** Cluster-scoped, so that they have to go by themselves. */
  let policies: Set<string>;

  beforeEach(async () => {
    namespace = await freshNamespace(controlPlane(), 'settings');
    policies = new Set();
    cache = new Cache();
    asked = [];
    cache.onChange((key) => asked.push(key));
    stop = new AbortController();
    running = Promise.resolve();
  });

  afterEach(async () => {
    stop.abort();
    await running;
    await connection.close();
    for (const name of policies) await controlPlane().kubectl('delete', 'mrop', name, '--ignore-not-found');
  });

  const watch = (kubeconfigPath: string, namespaceNames: readonly string[]): void => {
    connection = connect({ kubeconfigPath });
    const world = realWorld(connection.exchange);
    const client = new ObjectClient({ world, qps: 1000, burst: 1000 });
    watches = new Watches(cache, client, world, new FakeLog(), namespaceNames);
    running = watches.run(stop.signal);
  };

  const comes = async (sentence: string, condition: () => boolean): Promise<void> => {
    await until(
      () => condition() || undefined,
      waitMilliseconds,
      () => `expected that ${sentence}`,
    );
  };

  const sourceOf = (): string => {
    const cluster = cache.clusters.get(namespace, 'test');
    if (!cluster) return 'no cluster';
    const rollout = cache.rollouts.get(namespace, 'test')?.object.spec;
    const { sources, problem } = settingsOf({ rollout, ...cache.settingsSources(cluster) }, builtIn, Date.now());
    return problem ?? sources['minReadySeconds']?.source ?? '';
  };

  const says = (source: string) => comes(`minReadySeconds comes from ${source}`, () => sourceOf() === source);

  async function apply(object: object): Promise<void> {
    const file = join(controlPlane().directory, `${namespace}.yaml`);
    await writeFile(file, stringify(object));
    await controlPlane().kubectl('apply', '--validate=strict', '-f', file);
  }

  async function applyPolicy(name: string, spec: object): Promise<void> {
    policies.add(`${namespace}-${name}`);
    const metadata = { name: `${namespace}-${name}` };
    await apply({ apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRolloutPolicy', metadata, spec });
  }

  it('follow policies, labels of the namespace and of the cluster, and the MySQLRollout, as these change', async () => {
    watch(controlPlane().adminKubeconfig, []);
    await apply(sampleCluster({ name: 'test', namespace }));
    await says('default');
    const byTeam = { namespaceSelector: { matchLabels: { team: namespace } }, settings: { minReadySeconds: 7 } };
    await applyPolicy('team', byTeam);
    await comes('the policy is known', () => cache.policies.size > 0);
    expect(sourceOf()).to.equal('default');
    asked.length = 0;
    await controlPlane().kubectl('label', 'namespace', namespace, `team=${namespace}`);
    await says(`MySQLRolloutPolicy/${namespace}-team`);
    expect(asked, 'the cluster is looked at again').to.include(keyOf(namespace, 'test'));
    await applyPolicy('rival', { selector: { matchLabels: { tier: namespace } }, settings: { minReadySeconds: 8 } });
    await comes('the rival is known', () => cache.policies.size > 1);
    expect(sourceOf()).to.equal(`MySQLRolloutPolicy/${namespace}-team`);
    await controlPlane().kubectl('-n', namespace, 'label', 'mysqlcluster', 'test', `tier=${namespace}`);
    await says(`MySQLRolloutPolicy/${namespace}-rival`);
    await applyPolicy('team', { ...byTeam, priority: 1 });
    await says(`MySQLRolloutPolicy/${namespace}-team`);
    const rollout = {
      apiVersion: 'moco-rollout.io/v1alpha1',
      kind: 'MySQLRollout',
      metadata: { name: 'test', namespace },
    };
    await apply({ ...rollout, spec: { minReadySeconds: 9 } });
    await says('MySQLRollout');
    await apply({ ...rollout, spec: {} });
    await says(`MySQLRolloutPolicy/${namespace}-team`);
    asked.length = 0;
    await controlPlane().kubectl('delete', 'mrop', ...policies);
    await says('default');
    expect(asked).to.include(keyOf(namespace, 'test'));
  });

  it('work without policies if there are only roles in a namespace, and use them once they are granted', async () => {
    const { rules } = (await readOne('ClusterRole', 'rbac')) as unknown as { rules: readonly object[] };
    const subjects = [{ kind: 'ServiceAccount', name: 'here', namespace }];
    const rbac = 'rbac.authorization.k8s.io/v1';
    const reference = { apiGroup: 'rbac.authorization.k8s.io', name: 'here' };
    await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'here', namespace } });
    await apply({ apiVersion: rbac, kind: 'Role', metadata: { name: 'here', namespace }, rules });
    await apply({
      apiVersion: rbac,
      kind: 'RoleBinding',
      metadata: { name: 'here', namespace },
      roleRef: { ...reference, kind: 'Role' },
      subjects,
    });
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
    await applyPolicy('all', { namespaceSelector, settings: { minReadySeconds: 7 } });
    await apply(sampleCluster({ name: 'test', namespace }));
    watch(await controlPlane().kubeconfigFor({ namespace, name: 'here' }), [namespace]);
    await watches.synced();
    expect(watches.hasSynced).to.equal(true);
    expect([...cache.unavailable.keys()]).to.have.members([...ofWholeCluster]);
    for (const { why, message, isIntended } of cache.unavailable.values()) {
      expect({ why, isIntended }).to.deep.equal({ why: 'Forbidden', isIntended: true });
      expect(message).to.contain('is forbidden: User');
    }
    await says('default');
    await controlPlane().kubectl(
      'create',
      'clusterrolebinding',
      namespace,
      '--clusterrole=cluster-admin',
      `--serviceaccount=${namespace}:here`,
    );
    try {
      await says(`MySQLRolloutPolicy/${namespace}-all`);
      await comes('nothing is missed any more', () => cache.unavailable.size === 0);
      expect(cache.namespaces.values().map(({ name }) => name)).to.deep.equal([namespace]);
    } finally {
      await controlPlane().kubectl('delete', 'clusterrolebinding', namespace);
    }
  });
});
