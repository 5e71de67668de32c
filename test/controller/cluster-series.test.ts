import { expect } from 'chai';
import { clusterKind } from '../../src/moco/names.ts';
import { Bench, begin, type Process } from './bench.ts';
import { revisionAfter } from './moco-objects.ts';
import { heldBack } from './object-server.ts';

/** The series that name the cluster, without their own names' common start. */
async function series({ registry }: Process): Promise<readonly string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.includes('name="test"'));
}

const labels = 'namespace="default",name="test"';
const seconds = (timestamp: string): number => Date.parse(timestamp) / 1000;

describe('the metrics of a cluster', () => {
  it('are exported by the leader only', async () => {
    const bench = new Bench();
    const [leader, other] = [bench.start(), bench.start()];
    other.isLeading = false;
    await other.work();
    expect(await series(other)).to.deep.equal([]);
    await leader.work();
    expect(await series(leader)).to.include(`moco_rollout_stale_members{${labels}} 3`);
  });

  it('are removed when the MySQLCluster is deleted', async () => {
    const [bench, program] = begin({ mode: 'Partition' });
    bench.atPartition(3);
    bench.setting({ paused: true });
    await program.work();
    expect(await series(program)).to.not.deep.equal([]);
    bench.server.remove(clusterKind, 'test');
    await program.turn();
    expect(await series(program)).to.deep.equal([]);
  });

  it('report how long the current rule has held, not how long an earlier rule held', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = bench.start();
    const paused = seconds(bench.now);
    await program.work();
    expect(await series(program)).to.include(
      `moco_rollout_hold_since_timestamp_seconds{${labels},rule="Paused"} ${paused}`,
    );
    bench.world.freeze(600_000);
    // Not shown in the status yet, which still has the rule before.
    bench.changeCluster({ metadata: { generation: 2 } });
    bench.setting({ paused: false });
    const since = seconds(bench.now);
    await program.turn();
    expect((await series(program)).filter((line) => line.includes('hold_since'))).to.deep.equal([
      `moco_rollout_hold_since_timestamp_seconds{${labels},rule="NotReconciled"} ${since}`,
    ]);
  });

  it('include MOCO’s metrics only where this program lowers the partition', async () => {
    const bench = new Bench();
    bench.atPartition(3);
    bench.server.admit = heldBack;
    const program = bench.start({ mode: 'Partition' });
    const lowered = seconds(bench.now);
    await program.work();
    expect(bench.steps).to.deep.equal(['setPartition 2']);
    const ofMoco = async (): Promise<readonly string[]> =>
      (await series(program)).filter((line) => line.startsWith('moco_cluster_'));
    expect(await ofMoco()).to.deep.equal([
      `moco_cluster_current_replicas{${labels}} 3`,
      `moco_cluster_updated_replicas{${labels}} 0`,
      `moco_cluster_last_partition_updated{${labels}} ${lowered}`,
    ]);
    bench.replace(2, { revision: revisionAfter });
    await program.turn();
    await program.work();
    expect(await ofMoco()).to.include(`moco_cluster_updated_replicas{${labels}} 1`);
    const onDelete = await bench.started();
    expect((await series(onDelete)).filter((line) => line.startsWith('moco_cluster_'))).to.deep.equal([]);
  });
});
