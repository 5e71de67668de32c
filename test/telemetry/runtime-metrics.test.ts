import { expect } from 'chai';
import { Registry } from 'prom-client';
import { CacheMetrics } from '../../src/telemetry/runtime-metrics.ts';

describe('metrics of the cache', () => {
  let registry: Registry;
  let metrics: CacheMetrics;

  beforeEach(() => {
    registry = new Registry();
    metrics = new CacheMetrics(registry);
  });

  const series = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));

  it('count omitted objects by kind and reason, and failures', async () => {
    const pods = metrics.observe('Pod', () => null);
    metrics.observe('StatefulSet', () => null);
    pods.ignored('NotProjected');
    pods.ignored('NotProjected');
    pods.ignored('UnknownEvent');
    pods.failed();
    expect(await series()).to.deep.equal([
      'moco_rollout_cache_failures_total{kind="Pod"} 1',
      'moco_rollout_cache_failures_total{kind="StatefulSet"} 0',
      'moco_rollout_decode_failures_total{kind="Pod",reason="NotProjected"} 2',
      'moco_rollout_decode_failures_total{kind="Pod",reason="UnknownEvent"} 1',
    ]);
  });

  it('show the age of the part of a kind that is the furthest behind, once there is one', async () => {
    const ages: (number | null)[] = [null, null];
    for (const index of ages.keys()) metrics.observe('Pod', () => ages[index] ?? null);
    const age = async (): Promise<readonly string[]> =>
      (await series()).filter((line) => line.startsWith('moco_rollout_cache_age_seconds'));
    expect(await age()).to.deep.equal([]);
    ages[0] = 3;
    expect(await age()).to.deep.equal(['moco_rollout_cache_age_seconds{kind="Pod"} 3']);
    ages[1] = 70;
    expect(await age()).to.deep.equal(['moco_rollout_cache_age_seconds{kind="Pod"} 70']);
    ages[1] = 0.5;
    expect(await age()).to.deep.equal(['moco_rollout_cache_age_seconds{kind="Pod"} 3']);
  });
});
