import { expect } from 'chai';
import { type ResourceKind, statefulSets } from '../../../src/kube/resource.ts';
import { Bench, type Process } from '../bench.ts';
import type { Patch, Raw } from '../object-server.ts';

const secondMilliseconds = 1000;
const fieldRef = { fieldPath: 'metadata.name' };
const side = (live: boolean): object => ({
  name: 'side',
  image: 'example/side:1',
  env: [{ name: 'POD', valueFrom: { fieldRef: live ? { apiVersion: 'v1', ...fieldRef } : fieldRef } }],
});
const owned = {
  'f:containers': { 'k:{"name":"side"}': { 'f:env': { 'k:{"name":"POD"}': { 'f:valueFrom': { 'f:fieldRef': {} } } } } },
};

/** Members follow partitions, and MOCO applies a field that the API server alters. */
class Contended {
  readonly bench = new Bench({ stale: false });
  readonly program: Process;
  #generation = 1;

  constructor() {
    const { bench } = this;
    bench.changeCluster({ spec: { podTemplate: { spec: { containers: [side(false)] } } } });
    bench.changeStatefulSet({
      metadata: { labels: { 'moco-rollout.io/strategy': null } },
      spec: {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } },
        template: { spec: { containers: [side(true)] } },
      },
    });
    this.program = bench.start({ mode: 'MOCO' });
  }

  /** So many writes of the spec, a second apart or at once, and a pass after each second. */
  async write(perSecond: number, seconds: number, manager = 'moco-controller'): Promise<void> {
    const { bench, program } = this;
    for (let second = 0; second < seconds; second += 1) {
      this.#generation += perSecond;
      const time = bench.now;
      const managedFields = [
        { manager, operation: 'Apply', time, fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': owned } } } },
      ];
      bench.changeStatefulSet({
        metadata: { generation: this.#generation, managedFields },
        status: { observedGeneration: this.#generation },
      });
      bench.world.freeze(secondMilliseconds);
      await program.turn();
    }
  }

  get hold(): string | undefined {
    const { rule, message } = this.bench.status.hold ?? {};
    return rule && `${rule}: ${message}`;
  }

  reads(kind: ResourceKind): number {
    return this.bench.server.reads.filter((path) => path.includes(`/${kind.plural}/`)).length;
  }
}

/** All that is read at the beginning has been read. */
async function atRest(): Promise<Contended> {
  const contended = new Contended();
  await contended.write(0, 30);
  contended.bench.server.reads.length = 0;
  return contended;
}

describe('a StatefulSet that another program writes again and again', () => {
  it('is named with the writer and the field, and no longer soon after the end', async () => {
    const contended = new Contended();
    await contended.write(6, 30);
    expect(contended.hold).to.equal(
      'StatefulSetNotObserved: moco-controller keeps writing the StatefulSet (at least once a second) because the API server adds spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion (set it explicitly)',
    );
    await contended.write(0, 30);
    expect(contended.hold).to.equal(undefined);
  });

  it('is inspected once, however long it lasts, until the MySQLCluster changes', async () => {
    const contended = await atRest();
    await contended.write(12, 60);
    expect(contended.hold).to.contain('at least 10 times a second');
    expect(contended.reads(statefulSets)).to.equal(1);
    contended.bench.changeCluster({ metadata: { generation: 2 } });
    await contended.write(12, 5);
    expect(contended.reads(statefulSets)).to.equal(2);
  });

  it('may have a writer other than MOCO, and an unknown field', async () => {
    const contended = new Contended();
    await contended.write(2, 30, 'another-controller');
    expect(contended.hold).to.equal(
      'StatefulSetNotObserved: another-controller keeps writing the StatefulSet (at least once a second)',
    );
  });

  it('is not one that is written in bursts, or every other second', async () => {
    const contended = await atRest();
    await contended.write(9, 1);
    await contended.write(0, 30);
    for (let times = 0; times < 20; times += 1) {
      await contended.write(1, 1);
      await contended.write(0, 1);
      expect(contended.hold).to.equal(undefined);
    }
    expect(contended.reads(statefulSets)).to.equal(0);
  });

  it('is counted anew when it is re-created', async () => {
    const contended = new Contended();
    await contended.write(6, 15);
    const { metadata, ...rest } = contended.bench.server.get(statefulSets, 'moco-test') as Raw & Patch;
    const { uid: _, ...own } = metadata;
    contended.bench.server.remove(statefulSets, 'moco-test');
    contended.bench.server.create(statefulSets, { ...rest, metadata: own });
    await contended.write(0, 15);
    expect(contended.hold).to.equal(undefined);
  });
});
