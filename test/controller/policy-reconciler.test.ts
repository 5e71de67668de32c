import { expect } from 'chai';
import { type MySQLRollout, wholeRecord } from '../../src/api/rollout.ts';
import { type PolicyStatus, policyStatus, projectPolicy } from '../../src/api/rollout-policy.ts';
import { problemOf } from '../../src/api/schema.ts';
import { PolicyReconciler } from '../../src/controller/policy-reconciler.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { projectCluster, projectNamespace } from '../../src/moco/projections.ts';
import { Cache } from '../../src/objects/cache.ts';
import { mysqlCluster } from './moco-objects.ts';

/** Two clusters of three in namespace shop, one of them production, and one of them in bank. */
class Scene {
  readonly cache = new Cache();
  readonly written: Record<string, PolicyStatus> = {};
  leads = true;
  now = 0;
  refusal: ApiError | null = null;
  readonly #reconciler = new PolicyReconciler({
    cache: this.cache,
    apiFor: () => ({
      replaceStatus: async (_kind, { name }, { status }) => {
        if (this.refusal !== null) throw this.refusal;
        this.written[name] = status;
      },
    }),
    world: { wall: () => Date.parse('2026-01-02T03:04:05Z') + this.now, monotonic: () => this.now },
    isLeading: () => this.leads,
  });

  constructor() {
    for (const name of ['shop', 'bank']) {
      this.cache.namespaces.put(
        projectNamespace({ metadata: { name, uid: name, resourceVersion: '1', labels: { name } } }),
      );
    }
    this.cluster('shop', 'orders', { tier: 'production' });
    this.cluster('shop', 'carts', {});
    this.cluster('bank', 'orders', {});
  }

  cluster(namespace: string, name: string, labels: object): void {
    const record = projectCluster({
      ...mysqlCluster(),
      metadata: { namespace, name, uid: `${namespace}-${name}`, resourceVersion: '1', labels },
    });
    if (record !== null) this.cache.clusters.put(record);
  }

  policy(name: string, spec: object, status: object = {}): void {
    this.cache.policies.put(
      projectPolicy({ metadata: { name, uid: name, resourceVersion: '1', generation: 4 }, spec, status }),
    );
  }

  rollout(namespace: string, name: string, spec: MySQLRollout['spec']): void {
    const metadata = { namespace, name, uid: name, resourceVersion: '1' };
    this.cache.rollouts.put(
      wholeRecord({ apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', metadata, ...(spec && { spec }) }),
    );
  }

  reconcile() {
    this.now += 10_000;
    return this.#reconciler.reconcile(new AbortController().signal);
  }
}

const shop = { namespaceSelector: { matchLabels: { name: 'shop' } } };
const conditionOf = (status: PolicyStatus | undefined, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

describe('the status of a MySQLRolloutPolicy', () => {
  it('has how much the policy selects, and what of it is in force', async () => {
    const scene = new Scene();
    scene.policy('shop', { ...shop, settings: { maxUnavailable: 2, minReadySeconds: 5 }, enforced: { paused: true } });
    scene.policy('first', {
      priority: 1,
      selector: { matchLabels: { tier: 'production' } },
      settings: { minReadySeconds: 9 },
    });
    scene.rollout('shop', 'carts', { minReadySeconds: 7, maxUnavailable: 1, paused: false });
    await scene.reconcile();
    const { conditions: _, ...rest } = scene.written['shop'] ?? {};
    expect(rest).to.deep.equal({
      observedGeneration: 4,
      clusters: 2,
      members: 6,
      settings: [
        { name: 'enforced.paused', clusters: 2 },
        { name: 'settings.maxUnavailable', clusters: 1 },
        { name: 'settings.minReadySeconds', clusters: 0 },
      ],
    });
    expect(scene.written['first']).to.include({ clusters: 1, members: 3 });
    for (const status of Object.values(scene.written)) {
      expect(problemOf(policyStatus, status, 'status')).to.equal(null);
      for (const type of ['Readable', 'Selects'])
        expect(conditionOf(status, type)).to.include({ status: 'True', message: '' });
    }
  });

  it('has for how many clusters its share of the slots is in force', async () => {
    const scene = new Scene();
    scene.policy('all', { maxNamespaceShare: 20 });
    scene.policy('shop', { ...shop, priority: 1, maxNamespaceShare: 80 });
    await scene.reconcile();
    expect(scene.written['all']?.settings).to.deep.equal([{ name: 'maxNamespaceShare', clusters: 1 }]);
    expect(scene.written['shop']?.settings).to.deep.equal([{ name: 'maxNamespaceShare', clusters: 2 }]);
  });

  const nothing: Readonly<Record<string, readonly [spec: object, message: RegExp]>> = {
    'a misspelt label of clusters': [
      { ...shop, selector: { matchLabels: { teir: 'production' } } },
      /^selector selects none of the 2 MySQLClusters/,
    ],
    'a misspelt label of namespaces': [
      { namespaceSelector: { matchLabels: { name: 'shpo' } } },
      /^namespaceSelector selects none of the namespaces of the 3/,
    ],
  };
  for (const [what, [spec, message]] of Object.entries(nothing)) {
    it(`says that a freeze with ${what} selects nothing`, async () => {
      const scene = new Scene();
      scene.policy('freeze', { ...spec, enforced: { paused: true } });
      await scene.reconcile();
      expect(scene.written['freeze']).to.include({ clusters: 0, members: 0 });
      expect(scene.written['freeze']?.settings).to.deep.equal([{ name: 'enforced.paused', clusters: 0 }]);
      const condition = conditionOf(scene.written['freeze'], 'Selects');
      expect(condition).to.include({ status: 'False', reason: 'NothingSelected' });
      expect(condition?.message).to.match(message);
    });
  }

  it('says which field is not readable', async () => {
    const scene = new Scene();
    const windows = [{ schedule: '0 1 * * *', duration: '1h', timeZone: 'Asia/Tokio' }];
    scene.policy('windows', { settings: { maintenanceWindows: windows } });
    await scene.reconcile();
    const condition = conditionOf(scene.written['windows'], 'Readable');
    expect(condition).to.include({ status: 'False', reason: 'Invalid' });
    expect(condition?.message).to.match(
      /^expected spec\.settings\.maintenanceWindows\[0\]\.timeZone to be the name of a time zone .*Asia\/Tokio/,
    );
    expect(scene.written['windows']?.settings).to.deep.equal([{ name: 'settings.maintenanceWindows', clusters: 3 }]);
  });

  it('is written only where it changes, at most once a second, by the leader, and keeps its times', async () => {
    const scene = new Scene();
    scene.policy('shop', shop);
    scene.leads = false;
    await scene.reconcile();
    expect(scene.written).to.deep.equal({});
    scene.leads = true;
    await scene.reconcile();
    const first = scene.written['shop'] ?? {};
    scene.policy('shop', shop, first);
    delete scene.written['shop'];
    await scene.reconcile();
    expect(scene.written).to.deep.equal({});
    scene.now -= 9_500;
    expect(await scene.reconcile()).to.deep.equal({ requeueAfterMilliseconds: 500 });
    scene.cluster('shop', 'users', {});
    await scene.reconcile();
    expect(scene.written['shop']).to.deep.equal({ ...first, clusters: 3, members: 9 });
  });

  it('is left to a later pass if the policy has changed, or the CRD knows no status', async () => {
    const scene = new Scene();
    scene.policy('shop', shop);
    for (const status of [409, 404]) {
      scene.refusal = new ApiError({ status, reason: status === 404 ? 'NotFound' : 'Conflict', message: '' });
      await scene.reconcile();
    }
    scene.refusal = new ApiError({ status: 500, reason: 'InternalError', message: 'broken' });
    expect(await scene.reconcile().catch((error: Error) => error.message)).to.equal('broken');
  });

  it('follows labels, sizes, rollouts and policies, and no status', () => {
    const scene = new Scene();
    let changes = 0;
    scene.cache.onPolicyChange(() => (changes += 1));
    const after = (change: () => void): number => {
      changes = 0;
      change();
      return changes;
    };
    expect(after(() => scene.policy('shop', shop))).to.equal(1);
    expect(after(() => scene.policy('shop', shop, { clusters: 2 }))).to.equal(0);
    expect(after(() => scene.cluster('shop', 'orders', { tier: 'production' }))).to.equal(0);
    expect(after(() => scene.cluster('shop', 'orders', { tier: 'test' }))).to.equal(1);
    expect(after(() => scene.cache.clusters.remove('shop', 'orders'))).to.equal(1);
    expect(after(() => scene.rollout('shop', 'carts', { paused: true }))).to.equal(1);
  });
});
