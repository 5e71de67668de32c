import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { promtool } from './promtool.ts';

/** Everything that the program may show, with a series of each. */
function everything(): Metrics {
  const metrics = createMetrics('1.2.3', [{ name: 'UpdateStrategyOnDelete', stage: 'ALPHA', enabled: true }]);
  const cluster = ['ns', 'a'] as const;
  const { rollouts, workQueues, caches, fleet, checks } = metrics;
  rollouts.setMembers(cluster, { participating: 2, down: 1 }, 1);
  rollouts.setHold(cluster, { rule: 'Paused', sinceSeconds: 10 });
  rollouts.setLastProgress(cluster, 30);
  rollouts.setMaintenanceWindow(cluster, false);
  rollouts.setMaintenanceOpens(cluster, 40);
  rollouts.setPartition(cluster, { current: 1, updated: 2, lastUpdatedSeconds: 20 });
  rollouts.disruptions.inc({ verb: 'evict', rule: 'ReplicaHealthy' });
  rollouts.switchovers.inc({ outcome: 'done' });
  rollouts.finished.inc({ outcome: 'Complete' });
  rollouts.setFailingChecks(cluster, ['errant']);
  checks.requests.inc({ result: 'passing' });
  checks.durationSeconds.observe(1);
  rollouts.delayReadings.inc({ result: 'delay' });
  rollouts.updatesInPlace.inc({ rule: 'ContainersRestart' });
  rollouts.resizesInPlace.inc({ rule: 'ResizeRestartsNothing' });
  workQueues.observe('clusters', () => []);
  fleet.observe(() => ({ slots: 5, rolling: 1, waiting: 2, failing: 0 }));
  const canary = { name: 'canary', state: 'Rolling', upToDate: 1, rolling: 1, waiting: 0, failing: 0, slots: 1 };
  fleet.setSequence('production', { stages: [canary], stage: 'canary' });
  caches.observe('Pod', () => 1).ignored('unreadable');
  return metrics;
}

const ours = /^(?:moco_|kubernetes_feature_enabled$)/;

interface Described {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

async function described({ registry }: Metrics): Promise<readonly Described[]> {
  const all = await registry.getMetricsAsJSON();
  return all
    .filter(({ name }) => ours.test(name))
    .map(({ name, type, values }) => {
      const labels = new Set(values.flatMap((value) => Object.keys(value.labels)));
      labels.delete('le');
      return { name, type: String(type), labels: [...labels] };
    });
}

describe('the exposition', () => {
  it("passes promtool's checks", async function () {
    const { body } = await everything().handler({ verbose: false });
    expect(promtool(this, ['check', 'metrics'], body)).to.deep.equal({ status: 0, said: '' });
  });

  it("would fail promtool's checks with a wrong name", function () {
    const wrong =
      '# HELP moco_rollout_wrong_total Wrong.\n# TYPE moco_rollout_wrong_total gauge\nmoco_rollout_wrong_total 1\n';
    expect(promtool(this, ['check', 'metrics'], wrong).said).to.contain('moco_rollout_wrong_total');
  });

  it('is what the documentation lists, with types and labels', async () => {
    const [, section = ''] = readFileSync('docs/reference.md', 'utf8').split('<!-- metrics -->');
    const rows = [...section.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \| [^|]+ \|$/gm)];
    const listed = rows.map(([, name, type, labels = '']) => ({
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    }));
    expect(listed).to.have.deep.members([...(await described(everything()))]);
  });

  it('names clusters in gauges alone, which go with the cluster', async () => {
    const metrics = everything();
    const perCluster = (await described(metrics)).filter(({ labels }) => labels.includes('namespace'));
    expect(perCluster.map(({ type }) => type)).to.deep.equal(perCluster.map(() => 'gauge'));
    metrics.rollouts.forgetCluster('ns', 'a');
    const left = (await described(metrics)).filter(({ labels }) => labels.includes('namespace'));
    expect(left).to.deep.equal([]);
  });
});
