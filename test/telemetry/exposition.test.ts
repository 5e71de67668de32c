import { Readable } from 'node:stream';
import { expect } from 'chai';
import type { Exchange, ExchangeRequest, ExchangeResponse } from '../../src/base/world.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import type { ClusterValues } from '../../src/telemetry/rollout-metrics.ts';
import { promtool } from './promtool.ts';

const answers: Exchange = () =>
  Promise.resolve({ status: 200, headers: {}, body: Readable.from([]) } as unknown as ExchangeResponse);

/** Everything that the program may show, with a series of each. */
async function everything(): Promise<Metrics> {
  const metrics = createMetrics('1.2.3', [{ name: 'UpdateStrategyOnDelete', stage: 'ALPHA', enabled: true }], {
    servesWebhook: true,
    drivesPartitions: true,
  });
  const cluster = ['ns', 'a'] as const;
  const { apiClient, webhook, rollouts, workQueues, caches, fleet, checks } = metrics;
  webhook?.answered(200, 3);
  const values: ClusterValues = {
    members: { Participating: 2, Down: 1 },
    staleMembers: 1,
    hold: { Paused: 10 },
    noMaintenanceWindow: 1,
    maintenanceOpens: 40,
    failingChecks: { errant: 1 },
    notReceived: { 'moco-test-1': 1 },
    notApplied: { 'moco-test-1': 0 },
    overrides: { BackupRunning: 1_780_000_000 },
    currentReplicas: 1,
    updatedReplicas: 2,
    lastPartitionUpdated: 20,
    stalled: { ProgressDeadlineExceeded: 1 },
    lastProgress: 30,
  };
  rollouts.setCluster(cluster, values);
  rollouts.countDisruptions(cluster, 'evict', 'ReplicaHealthy', 1);
  rollouts.countSwitchover(cluster, 'done');
  rollouts.finished.inc({ outcome: 'Complete' });
  checks.countRequest('passing');
  checks.durationSeconds.observe(1);
  rollouts.countDelayReading('delay');
  rollouts.countMysqlReading('replica');
  rollouts.countPreflight('Fetched');
  rollouts.updatesInPlace.inc({ rule: 'ContainersRestart' });
  rollouts.resizesInPlace.inc({ rule: 'ResizeRestartsNothing' });
  await apiClient.counting(answers, () => 0)({ method: 'GET' } as ExchangeRequest);
  workQueues.observe('clusters', () => []);
  fleet.observe(() => ({
    slots: 5,
    rolling: 1,
    waiting: 2,
    stuck: 1,
    failing: 0,
    unobservedEvictions: 4,
    waitingForDisruptionController: 1,
  }));
  const canary = { name: 'canary', state: 'Rolling', upToDate: 1, rolling: 1, waiting: 0, failing: 0, slots: 1 };
  fleet.setSequence('production', { stages: [canary], stage: 'canary' });
  caches.observe('Pod', () => 1).ignored('unreadable');
  return metrics;
}

describe('the exposition', () => {
  it("passes promtool's checks", async function () {
    const { body } = await (await everything()).handler();
    expect(promtool(this, ['check', 'metrics'], body)).to.deep.equal({ status: 0, said: '' });
  });

  it('shows the series of MOCO and of the webhook only where there is one', async () => {
    const { registry } = createMetrics('1.2.3', [], { servesWebhook: false, drivesPartitions: false });
    const names = (await registry.getMetricsAsJSON()).map(({ name }) => name);
    expect(names.filter((name) => /^moco_cluster_|webhook/.test(name))).to.deep.equal([]);
  });

  it("would fail promtool's checks with a wrong name", function () {
    const wrong =
      '# HELP moco_rollout_wrong_total Wrong.\n# TYPE moco_rollout_wrong_total gauge\nmoco_rollout_wrong_total 1\n';
    expect(promtool(this, ['check', 'metrics'], wrong).said).to.contain('moco_rollout_wrong_total');
  });

  it('names clusters in series that go with the cluster', async () => {
    const metrics = await everything();
    const ofClusters = async () =>
      (await metrics.registry.getMetricsAsJSON())
        .filter(({ values }) => values.some(({ labels }) => 'namespace' in labels))
        .map(({ type }) => String(type));
    expect(await ofClusters()).to.include.members(['gauge', 'counter']);
    metrics.rollouts.forget(['ns', 'a']);
    expect(await ofClusters()).to.deep.equal([]);
  });
});
