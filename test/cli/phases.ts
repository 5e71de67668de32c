import { clusterKind, forceRollingUpdateAnnotation, releasedAnnotation } from '../../src/moco/names.ts';
import { heldBack } from '../controller/object-server.ts';
import { switchOver } from '../controller/whole-rollout.ts';
import type { FakeCluster } from './fake-cluster.ts';

/** How a cluster comes to be in a phase, by the real controller. Every member is stale at first. */
type Play = (cluster: FakeCluster) => Promise<void>;

/** The replicas are updated, one after another, each away for so long. */
async function replicasUpdated({ bench }: FakeCluster, settings = {}): Promise<ReturnType<typeof bench.start>> {
  const program = bench.start(settings);
  for (const ordinal of [2, 1]) {
    await program.work();
    bench.world.freeze(40_000);
    bench.replace(ordinal);
  }
  await program.work();
  return program;
}

export const phases: Readonly<Record<string, Play>> = {
  evicting: async ({ bench }) => {
    await bench.start().reportAll();
  },
  'outside-its-window': async ({ bench }) => {
    bench.setting({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: '10m', timeZone: 'Asia/Tokyo' }] });
    await bench.start().reportAll();
  },
  starting: async ({ bench }) => {
    const program = bench.start();
    await program.work();
    bench.world.freeze(20_000);
    bench.replace(2, { ready: false });
    await program.work();
    bench.world.freeze(20_000);
    await program.work();
  },
  'awaiting-switchover': async (cluster) => {
    await replicasUpdated(cluster);
    cluster.bench.world.freeze(4_000);
  },
  complete: async (cluster) => {
    const { bench } = cluster;
    const program = await replicasUpdated(cluster);
    switchOver(bench, 0, 1);
    await program.work();
    bench.world.freeze(40_000);
    bench.replace(0);
    await program.work();
    bench.world.freeze(600_000);
  },
  paused: async ({ bench }) => {
    bench.setting({ paused: true });
    await bench.start().work();
    bench.world.freeze(3_600_000);
  },
  'awaiting-approval': async (cluster) => {
    cluster.bench.setting({ primaryUpdatePolicy: 'Manual' });
    await replicasUpdated(cluster);
    cluster.bench.world.freeze(300_000);
  },
  pinned: async (cluster) => {
    cluster.bench.setting({ pinnedMembers: [{ ordinal: 1, reason: 'being looked at' }] });
    const program = cluster.bench.start();
    await program.work();
    cluster.bench.world.freeze(30_000);
    cluster.bench.replace(2);
    await program.work();
  },
  'partition-reached': async ({ bench }) => {
    bench.setting({ partition: 2 });
    const program = bench.start();
    await program.work();
    bench.world.freeze(30_000);
    bench.replace(2);
    await program.work();
  },
  failing: async ({ bench }) => {
    const program = bench.start();
    await program.work();
    bench.world.freeze(30_000);
    bench.replace(2, { ready: false });
    bench.mysqld(2, 'CrashLoopBackOff');
    await program.work();
    bench.world.freeze(700_000);
    await program.work();
  },
  'not-reconciled': async ({ bench }) => {
    bench.changeCluster({ metadata: { generation: 2 } });
    const program = bench.start();
    await program.work();
    bench.world.freeze(30_000);
    await program.work();
  },
  forced: async ({ bench }) => {
    bench.changeCluster({ metadata: { annotations: { [forceRollingUpdateAnnotation]: 'true' } } });
    await bench.start().work();
  },
  'policy-unknown': async ({ bench }) => {
    bench.setting({ maxUnavailable: 'half' as '1%' });
    await bench.start().work();
  },
  released: async ({ bench }) => {
    bench.changeCluster({ metadata: { annotations: { [releasedAnnotation]: 'true' } } });
    bench.changeRollout({ status: { strategy: 'OnDelete' } });
    await bench.start().work();
  },
  'moco-drives': async ({ bench }) => {
    const program = bench.start({ mode: 'MOCO' });
    await program.work();
    bench.setting({ paused: true });
    await program.work();
  },
  'own-partitions': async ({ bench }) => {
    bench.server.admit = heldBack;
    await bench.start({ mode: 'Partition' }).work();
  },
  'no-controller': async ({ server }) => {
    server.change(clusterKind, 'test', {});
  },
};
