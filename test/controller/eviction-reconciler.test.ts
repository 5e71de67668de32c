import { expect } from 'chai';
import { type Json, object } from '../../src/base/json.ts';
import { EvictionReconciler } from '../../src/controller/eviction-reconciler.ts';
import type { Standing } from '../../src/evictions/respond.ts';
import { Standings } from '../../src/evictions/standings.ts';
import type { Call } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { Cache } from '../../src/objects/cache.ts';
import { activeEviction, startedAt } from '../evictions/objects.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { pod } from './moco-objects.ts';

const key = 'shop/pod-1-moco-test-0';
const minute = 60_000;
const waits: Standing = { kind: 'waits', message: 'moves the primary', expectedSeconds: null };
const mayGo: Standing = { kind: 'mayGo', message: 'is a replica' };

/** An Eviction of moco-test-0, and the member of cluster shop/test that it is about. */
class Scene {
  readonly cache = new Cache();
  readonly changed: string[] = [];
  readonly standings = new Standings((pod) => this.changed.push(pod));
  readonly written: Record<string, unknown>[] = [];
  readonly log = new FakeLog();
  leads = true;
  now = startedAt + 1000;
  refusal: ApiError | null = null;
  /** Whether the cache has the pod of the Eviction as one of a cluster. */
  isMember = true;
  /** The pod in the API server. */
  livePod: object = { metadata: { namespace: 'shop', name: 'moco-test-0', uid: 'pod-0' } };
  readonly #reconciler = new EvictionReconciler({
    cache: { evictions: this.cache.evictions, clusterOf: () => (this.isMember ? 'shop/test' : null) },
    standings: this.standings,
    client: {
      call: async <T>({ method, body }: Call): Promise<T> => {
        if (this.refusal !== null) throw this.refusal;
        if (method === 'GET') return this.livePod as T;
        const { status } = body as { status: { responders: Record<string, unknown>[] } };
        this.written.push(status.responders[0] ?? {});
        return {} as T;
      },
    },
    world: { wall: () => this.now },
    log: this.log,
    isLeading: () => this.leads,
    limitMilliseconds: 60 * minute,
  });

  eviction(more: Parameters<typeof activeEviction>[0] = {}): void {
    this.cache.evictions.put(activeEviction(more));
  }

  stands(standing: Standing): void {
    this.standings.note('shop/test', new Map([['shop/pod-0', standing]]));
  }

  reconcile() {
    return this.#reconciler.reconcile(key, new AbortController().signal);
  }
}

describe('Evictions that wait for this program', () => {
  it('get a heartbeat, and another one after four minutes', async () => {
    const scene = new Scene();
    scene.eviction();
    scene.stands(waits);
    expect(await scene.reconcile()).to.deep.equal({ requeueAfterMilliseconds: 4 * minute });
    expect(scene.written).to.have.length(1);
    expect(scene.written[0]).to.include({ message: 'moves the primary' });
    // The cache is behind: its Eviction has no heartbeat yet.
    expect(await scene.reconcile()).to.deep.equal({ requeueAfterMilliseconds: 4 * minute });
    expect(scene.written).to.have.length(1);
    scene.now += 4 * minute;
    await scene.reconcile();
    expect(scene.written).to.have.length(2);
  });

  it('are completed once, as soon as the member may go', async () => {
    const scene = new Scene();
    scene.eviction({ heartbeatAt: startedAt });
    scene.stands(mayGo);
    expect(await scene.reconcile()).to.deep.equal({});
    expect(scene.written[0]).to.include.keys('completionTime');
    await scene.reconcile();
    expect(scene.written).to.have.length(1);
  });

  it('wait ten seconds for a pass over the cluster, and say after that that there was none', async () => {
    const scene = new Scene();
    scene.eviction();
    expect(await scene.reconcile()).to.deep.equal({ requeueAfterMilliseconds: 9000 });
    expect(scene.written).to.deep.equal([]);
    scene.now += 9000;
    await scene.reconcile();
    expect(scene.written[0]?.['message']).to.match(/has not looked at the cluster/);
  });

  it('are completed after ten seconds if their pod is no member of a cluster', async () => {
    const scene = new Scene();
    scene.isMember = false;
    scene.eviction();
    expect(await scene.reconcile()).to.deep.equal({ requeueAfterMilliseconds: 9000 });
    scene.now += 9000;
    await scene.reconcile();
    expect(scene.written).to.have.length(1);
    expect(scene.written[0]).to.include.keys('completionTime');
  });

  it('wait if only the cache does not have their pod as a member', async () => {
    const scene = new Scene();
    scene.isMember = false;
    const made = pod(0);
    scene.livePod = { ...made, metadata: { ...object((made as Json)['metadata']), uid: 'pod-0' } };
    scene.eviction();
    scene.now += 9000;
    await scene.reconcile();
    expect(scene.written).to.have.length(1);
    expect(scene.written[0]).to.not.include.keys('completionTime');
  });

  it('are left alone by a process that does not lead', async () => {
    const scene = new Scene();
    scene.eviction();
    scene.stands(mayGo);
    scene.leads = false;
    expect(await scene.reconcile()).to.deep.equal({});
    expect(scene.written).to.deep.equal([]);
  });

  it('are answered anew under the same name', async () => {
    const scene = new Scene();
    scene.eviction();
    scene.stands(mayGo);
    await scene.reconcile();
    scene.eviction({ uid: 'another' });
    await scene.reconcile();
    expect(scene.written).to.have.length(2);
    scene.cache.evictions.remove('shop', 'pod-1-moco-test-0');
    expect(await scene.reconcile()).to.deep.equal({});
    expect(scene.written).to.have.length(2);
  });

  it('are retried by the work queue where the API server refuses the entry', async () => {
    const scene = new Scene();
    scene.eviction();
    scene.stands(waits);
    scene.refusal = new ApiError({ status: 500, reason: 'InternalError', message: 'no' });
    let thrown: unknown;
    await scene.reconcile().catch((error: unknown) => (thrown = error));
    expect(thrown).to.equal(scene.refusal);
  });

  it('are looked at again when the standing of their pod changes, and only then', () => {
    const scene = new Scene();
    scene.stands(waits);
    scene.stands({ ...waits });
    expect(scene.changed).to.deep.equal(['shop/pod-0']);
    scene.stands(mayGo);
    scene.standings.note('shop/test', new Map());
    expect(scene.changed).to.have.length(3);
    expect(scene.standings.of('shop/test', 'shop/pod-0')).to.equal(undefined);
  });
});
