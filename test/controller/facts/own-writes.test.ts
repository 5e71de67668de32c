import { expect } from 'chai';
import { unseen } from '../../../src/controller/facts/last-step.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import type { OwnWrite } from '../../../src/objects/execute.ts';
import { Bench, key } from '../bench.ts';

const nowMilliseconds = 100_000;

/** The cluster's objects in the cache, and those writes of which it doesn't show the effect. */
function look(change: (bench: Bench) => void, write: (bench: Bench) => Partial<OwnWrite>): readonly string[] {
  const bench = new Bench();
  const before = write(bench);
  change(bench);
  const program = bench.start();
  program.sync();
  const objects = program.cache.objects(key);
  if (objects === null) throw new Error('expected a cluster, got none');
  const whole: OwnWrite = { what: 'it', uid: '', expected: 'gone', sinceMilliseconds: nowMilliseconds, ...before };
  return unseen([whole], objects, nowMilliseconds).map(({ what }) => what);
}

const podOf = (bench: Bench) => bench.server.get(pods, 'moco-test-2').metadata;
const gone = (bench: Bench): Partial<OwnWrite> => ({ uid: podOf(bench).uid, expected: 'gone' });
const changed = (bench: Bench): Partial<OwnWrite> => {
  bench.changePod(2, { metadata: { annotations: { ours: 'yes' } } });
  const { uid, resourceVersion } = podOf(bench);
  return { uid, expected: { resourceVersion } };
};

describe('a write of our own', () => {
  it('is pending while the cache still shows the pod unchanged', () => {
    expect(look(() => {}, gone)).to.deep.equal(['it']);
  });

  it('is seen once the pod is terminating, replaced or deleted', () => {
    const leave = (bench: Bench): void =>
      bench.changePod(2, { metadata: { deletionTimestamp: '2026-07-01T12:05:00Z' } });
    expect(look(leave, gone)).to.deep.equal([]);
    expect(look((bench) => bench.replace(2), gone)).to.deep.equal([]);
    expect(look((bench) => bench.server.remove(pods, 'moco-test-2'), gone)).to.deep.equal([]);
  });

  it('is seen once the object has that resourceVersion or a later one', () => {
    expect(look(() => {}, changed)).to.deep.equal([]);
    expect(look((bench) => bench.changePod(2, { metadata: { annotations: { more: 'yes' } } }), changed)).to.deep.equal(
      [],
    );
    const later = (bench: Bench): Partial<OwnWrite> => ({
      uid: podOf(bench).uid,
      expected: { resourceVersion: `${podOf(bench).resourceVersion}0` },
    });
    expect(look(() => {}, later)).to.deep.equal(['it']);
  });

  it('is pending on the StatefulSet as well', () => {
    const next = (bench: Bench): Partial<OwnWrite> => {
      const { uid, resourceVersion } = bench.server.get(statefulSets, 'moco-test').metadata;
      return { uid, expected: { resourceVersion: `${resourceVersion}0` } };
    };
    expect(look(() => {}, next)).to.deep.equal(['it']);
    expect(look((bench) => bench.server.remove(statefulSets, 'moco-test'), next)).to.deep.equal([]);
  });

  it('is pending for at most 30 s: then live reads decide', () => {
    const since = (seconds: number) => (bench: Bench) => ({
      ...gone(bench),
      sinceMilliseconds: nowMilliseconds - seconds * 1000,
    });
    expect(look(() => {}, since(30))).to.deep.equal(['it']);
    expect(look(() => {}, since(30.001))).to.deep.equal([]);
  });
});
