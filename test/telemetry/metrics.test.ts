import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

describe('metrics', () => {
  let metrics: Metrics;

  beforeEach(() => {
    metrics = createMetrics('1.2.3', [{ name: 'UpdateStrategyOnDelete', stage: 'ALPHA', enabled: true }], {
      servesWebhook: true,
      drivesPartitions: true,
    });
  });

  it('have the names that dashboards for controllers rest on', async () => {
    const { body, contentType, status } = await metrics.handler();
    expect(status).to.equal(200);
    expect(contentType).to.match(/^text\/plain; version=0\.0\.4/);
    const types = new Map([...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
    for (const [name, type] of Object.entries({
      kubernetes_feature_enabled: 'gauge',
      workqueue_depth: 'gauge',
      workqueue_adds_total: 'counter',
      workqueue_retries_total: 'counter',
      workqueue_queue_duration_seconds: 'histogram',
      workqueue_work_duration_seconds: 'histogram',
      workqueue_unfinished_work_seconds: 'gauge',
      workqueue_longest_running_processor_seconds: 'gauge',
      process_cpu_seconds_total: 'counter',
      nodejs_eventloop_lag_seconds: 'gauge',
    })) {
      expect(types.get(name), name).to.equal(type);
    }
  });

  it('report the version and the enabled gates', async () => {
    const lines = await series();
    expect(lines).to.include(`moco_rollout_build_info{version="1.2.3",node_version="${process.version}"} 1`);
    expect(lines).to.include('kubernetes_feature_enabled{name="UpdateStrategyOnDelete",stage="ALPHA"} 1');
  });

  it('drop the series of a cluster that have no value any more, and leave alone what is not said', async () => {
    const { rollouts } = metrics;
    rollouts.setCluster(['ns', 'a'], { members: { Participating: 2, Down: 1 }, hold: { Paused: 10 }, staleMembers: 3 });
    rollouts.setCluster(['ns', 'a'], { members: { Participating: 3 }, hold: { BlockedByPDB: 20 } });
    const of = async () => (await series('moco_rollout_')).filter((line) => /\{.*name="a".*[1-9]\d*$/.test(line));
    expect(await of()).to.deep.equal([
      'moco_rollout_members{namespace="ns",name="a",state="Participating"} 3',
      'moco_rollout_stale_members{namespace="ns",name="a"} 3',
      'moco_rollout_hold_since_timestamp_seconds{namespace="ns",name="a",rule="BlockedByPDB"} 20',
    ]);
    rollouts.setCluster(['ns', 'a'], { members: {}, hold: null, staleMembers: null });
    expect(await of()).to.deep.equal([]);
  });

  it('forget a deleted cluster and keep the others', async () => {
    for (const name of ['a', 'b']) {
      const members = { Participating: 2, Terminating: 1 };
      metrics.rollouts.setCluster(['ns', name], { members, staleMembers: 1, hold: { Paused: 10 }, lastProgress: 30 });
    }
    metrics.rollouts.countDisruptions(['ns', 'a'], 'evict', 'ReplicaHealthy', 1);
    metrics.rollouts.setCluster(['ns', 'a'], { stalled: { SettingsInvalid: 1 } });
    metrics.rollouts.forget(['ns', 'a']);
    metrics.rollouts.forget(['ns', 'never-seen']);
    const lines = await series('moco_rollout_');
    expect(lines.filter((line) => line.includes('name="a"'))).to.deep.equal([]);
    expect(lines.filter((line) => line.includes('name="b"'))).to.have.length(7);
    expect(lines).to.include('moco_rollout_disruptions_total{verb="evict",rule="ReplicaHealthy"} 1');
  });

  it('show a work queue as client-go shows its own', async () => {
    let unfinished: readonly number[] = [];
    const queue = metrics.workQueues.observe('clusters', () => unfinished);
    queue.added(1);
    queue.added(2);
    queue.started(0.5, 1);
    queue.retried();
    unfinished = [3, 4];
    const lines = await series('workqueue_');
    expect(lines).to.include('workqueue_depth{name="clusters"} 1');
    expect(lines).to.include('workqueue_adds_total{name="clusters"} 2');
    expect(lines).to.include('workqueue_retries_total{name="clusters"} 1');
    expect(lines).to.include('workqueue_queue_duration_seconds_sum{name="clusters"} 0.5');
    expect(lines).to.include('workqueue_unfinished_work_seconds{name="clusters"} 7');
    expect(lines).to.include('workqueue_longest_running_processor_seconds{name="clusters"} 4');
    unfinished = [];
    queue.finished(4);
    const after = await series('workqueue_');
    expect(after).to.include('workqueue_work_duration_seconds_sum{name="clusters"} 4');
    expect(after).to.include('workqueue_longest_running_processor_seconds{name="clusters"} 0');
  });

  it('of two programs in one process have nothing in common', async () => {
    createMetrics('9.9.9', [], { servesWebhook: true, drivesPartitions: true }).rollouts.evictionsRefused.inc();
    expect(await series('moco_rollout_evictions_refused_total')).to.deep.equal([
      'moco_rollout_evictions_refused_total 0',
    ]);
  });

  async function series(start = ''): Promise<string[]> {
    const { body } = await metrics.handler();
    return body.split('\n').filter((line) => line !== '' && !line.startsWith('#') && line.startsWith(start));
  }
});
