import { expect } from 'chai';
import { statefulSets } from '../../../src/kube/resource.ts';
import { Bench, secondsOf } from '../bench.ts';
import { heldBack, type Patch, type Raw } from '../object-server.ts';

const secondMilliseconds = 1000;
const rolling = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } };
const statefulSetOf = (bench: Bench): Raw => bench.server.get(statefulSets, 'moco-test');
const dryRunsOf = (bench: Bench): readonly Patch[] =>
  bench.server.writes.filter(({ path }) => path.endsWith('/moco-test?dryRun')).map(({ body }) => body);

/** As MOCO has it. */
function notYetAdopted(): Bench {
  const bench = new Bench();
  bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/strategy': null } }, spec: rolling });
  return bench;
}

/** MOCO's webhook, and nothing after it: what is not at RollingUpdate would be invalid. */
function withoutAdmission(bench: Bench): void {
  bench.server.keep = (after) => after;
  bench.server.admit = (after) =>
    after.kind === 'StatefulSet' ? { ...after, spec: { ...(after['spec'] as Patch), ...rolling } } : after;
}

/** MOCO's next write finds no admission, and brings its own strategy. */
function broughtBack(bench: Bench): void {
  const { keep } = bench.server;
  bench.server.keep = (after) => after;
  bench.changeStatefulSet({ spec: rolling });
  bench.server.keep = keep;
}

describe('adopting a StatefulSet', () => {
  it('makes two dry runs first, one that sets RollingUpdate, and then sets OnDelete and the label in one patch', async () => {
    const bench = notYetAdopted();
    const { uid } = statefulSetOf(bench).metadata;
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['setStrategy', 'evict 2']);
    const metadata = { uid, labels: { 'moco-rollout.io/strategy': 'OnDelete', 'moco-rollout.io/new-pods': null } };
    const adoption = { metadata, spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } };
    expect(dryRunsOf(bench)).to.deep.equal([
      adoption,
      { metadata, spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } } },
    ]);
    const patch = bench.server.writes.find(({ path }) => path.endsWith('/statefulsets/moco-test'));
    expect(patch?.body).to.deep.equal(adoption);
  });

  it('is not starved by a writer that changes the object before each request, nor by a status that is always behind', async () => {
    const bench = notYetAdopted();
    const program = bench.start();
    let generation = 1;
    const flip = (): void => {
      generation += 1;
      const { labels } = statefulSetOf(bench).metadata;
      if (labels?.['moco-rollout.io/strategy'] !== undefined) return;
      bench.changeStatefulSet({
        metadata: { generation },
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: generation % 4 } } },
        status: { observedGeneration: generation - 1 },
      });
    };
    bench.server.always('PATCH', /statefulsets/, (_, carryOut) => {
      flip();
      return carryOut();
    });
    flip();
    await program.turn();
    expect(bench.steps).to.deep.equal(['setStrategy']);
    expect(bench.status.hold?.rule).to.not.equal('StatefulSetNotObserved');
  });

  it('writes nothing while a dry run does not return OnDelete, and reports what it returned', async () => {
    const bench = notYetAdopted();
    withoutAdmission(bench);
    const before = statefulSetOf(bench);
    await bench.started();
    expect(bench.steps).to.deep.equal([]);
    expect(statefulSetOf(bench)).to.deep.equal(before);
    expect(bench.status.hold?.rule).to.equal('AdmissionNotInForce');
    expect(bench.status.hold?.message).to.equal(
      'admission does not keep the StatefulSet at OnDelete: a dry run that sets OnDelete left it at RollingUpdate with partition 3',
    );
  });

  it('writes nothing if only the dry run that sets RollingUpdate does not return OnDelete', async () => {
    const bench = notYetAdopted();
    bench.server.keep = (after) => after;
    await bench.start().work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain('a dry run that requests RollingUpdate left it at RollingUpdate');
  });

  for (const [code, reason] of [
    [422, 'Invalid'],
    [500, 'InternalError'],
  ] as const) {
    it(`treats a ${code} as the answer, since other webhooks may refuse`, async () => {
      const bench = notYetAdopted();
      bench.server.refuse('PATCH', /statefulsets/, code, reason, { message: 'M panics' });
      await bench.start().work();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold?.rule).to.equal('AdmissionNotInForce');
      expect(bench.status.hold?.message).to.match(/a dry run that sets OnDelete was refused: .*M panics$/);
    });
  }

  it('retries after 30 s, doubling each time, and adopts it once admission works', async () => {
    const bench = notYetAdopted();
    const { keep } = bench.server;
    withoutAdmission(bench);
    const program = bench.start();
    const asked = await secondsOf(bench, program, 1100, () => dryRunsOf(bench).length);
    expect(asked).to.deep.equal([0, 30, 90, 210, 450, 750, 1050]);
    expect(bench.steps).to.deep.equal([]);
    bench.server.keep = keep;
    bench.server.admit = (after) => after;
    await program.workAfter(300 * secondMilliseconds);
    expect(bench.steps).to.deep.equal(['setStrategy', 'evict 2']);
  });

  it('adopts a StatefulSet again after MOCO reverts it, with a growing backoff', async () => {
    const bench = new Bench({ stale: false });
    const program = bench.start();
    const adopted = await secondsOf(bench, program, 500, () => {
      const { length } = bench.steps;
      broughtBack(bench);
      return length;
    });
    expect(adopted).to.deep.equal([0, 30, 90, 210, 450]);
    expect(bench.status.hold?.rule).to.equal('StrategyNotOnDelete');
  });
});

describe('lowering a partition', () => {
  it('does not happen if a write of more than the partition would not be held back, and reports that', async () => {
    const bench = notYetAdopted();
    const program = await bench.started({ mode: 'Partition' });
    expect(bench.steps).to.deep.equal([]);
    expect(dryRunsOf(bench)).to.have.length(1);
    expect(bench.status.hold?.rule).to.equal('AdmissionNotInForce');
    expect(bench.status.hold?.message).to.contain('left it at RollingUpdate with partition 2 instead of 3');
    expect(bench.status.intent).to.equal(undefined);
    bench.server.admit = heldBack;
    await program.workAfter(30 * secondMilliseconds);
    expect(bench.steps).to.deep.equal(['setPartition 2']);
  });
});
