import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind, releasedAnnotation, restartInPlaceAnnotation } from '../../../src/moco/names.ts';
import { atWork, Bench, begin, secondsOf } from '../bench.ts';
import { appliedBy, revisionAfter, revisionBefore } from '../moco-objects.ts';
import { heldBack, heldByMoco, type Patch, type Raw } from '../object-server.ts';

type Strategy = { type?: string; rollingUpdate?: { partition?: number } | null };
const strategyOf = (raw: Raw): Strategy => (raw['spec'] as { updateStrategy: Strategy }).updateStrategy;
const statefulSetOf = (bench: Bench): Raw => bench.server.get(statefulSets, 'moco-test');
const currentRevision = (bench: Bench): unknown => (statefulSetOf(bench)['status'] as Patch)['currentRevision'];

describe('releasing a StatefulSet', () => {
  it('leaves the partition to MOCO if MOCO’s webhook sets it', async () => {
    const bench = new Bench();
    bench.server.admit = heldByMoco;
    await bench.start({ mode: 'MOCO' }).work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(strategyOf(statefulSetOf(bench))).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } });
    expect(statefulSetOf(bench).metadata.labels).not.to.have.property('moco-rollout.io/strategy');
    const patch = bench.server.writes.findLast(({ path }) => path.endsWith('/statefulsets/moco-test'));
    expect(patch?.body['spec']).to.deep.equal({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } });
  });

  it('sets the partition if no webhook does', async () => {
    const bench = new Bench();
    await bench.start({ mode: 'Partition' }).work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(strategyOf(statefulSetOf(bench))).to.deep.equal({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } });
  });

  it('is not sent if the resulting partition would let a pod be replaced, and reports that', async () => {
    const bench = new Bench();
    bench.server.admit = (after) =>
      after.kind === 'StatefulSet' ? { ...after, spec: { ...(after['spec'] as Patch), updateStrategy: {} } } : after;
    const program = await bench.started({ mode: 'MOCO' });
    expect(bench.steps).to.deep.equal(['promoteRevision']);
    expect(bench.status.hold?.rule).to.equal('ReleaseUnsafe');
    expect(bench.status.hold?.message).to.contain('partition none of 3');
    bench.server.admit = (after) => after;
    await program.workAfter(10_000);
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(bench.status.hold?.rule).not.to.equal('ReleaseUnsafe');
  });

  it('records the current revision before replacing it, and removes the record once the new one has stayed', async () => {
    const [bench, program] = begin({ mode: 'MOCO' });
    await program.turn();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.promotion).to.deep.equal({ from: revisionBefore, to: revisionAfter });
    await program.work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(bench.status.promotion).to.equal(undefined);
  });

  it('sets the current revision again if an earlier sync has overwritten it, also after a crash', async () => {
    const [bench, program] = begin({ mode: 'MOCO' });
    for (let passes = 0; !bench.steps.includes('release'); passes += 1) {
      if (passes > 20) throw new Error('expected a release within 20 passes');
      await program.turn();
    }
    bench.changeStatefulSet({ status: { currentRevision: revisionBefore } });
    await bench.start({ mode: 'MOCO' }).work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release', 'promoteRevision']);
    expect(currentRevision(bench)).to.equal(revisionAfter);
    expect(bench.status.promotion).to.equal(undefined);
  });

  it('sets the current revision although another client changes the StatefulSet before each request', async () => {
    const [bench, program] = await atWork({ mode: 'MOCO' });
    bench.changeStatefulSet({ status: { currentRevision: revisionBefore } });
    let changes = 0;
    bench.server.always('PATCH', /statefulsets/, (_, carryOut) => {
      changes += 1;
      bench.changeStatefulSet({ spec: { updateStrategy: { rollingUpdate: { partition: changes % 3 } } } });
      return carryOut();
    });
    bench.changeRollout({ status: { promotion: { from: revisionBefore, to: revisionAfter } } });
    await program.turn();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release', 'promoteRevision']);
    expect(currentRevision(bench)).to.equal(revisionAfter);
  });

  for (const revision of ['currentRevision', 'updateRevision']) {
    it(`sets no current revision if the ${revision} is another one than it was`, async () => {
      const [bench, program] = begin({ mode: 'MOCO' });
      await program.turn();
      bench.server.before('PATCH', /statefulsets/, () =>
        bench.changeStatefulSet({ status: { [revision]: 'moco-test-other' } }),
      );
      await program.turn();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.lastStep).to.equal(undefined);
    });
  }

  it('continues after a crash between any two of its writes', async () => {
    for (let writes = 0; writes < 5; writes += 1) {
      const bench = new Bench();
      const first = bench.start({ mode: 'MOCO' });
      for (let passes = 0; passes < 10 && bench.server.writes.length < writes; passes += 1) {
        await first.turn();
      }
      await bench.start({ mode: 'MOCO' }).work();
      expect(bench.steps, `after ${writes} writes`).to.deep.equal(['promoteRevision', 'release']);
    }
  });

  it('happens with the gate on as well if the MySQLCluster is annotated, and is not undone', async () => {
    const bench = new Bench();
    bench.changeCluster({ metadata: { annotations: { [releasedAnnotation]: 'true' } } });
    const program = await bench.started();
    bench.setting({ strategy: 'OnDelete' });
    await program.work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect([bench.status.hold?.rule, bench.status.strategy]).to.deep.equal(['Released', 'MOCO']);
  });

  it('leaves none of our notes on pods behind', async () => {
    const bench = new Bench({ stale: false });
    bench.changePod(1, { metadata: { annotations: { [restartInPlaceAnnotation]: '{}' } } });
    bench.changeCluster({ metadata: { annotations: { [releasedAnnotation]: 'true' } } });
    await bench.start().work();
    expect(bench.server.get(pods, 'moco-test-1')['metadata']).not.to.have.nested.property(
      'annotations.moco-rollout\\.io/restart-in-place',
    );
  });

  it('outlives the MySQLRollout', async () => {
    const bench = new Bench();
    bench.changeCluster({ metadata: { annotations: { [releasedAnnotation]: 'true' } } });
    await bench.start().work();
    bench.server.remove(rolloutKind, 'test');
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(bench.status.hold?.rule).to.equal('Released');
  });

  it('follows the strategy RollingUpdate, and adoption follows OnDelete', async () => {
    const bench = new Bench();
    bench.setting({ strategy: 'Partition' });
    const program = await bench.started();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'release']);
    expect(bench.status.strategy).to.equal('MOCO');
    bench.setting({ strategy: 'OnDelete' });
    await program.work();
    expect(bench.steps[2]).to.equal('setStrategy');
  });
});

describe('lowering a partition', () => {
  const byPartitions = (partition: number): Bench => {
    const bench = new Bench();
    bench.atPartition(partition);
    bench.server.admit = heldBack;
    return bench;
  };

  it('is confirmed, recorded and done with the StatefulSet version that was observed', async () => {
    const bench = byPartitions(3);
    const { uid, resourceVersion } = statefulSetOf(bench).metadata;
    await bench.start({ mode: 'Partition' }).work();
    expect(bench.steps).to.deep.equal(['setPartition 2']);
    const intended = bench.server.writes.find(({ body }) => (body['status'] as Patch | undefined)?.['intent']);
    expect((intended?.body['status'] as Patch | undefined)?.['intent']).to.deep.include({
      step: 'setPartition',
      partition: 2,
      statefulSet: { name: 'moco-test', uid, resourceVersion },
    });
    const patch = bench.server.writes.find(({ path }) => path.endsWith('/statefulsets/moco-test'));
    expect(patch?.body).to.deep.equal({
      metadata: { uid, resourceVersion },
      spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
    });
    expect(bench.status.rollout).to.deep.include({ disruptions: 1 });
  });

  it('of a crashed process is invalidated on the StatefulSet, and then done once', async () => {
    const bench = byPartitions(3);
    const first = bench.start({ mode: 'Partition' });
    bench.server.script('PATCH', /statefulsets/, (_, carryOutDryRun) => carryOutDryRun());
    bench.server.script('PATCH', /statefulsets/, () => {
      throw new Error('the process dies here');
    });
    await first.turn().catch(() => undefined);
    expect(bench.status.intent?.step).to.equal('setPartition');
    await bench.start({ mode: 'Partition' }).work();
    expect(bench.steps).to.deep.equal(['void', 'setPartition 2']);
  });

  it('stops for an hour once a program has reset it three times, or until the MySQLCluster changes, and names that program', async () => {
    const bench = byPartitions(3);
    const program = bench.start({ mode: 'Partition' });
    /** MOCO applies the StatefulSet, and the pod comes back as what it was. */
    const reset = (): void => {
      const entry = { operation: 'Apply', time: bench.now, fieldsV1: {} };
      const managedFields = ['moco-controller', 'moco-rollout'].map((manager) => ({ ...entry, manager }));
      bench.changeStatefulSet({
        metadata: { managedFields },
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } },
      });
      bench.replace(2, { revision: revisionBefore });
    };
    /** How often it is lowered within so many seconds. */
    const lowered = async (seconds: number): Promise<number> => {
      const times = await secondsOf(bench, program, seconds, () => {
        reset();
        return bench.steps.length;
      });
      return times.length;
    };
    expect(await lowered(600)).to.equal(3);
    expect(bench.steps).to.deep.equal(['setPartition 2', 'setPartition 2', 'setPartition 2']);
    expect(bench.status.hold?.message).to.equal('moco-controller resets the partition each time it is lowered');
    expect(await lowered(2400)).to.equal(0);
    expect(await lowered(1200)).to.equal(3);
    expect(await lowered(600)).to.equal(0);
    const { status } = bench.server.get(clusterKind, 'test');
    bench.changeCluster({ metadata: { generation: 2 }, status: appliedBy(status as Patch, 2) });
    expect(await lowered(60)).to.be.greaterThan(0);
  });

  it('waits until the StatefulSet controller has replaced the previous pod', async () => {
    const bench = byPartitions(3);
    const program = await bench.started({ mode: 'Partition' });
    await program.work();
    expect(bench.steps).to.deep.equal(['setPartition 2']);
    bench.replace(2);
    await program.workAfter(60_000);
    expect(bench.steps).to.deep.equal(['setPartition 2', 'setPartition 1']);
  });
});
