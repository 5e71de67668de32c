import { expect } from 'chai';
import { Registry } from 'prom-client';
import { rolloutKind } from '../../src/api/rollout.ts';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import type { ExchangeRequest, ExchangeResponse } from '../../src/base/world.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import {
  jobs,
  namespaces,
  path,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../src/kube/resource.ts';
import { keyOf } from '../../src/kube/store.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { Cache } from '../../src/objects/cache.ts';
import { Watches } from '../../src/objects/watches.ts';
import { CacheMetrics } from '../../src/telemetry/runtime-metrics.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { answer, FakeWorld, status } from '../kube/fake-world.ts';

/** That one can't do without. */
const needed: readonly ResourceKind[] = [clusterKind, rolloutKind, statefulSets, podDisruptionBudgets, pods];
/** Of the whole cluster: a role in a namespace doesn't grant them, and one of them may not be there. */
const wanted: readonly ResourceKind[] = [policyKind, sequenceKind, namespaces];
const kinds = [...needed, ...wanted, jobs];

const meta = (name: string, more: object = {}): object => ({
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  resourceVersion: '7',
  ...more,
});
/** Events are newer than the list before them. */
const afterList = { resourceVersion: '11' };
const ofCluster = { labels: { 'app.kubernetes.io/instance': 'test', 'app.kubernetes.io/created-by': 'moco' } };
const millionCharacters = { annotations: { note: 'x'.repeat(1_000_000) } };

/** An object of each kind as bare as it can be and still concern the cluster `test`. */
const bare: Readonly<Record<string, object>> = {
  MySQLCluster: { metadata: meta('test') },
  MySQLRollout: { metadata: meta('test') },
  StatefulSet: { metadata: meta('moco-test', ofCluster) },
  PodDisruptionBudget: { metadata: meta('moco-test', ofCluster) },
  Job: { metadata: meta('emergency-backup', ofCluster) },
  Pod: { metadata: meta('moco-test-0', ofCluster) },
  MySQLRolloutPolicy: { metadata: { ...meta('all'), namespace: undefined } },
  MySQLRolloutSequence: { metadata: { ...meta('order'), namespace: undefined } },
  Namespace: { metadata: { ...meta('default'), namespace: undefined } },
};

const strange = {
  spec: { replicas: 'three', containers: 'none', selector: [], template: 7, updateStrategy: null },
  status: { conditions: {}, containerStatuses: [null, 'x'], phase: 1, active: 'yes', currentPrimaryIndex: {} },
  surprise: { deep: [{ deeper: null }] },
};

const inNamespace = /\/namespaces\/[^/]+(?=\/)/;

describe('the watches', () => {
  let items: Record<string, readonly unknown[]>;
  let refusals: Record<string, 403 | 404>;
  let forbidden: string | null;
  let lines: Record<string, readonly object[]>;
  let cache: Cache;
  let registry: Registry;
  let log: FakeLog;
  let world: FakeWorld;
  let stop: AbortController;
  let running: Promise<void>;
  let watches: Watches;

  beforeEach(() => {
    items = Object.fromEntries(Object.entries(bare).map(([kind, object]) => [kind, [object]]));
    lines = {};
    refusals = {};
    forbidden = null;
    cache = new Cache();
    world = new FakeWorld((request) => serve(request));
    stop = new AbortController();
    watches = watchesOf([]);
  });

  const watchesOf = (namespaceNames: readonly string[]): Watches => {
    log = new FakeLog();
    const client = new ApiClient({ world, qps: 1e6, burst: 1e6 });
    registry = new Registry();
    return new Watches(cache, client, world, log, namespaceNames, new CacheMetrics(registry));
  };

  afterEach(async () => {
    stop.abort();
    await running;
    expect(world.pendingTimers, 'timers left over').to.equal(0);
  });

  async function serve({ path: target, signal }: ExchangeRequest): Promise<ExchangeResponse> {
    const url = new URL(target, 'http://server');
    const kind = kinds.find((candidate) => path(candidate) === url.pathname.replace(inNamespace, ''))?.kind ?? '';
    const isForbidden = forbidden !== null && url.pathname.endsWith(forbidden);
    const refusal = isForbidden ? 403 : refusals[kind];
    if (refusal !== undefined) return answer(refusal, status(refusal, refusal === 403 ? 'Forbidden' : 'NotFound'));
    if (url.searchParams.has('sendInitialEvents')) return answer(422, status(422, 'Invalid'));
    if (!url.searchParams.has('watch')) {
      return answer(200, { kind: `${kind}List`, metadata: { resourceVersion: '10' }, items: items[kind] });
    }
    return { status: 200, headers: {}, body: untilAborted(lines[kind] ?? [], signal) };
  }

  async function synced(): Promise<void> {
    running = watches.run(stop.signal);
    await world.until(() => watches.hasSynced, 'every kind to be listed', 0);
  }

  const ignored = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('moco_rollout_decode_failures_total'));

  it('accept objects that have nothing but metadata', async () => {
    await synced();
    const objects = cache.objects(keyOf('default', 'test'));
    expect(objects?.cluster.name).to.equal('test');
    expect(objects?.statefulSet?.name).to.equal('moco-test');
    expect(objects?.pods.map(({ name }) => name)).to.deep.equal(['moco-test-0']);
    expect(objects?.budgets.map(({ name }) => name)).to.deep.equal(['moco-test']);
    expect(objects?.jobs.map(({ name }) => name)).to.deep.equal(['emergency-backup']);
    expect(cache.rollouts.size).to.equal(1);
    expect(cache.settingsSources({ namespace: 'default', labels: {} })).to.deep.equal({
      policies: [
        {
          namespace: '',
          name: 'all',
          uid: 'uid-all',
          resourceVersion: '7',
          generation: 0,
          priority: 0,
          maxNamespaceShare: null,
          selector: { matchLabels: {}, matchExpressions: [] },
          namespaceSelector: { matchLabels: {}, matchExpressions: [] },
          settings: undefined,
          enforced: undefined,
          problem: null,
          status: {},
        },
      ],
      cluster: { namespace: 'default', labels: {}, namespaceLabels: {} },
    });
    expect(cache.unavailable.size).to.equal(0);
    expect(await ignored()).to.deep.equal([]);
  });

  it('accept objects whose fields have other types or are unknown', async () => {
    for (const [kind, object] of Object.entries(bare)) items[kind] = [{ ...object, ...strange }];
    await synced();
    const objects = cache.objects(keyOf('default', 'test'));
    expect(objects?.statefulSet?.strategy).to.equal('RollingUpdate');
    expect(objects?.pods.map(({ phase }) => phase)).to.deep.equal(['Pending']);
    expect(await ignored()).to.deep.equal([]);
  });

  it('do not cache an annotation of a million characters', async () => {
    items['Pod'] = [{ metadata: meta('moco-test-0', { ...ofCluster, ...millionCharacters }) }];
    items['MySQLCluster'] = [{ metadata: meta('test', millionCharacters) }];
    await synced();
    expect(JSON.stringify(cache.objects(keyOf('default', 'test'))).length).to.be.below(10_000);
  });

  it('leave out pods without labels or with a name that no StatefulSet gives', async () => {
    items['Pod'] = [{ metadata: meta('moco-test-0') }, { metadata: meta('else', ofCluster) }];
    items['StatefulSet'] = [{ metadata: meta('moco-test') }];
    await synced();
    const objects = cache.objects(keyOf('default', 'test'));
    expect([objects?.pods, objects?.statefulSet]).to.deep.equal([[], null]);
    expect(await ignored(), 'it is not ignored, it is none of ours').to.deep.equal([]);
  });

  it('count decode failures by kind and reason, and continue', async () => {
    items['Pod'] = [null, bare['Pod']];
    lines['Pod'] = [
      { type: 'RENAMED', object: { kind: 'Pod', ...bare['Pod'] } },
      { type: 'MODIFIED', object: { kind: 'Service', metadata: meta('moco-test-0', { ...ofCluster, ...afterList }) } },
      { type: 'ADDED', object: 'a pod' },
      { type: 'ADDED', object: { kind: 'Pod', metadata: meta('moco-test-1', { ...ofCluster, ...afterList }) } },
    ];
    await synced();
    await world.until(() => cache.pods.size === 2, 'the pod after those', 0);
    expect(await ignored()).to.have.members([
      'moco_rollout_decode_failures_total{kind="Pod",reason="NotAnObject"} 1',
      'moco_rollout_decode_failures_total{kind="Pod",reason="UnknownEvent"} 1',
      'moco_rollout_decode_failures_total{kind="Pod",reason="AnotherKind"} 1',
      'moco_rollout_decode_failures_total{kind="Pod",reason="UnreadableEvent"} 1',
    ]);
  });

  for (const [refusal, why] of [
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ] as const) {
    it(`work without cluster-scoped kinds that are answered ${refusal}, log that, and use them once they are available`, async () => {
      for (const { kind } of wanted) refusals[kind] = refusal;
      await synced();
      expect([...cache.unavailable.keys()]).to.have.members(wanted.map(({ kind }) => kind));
      for (const kind of cache.unavailable.values()) expect(kind).to.include({ why, isIntended: false });
      expect([cache.policies.size, cache.sequences.size, cache.namespaces.size]).to.deep.equal([0, 0, 0]);
      refusals = {};
      await world.until(() => cache.unavailable.size === 0, 'the kinds');
      expect([cache.policies.size, cache.sequences.size, cache.namespaces.size]).to.deep.equal([1, 1, 1]);
    });
  }

  it('are meant to do without cluster-scoped kinds that they can never read in some namespaces', async () => {
    watches = watchesOf(['default']);
    refusals['MySQLRolloutSequence'] = 403;
    await synced();
    expect(cache.unavailable.get('MySQLRolloutSequence')?.isIntended).to.equal(true);
    refusals = {};
    await world.until(() => cache.unavailable.size === 0, 'the kinds');
    refusals['MySQLRolloutSequence'] = 403;
    lines['MySQLRolloutSequence'] = [];
    await world.until(() => cache.unavailable.size > 0, 'the loss of the right', 1_000_000);
    expect(cache.unavailable.get('MySQLRolloutSequence')?.isIntended).to.equal(false);
  });

  it('know that Jobs are forbidden in one of their namespaces, and forget what they knew of Jobs until none is', async () => {
    watches = watchesOf(['default', 'other']);
    forbidden = '/namespaces/other/jobs';
    await synced();
    const objects = () => cache.objects(keyOf('default', 'test'));
    const message = '403 Forbidden: Forbidden it is';
    expect(cache.unavailable.get('Job')).to.deep.equal({ why: 'Forbidden', message, isIntended: false });
    expect(objects()).to.deep.include({ jobs: [], jobsUnreadable: message });
    forbidden = null;
    await world.until(() => cache.unavailable.size === 0, 'the right');
    expect(objects()).to.have.property('jobsUnreadable', null);
    expect(objects()?.jobs).to.have.lengthOf(1);
  });

  it('treat a server without Jobs as one on which none runs', async () => {
    refusals['Job'] = 404;
    await synced();
    expect(cache.objects(keyOf('default', 'test'))).to.deep.include({ jobs: [], jobsUnreadable: null });
  });

  it('forget a Job once it is Complete', async () => {
    const status = { conditions: [{ type: 'Complete', status: 'True' }] };
    const metadata = meta('emergency-backup', { ...ofCluster, ...afterList });
    lines['Job'] = [{ type: 'MODIFIED', object: { kind: 'Job', metadata, status } }];
    await synced();
    await world.until(() => cache.jobs.size === 0, 'the end of the Job', 0);
  });

  for (const { kind } of needed) {
    it(`wait for ${kind}, even if it is forbidden`, async () => {
      refusals[kind] = 403;
      running = watches.run(stop.signal);
      await world.advance(60_000);
      expect(watches.hasSynced).to.equal(false);
      refusals = {};
      await world.until(() => watches.hasSynced, 'every kind to be listed');
    });
  }

  for (const namespaceNames of [[], ['default', 'other']]) {
    const where = namespaceNames.length === 0 ? 'everywhere' : 'in two namespaces';

    it(`log once that MOCO is not installed, ${where}, and start when it is`, async () => {
      watches = watchesOf(namespaceNames);
      refusals['MySQLCluster'] = 404;
      await synced();
      await world.advance(60_000);
      expect([watches.hasSynced, cache.clusters.size]).to.deep.equal([true, 0]);
      expect(log.of('warn')).to.have.length(1);
      expect(log.of('warn')[0]).to.match(/does not serve MySQLClusters as moco\.cybozu\.com\/v1beta2: .* waits until/);
      refusals = {};
      await world.until(() => cache.clusters.size > 0, 'the cluster');
      expect(log.of('info').filter((line) => line.includes('MySQLClusters'))).to.have.length(1);
    });
  }

  it('forget the clusters if MOCO is uninstalled', async () => {
    lines['MySQLCluster'] = [{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }];
    await synced();
    expect(cache.clusters.size).to.equal(1);
    refusals['MySQLCluster'] = 404;
    await world.until(() => cache.clusters.size === 0, 'the clusters to go');
    expect(log.of('warn').filter((line) => line.includes('MOCO'))).to.have.length(1);
  });

  it('cache only the namespaces that they work in', async () => {
    items['Namespace'] = ['default', 'other'].map((name) => ({ metadata: { ...meta(name), namespace: undefined } }));
    watches = watchesOf(['default']);
    await synced();
    expect(cache.namespaces.values().map(({ name }) => name)).to.deep.equal(['default']);
    expect(cache.clusters.size).to.equal(1);
  });

  it('can be stopped before anything was listed', async () => {
    stop.abort();
    running = watches.run(stop.signal);
    await running;
    await watches.synced();
    expect(watches.hasSynced).to.equal(false);
  });

  it('report the age of each part of the cache', async () => {
    await synced();
    world.freeze(42_000);
    const ages = (await registry.metrics()).split('\n').filter((line) => line.startsWith('moco_rollout_cache_age'));
    expect(ages).to.have.members(kinds.map(({ kind }) => `moco_rollout_cache_age_seconds{kind="${kind}"} 42`));
  });
});

async function* untilAborted(events: readonly object[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const event of events) yield new TextEncoder().encode(`${JSON.stringify(event)}\n`);
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true });
  });
}
