import { expect } from 'chai';
import { projectPolicy } from '../../src/api/rollout-policy.ts';
import { splitKey } from '../../src/kube/store.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectBudget, projectCluster, projectJob, projectNamespace } from '../../src/moco/projections.ts';
import type { BudgetRecord, ClusterRecord } from '../../src/moco/records.ts';
import { Cache } from '../../src/objects/cache.ts';
import { budget, mysqlCluster, pod } from '../controller/moco-objects.ts';
import type { Patch } from '../controller/object-server.ts';

const identity = { uid: 'u', resourceVersion: '1' };

function read<R>(project: (raw: Patch) => R | null, raw: object, name: string, namespace = 'default'): R {
  const { metadata } = raw as { metadata: object };
  const record = project({ ...raw, metadata: { ...metadata, name, namespace, ...identity } });
  if (record === null) throw new Error(`expected ${name} to be something to us`);
  return record;
}

const cluster = (name: string, namespace?: string): ClusterRecord =>
  read(projectCluster, mysqlCluster(), name, namespace);
const budgetThat = (selector: object | null): BudgetRecord =>
  read(projectBudget, { ...budget(), spec: { selector } }, 'some');

/** The keys of the clusters that a change concerns. */
function concerned(change: (cache: Cache) => void): readonly string[] {
  const cache = new Cache();
  for (const name of ['test', 'other']) cache.clusters.put(cluster(name));
  cache.clusters.put(cluster('test', 'elsewhere'));
  const keys: string[] = [];
  cache.onChange((key) => keys.push(key));
  change(cache);
  return keys;
}

describe('the pods of members that are gone', () => {
  const withEnd = (state: object): object => ({
    ...pod(1),
    status: { containerStatuses: [{ name: 'mysqld', ready: false, restartCount: 0, state }] },
  });
  const gone = (name: string, state: object, cluster_ = 'test'): Cache => {
    const cache = new Cache();
    cache.clusters.put(cluster(cluster_));
    cache.pods.put(read(projectPod, withEnd(state), name));
    cache.pods.remove('default', name);
    return cache;
  };
  const killedIn = (cache: Cache, key = 'default/test') =>
    cache.objects(key)?.killedPods?.map(({ ordinal }) => ordinal);
  const killed = { terminated: { exitCode: 137 } };

  it('are remembered if their mysqld was killed', () => {
    expect(killedIn(gone('moco-test-1', killed))).to.deep.equal([1]);
    expect(killedIn(gone('moco-test-1', { terminated: { exitCode: 0 } }))).to.deep.equal([]);
    expect(killedIn(gone('moco-test-1', { running: {} }))).to.deep.equal([]);
  });

  it('are remembered for existing members alone, and no longer than their cluster exists', () => {
    expect(killedIn(gone('moco-test-1', killed, 'other'), 'default/other')).to.deep.equal([]);
    expect(killedIn(gone('moco-test-9', killed))).to.deep.equal([]);
    const cache = gone('moco-test-1', killed);
    cache.clusters.remove('default', 'test');
    cache.clusters.put(cluster('test'));
    expect(killedIn(cache)).to.deep.equal([]);
  });
});

describe('a change in the cache', () => {
  it('triggers the cluster that a pod or a backup belongs to', () => {
    expect(concerned(({ pods }) => pods.put(read(projectPod, pod(1), 'moco-test-1')))).to.deep.equal(['default/test']);
    const backup = { metadata: { labels: { 'app.kubernetes.io/instance': 'test' } } };
    expect(concerned(({ jobs }) => jobs.put(read(projectJob, backup, 'emergency-backup')))).to.deep.equal([
      'default/test',
    ]);
  });

  it('triggers the cluster itself when it is created, updated and deleted', () => {
    const all = ({ clusters }: Cache): void => {
      clusters.put(cluster('new'));
      clusters.put(cluster('new'));
      clusters.remove('default', 'new');
    };
    expect(concerned(all)).to.deep.equal(['default/new', 'default/new', 'default/new']);
  });

  it('triggers the one cluster that a budget names', () => {
    const named = budgetThat({ matchLabels: { 'app.kubernetes.io/instance': 'other' } });
    expect(concerned(({ budgets }) => budgets.put(named))).to.deep.equal(['default/other']);
  });

  it('triggers every cluster of the namespace if a budget names none', () => {
    for (const selector of [
      {},
      { matchLabels: { app: 'x' } },
      { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
    ]) {
      expect(concerned(({ budgets }) => budgets.put(budgetThat(selector)))).to.have.members([
        'default/test',
        'default/other',
      ]);
    }
  });

  it('triggers both clusters if a budget now names another one', () => {
    const first = budgetThat({ matchLabels: { 'app.kubernetes.io/instance': 'test' } });
    const then = budgetThat({ matchLabels: { 'app.kubernetes.io/instance': 'other' } });
    const both = ({ budgets }: Cache): void => {
      budgets.put(first);
      budgets.put(then);
    };
    expect(concerned(both)).to.deep.equal(['default/test', 'default/test', 'default/other']);
  });

  it('triggers every cluster if a policy is created, updated or deleted', () => {
    const all = ['default/test', 'default/other', 'elsewhere/test'];
    const policy = projectPolicy({ metadata: { name: 'p', ...identity, generation: 1 } });
    const once = ({ policies }: Cache): void => policies.put(policy);
    expect(concerned(once)).to.have.members(all);
    const changed = ({ policies }: Cache): void => {
      policies.put(policy);
      policies.put({ ...policy, resourceVersion: '2' });
      policies.put({ ...policy, resourceVersion: '3', generation: 2 });
      policies.remove('', 'p');
    };
    expect(concerned(changed)).to.have.members([...all, ...all, ...all]);
  });

  it('triggers the clusters of a namespace whose labels are added, changed or removed', () => {
    const own = ['default/test', 'default/other'];
    const namespace = projectNamespace({ metadata: { name: 'default', ...identity, labels: { team: 'a' } } });
    const changes = ({ namespaces }: Cache): void => {
      namespaces.put(namespace);
      namespaces.put({ ...namespace, resourceVersion: '2' });
      namespaces.put({ ...namespace, resourceVersion: '3', labels: { team: 'b' } });
      namespaces.remove('', 'default');
    };
    expect(concerned(changes)).to.deep.equal([...own, ...own, ...own]);
  });

  it('is no longer reported after the subscription ends', () => {
    expect(concerned(() => {})).to.deep.equal([]);
  });
});

describe('the shares of namespaces', () => {
  it('change with the policies that set one, and with labels of namespaces only while one does', () => {
    const cache = new Cache();
    let changes = 0;
    cache.onShareChange(() => void changes++);
    const changesOf = (change: () => void): number => {
      changes = 0;
      change();
      return changes;
    };
    const namespace = projectNamespace({ metadata: { name: 'default', ...identity } });
    const unreadable = { why: 'Forbidden', message: '', isIntended: false } as const;
    const around = (team: string) => (): void => {
      cache.namespaces.put({ ...namespace, resourceVersion: team, labels: { team } });
      cache.setUnavailable('Namespace', unreadable);
      cache.setUnavailable('Namespace', null);
    };
    const metadata = { name: 'p', ...identity, generation: 1 };
    expect(changesOf(() => cache.policies.put(projectPolicy({ metadata, spec: { priority: 1 } })))).to.equal(0);
    expect(changesOf(around('a'))).to.equal(0);
    const sharing = projectPolicy({ metadata: { ...metadata, generation: 2 }, spec: { maxNamespaceShare: 20 } });
    expect(changesOf(() => cache.policies.put({ ...sharing, resourceVersion: '2' }))).to.equal(1);
    expect(changesOf(around('b'))).to.equal(3);
    expect(changesOf(() => cache.policies.remove('', 'p'))).to.equal(1);
    expect(changesOf(around('c'))).to.equal(0);
  });
});

describe('the objects of a cluster', () => {
  it('are those of its own namespace', () => {
    const cache = new Cache();
    cache.clusters.put(cluster('test'));
    cache.pods.put(read(projectPod, pod(0), 'moco-test-0'));
    cache.pods.put(read(projectPod, pod(1), 'moco-test-1', 'elsewhere'));
    cache.budgets.put({ ...budgetThat({}), namespace: 'elsewhere' });
    expect(cache.objects('elsewhere/test')).to.equal(null);
    const objects = cache.objects('default/test');
    expect(objects?.pods.map(({ ordinal }) => ordinal)).to.deep.equal([0]);
    expect(objects).to.deep.include({ budgets: [], statefulSet: null, jobs: [], jobsUnreadable: null });
  });

  it('include policies and namespace labels; unknown labels differ from empty ones', () => {
    const cache = new Cache();
    const labelled = { ...cluster('test'), labels: { tier: 'db' } };
    const policy = projectPolicy({ metadata: { name: 'p', ...identity, generation: 1 }, spec: { paused: true } });
    cache.policies.put(policy);
    expect(cache.settingsSources(labelled)).to.deep.equal({
      policies: [policy],
      cluster: { namespace: 'default', labels: { tier: 'db' }, namespaceLabels: null },
    });
    cache.namespaces.put(projectNamespace({ metadata: { name: 'default', ...identity } }));
    expect(cache.settingsSources(labelled).cluster.namespaceLabels).to.deep.equal({});
    cache.setUnavailable('Namespace', { why: 'Forbidden', message: '', isIntended: false });
    expect(cache.settingsSources(labelled).cluster.namespaceLabels, 'may have changed since').to.equal(null);
  });

  it('queue every cluster when a kind cannot be read, and when it can', () => {
    const cache = new Cache();
    cache.clusters.put(cluster('test'));
    cache.clusters.put(cluster('other'));
    const keys: string[] = [];
    cache.onChange((key) => keys.push(key));
    cache.setUnavailable('MySQLRolloutSequence', { why: 'Forbidden', message: '', isIntended: false });
    expect(keys.splice(0)).to.have.members(['default/test', 'default/other']);
    cache.setUnavailable('MySQLRolloutSequence', null);
    expect(keys.splice(0)).to.have.members(['default/test', 'default/other']);
  });

  it('are found by a key that has exactly one slash', () => {
    expect(splitKey('default/test')).to.deep.equal(['default', 'test']);
  });
});

describe('the clusters that replicate from another one', () => {
  it('have a name only in the namespace of that one', () => {
    const cache = new Cache();
    cache.clusters.put(cluster('test'));
    const address = { default: '10.1.2.3', elsewhere: '10.1.2.4' };
    for (const [namespace, podIP] of Object.entries(address)) {
      const { metadata, spec } = mysqlCluster() as { metadata: object; spec: object };
      const copy = { metadata, spec: { ...spec, replicationSourceSecretName: 'source' } };
      cache.clusters.put(read(projectCluster, copy, 'copy', namespace));
      const { metadata: ofPod } = pod(0) as { metadata: { labels: object } };
      const labels = { ...ofPod.labels, 'app.kubernetes.io/instance': 'copy' };
      const spec_ = { containers: [{ name: 'mysqld', image: 'mysql:8.0.40' }] };
      const raw = { metadata: { ...ofPod, labels }, spec: spec_, status: { podIP } };
      cache.pods.put(read(projectPod, raw, 'moco-copy-0', namespace));
    }
    expect(cache.replicaClustersAt(Object.values(address), 'default/test')).to.deep.equal([
      { cluster: 'default/copy', version: '8.0.40' },
      { cluster: null, version: '8.0.40' },
    ]);
  });
});
