import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { atWork, type Bench, type Process } from './bench.ts';
import { appliedBy } from './moco-objects.ts';
import { completion, replaceAll, switchOver } from './whole-rollout.ts';

const third = 'moco-test-third';

/** What pruning, or a restore from a backup that has statuses as well, does to a rollout. */
describe('a MySQLRollout that is deleted and restored with an old status', () => {
  /** A complete rollout, and its status from the moment just before a member went. */
  async function rolledOnce(): Promise<readonly [Bench, Process, RolloutStatus]> {
    const [bench, program] = await atWork();
    const old = bench.status;
    expect(old.intent).to.include({ step: 'evict' });
    await replaceAll(bench, program);
    await program.reportAll();
    expect(completion(bench)).to.include({ status: 'True' });
    bench.server.writes.length = 0;
    return [bench, program, old];
  }

  function restore(bench: Bench, status: RolloutStatus): void {
    const { ownerReferences } = bench.server.get(rolloutKind, 'test').metadata;
    bench.server.remove(rolloutKind, 'test');
    bench.server.create(rolloutKind, { metadata: { name: 'test', ownerReferences }, status });
  }

  it('while nothing rolls leads to no step', async () => {
    const [bench, program, old] = await rolledOnce();
    restore(bench, old);
    await program.reportAll();
    expect(bench.status).to.include({ phase: 'UpToDate' }).and.not.have.property('intent');
    expect(bench.steps).to.deep.equal([]);
  });

  it('in the middle of a rollout breaks nothing', async () => {
    const [bench, program, old] = await rolledOnce();
    bench.changeCluster({ metadata: { generation: 2 } });
    bench.changeStatefulSet({ status: { updateRevision: third } });
    const { status } = bench.server.get(clusterKind, 'test') as unknown as { status: object };
    bench.changeCluster({ status: appliedBy(status as never, 2) });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    restore(bench, old);
    await program.work();
    for (const ordinal of [2, 0]) {
      bench.replace(ordinal, { revision: third });
      await program.work();
    }
    switchOver(bench, 1, 0);
    await program.work();
    bench.replace(1, { revision: third });
    await program.reportAll();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 0', 'demote 1', 'evict 1', 'promoteRevision']);
    expect(completion(bench)).to.include({ status: 'True' });
  });
});
