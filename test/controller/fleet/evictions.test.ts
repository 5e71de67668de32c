import { expect } from 'chai';
import { Evictions, followEvictions } from '../../../src/controller/fleet/evictions.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import { projectBudget } from '../../../src/moco/projections.ts';
import { Cache } from '../../../src/objects/cache.ts';

const evictedAt = '2026-03-01T12:00:00Z';
const before = '2026-03-01T11:00:00Z';
const after = '2026-03-01T12:00:20Z';

class Watched {
  readonly woken: string[] = [];
  readonly evictions = new Evictions((key) => void this.woken.push(key));
  readonly #cache = new Cache();
  #version = 0;

  constructor() {
    followEvictions(this.#cache, this.evictions);
  }

  budget(cluster: string, disruptedPods: Readonly<Record<string, string>>): void {
    const budget = projectBudget({
      metadata: this.#meta(`moco-${cluster}`),
      spec: { selector: { matchLabels: { 'app.kubernetes.io/instance': cluster } } },
      status: { disruptedPods },
    });
    if (budget) this.#cache.budgets.put(budget);
  }

  pod(cluster: string, ordinal: number, creationTimestamp: string): void {
    const name = `moco-${cluster}-${ordinal}`;
    const labels = { 'app.kubernetes.io/instance': cluster };
    const metadata = { ...this.#meta(name), uid: `${name} of ${creationTimestamp}`, creationTimestamp, labels };
    const pod = projectPod({ metadata });
    if (pod) this.#cache.pods.put(pod);
  }

  podGone(cluster: string, ordinal: number): void {
    this.#cache.pods.remove('default', `moco-${cluster}-${ordinal}`);
  }

  evicted(cluster: string, ordinal = 2): void {
    this.pod(cluster, ordinal, before);
    this.budget(cluster, { [`moco-${cluster}-${ordinal}`]: evictedAt });
  }

  #meta(name: string): Readonly<Record<string, unknown>> {
    this.#version += 1;
    return { namespace: 'default', name, uid: name, resourceVersion: String(this.#version) };
  }
}

describe('evictions that the disruption controller has not observed', () => {
  let watched: Watched;
  beforeEach(() => {
    watched = new Watched();
  });

  it('are counted until the disruption controller has removed them from its budget', () => {
    watched.evicted('a');
    watched.evicted('b');
    expect(watched.evictions.unobserved()).to.equal(2);
    watched.budget('a', {});
    expect(watched.evictions.unobserved()).to.equal(1);
  });

  it('are counted while the pod is gone and has no successor', () => {
    watched.evicted('a');
    watched.podGone('a', 2);
    expect(watched.evictions.unobserved()).to.equal(1);
  });

  it('are not counted once the pod has a successor: they are no longer observed', () => {
    watched.evicted('a');
    watched.podGone('a', 2);
    watched.pod('a', 2, after);
    expect(watched.evictions.unobserved()).to.equal(0);
  });

  it('of the asking cluster are not counted for it', () => {
    watched.evicted('a');
    watched.evicted('b');
    expect(watched.evictions.unobserved('default/a')).to.equal(1);
    expect(watched.evictions.unobserved('default/c')).to.equal(2);
  });

  it('are counted from the moment that they are reserved, once', () => {
    const end = watched.evictions.reserve('default/a');
    expect(watched.evictions.unobserved()).to.equal(1);
    watched.evicted('a');
    expect(watched.evictions.unobserved()).to.equal(1);
    end();
    expect(watched.evictions.unobserved()).to.equal(1);
  });

  it('that were reserved later are not counted for a cluster that has reserved one', () => {
    const end = watched.evictions.reserve('default/a');
    watched.evictions.reserve('default/b');
    expect(watched.evictions.unobserved('default/a')).to.equal(0);
    expect(watched.evictions.unobserved('default/b')).to.equal(1);
    expect(watched.evictions.unobserved('default/c')).to.equal(2);
    end();
    expect(watched.evictions.unobserved('default/b')).to.equal(0);
  });

  it('wake as many waiting clusters as may evict now, those first that have waited longest', () => {
    for (const cluster of ['a', 'b', 'c', 'd', 'e', 'f']) watched.evicted(cluster);
    for (const key of ['y', 'x', 'z']) watched.evictions.setWaiting(`default/${key}`, true);
    watched.evictions.setWaiting('default/y', true);
    watched.budget('a', {});
    expect(watched.woken).to.deep.equal([]);
    watched.budget('b', {});
    expect(watched.woken).to.deep.equal(['default/y']);
    watched.budget('c', {});
    expect(watched.woken).to.deep.equal(['default/y', 'default/x']);
    watched.evictions.setWaiting('default/y', false);
    watched.evictions.setWaiting('default/x', true);
    watched.budget('d', {});
    expect(watched.woken).to.deep.equal(['default/y', 'default/x', 'default/x', 'default/z']);
  });

  it('wake no cluster that no longer waits', () => {
    for (const cluster of ['a', 'b', 'c', 'd', 'e']) watched.evicted(cluster);
    watched.evictions.setWaiting('default/x', true);
    watched.evictions.setWaiting('default/y', true);
    watched.evictions.setWaiting('default/x', false);
    watched.budget('a', {});
    expect(watched.woken).to.deep.equal(['default/y']);
  });

  it('wake a waiting cluster when a promised eviction was not sent', () => {
    const ends = ['a', 'b', 'c', 'd', 'e'].map((key) => watched.evictions.reserve(`default/${key}`));
    watched.evictions.setWaiting('default/x', true);
    ends[0]?.();
    expect(watched.woken).to.deep.equal(['default/x']);
  });

  it('of another namespace count as one, however many budgets of its own a tenant keeps closed', () => {
    for (let index = 0; index < 50; index += 1) watched.evicted(`made-up-${index}`);
    expect(watched.evictions.unobserved()).to.equal(50);
    expect(watched.evictions.unobserved('other/test')).to.equal(1);
    watched.evictions.reserve('third/a');
    watched.evictions.reserve('third/b');
    expect(watched.evictions.unobserved('other/test')).to.equal(2);
    watched.evictions.reserve('default/made-up-0');
    expect(watched.evictions.unobserved('other/test')).to.equal(2);
  });

  it('of a namespace that waits for its own keep no cluster of another namespace from being woken', () => {
    for (let index = 0; index < 50; index += 1) watched.evicted(`made-up-${index}`);
    watched.evictions.setWaiting('default/test', true);
    watched.evictions.setWaiting('other/test', true);
    watched.budget('made-up-0', {});
    expect(watched.woken).to.deep.equal(['other/test']);
  });
});
