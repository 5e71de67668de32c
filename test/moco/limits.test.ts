import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { parseDataRecord } from '../../src/moco/data-record.ts';
import { newestManagers } from '../../src/moco/managed-fields.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectBudget, projectCluster, projectStatefulSet } from '../../src/moco/projections.ts';
import { selects } from '../../src/moco/selects.ts';
import { budget, mysqlCluster, pod, statefulSet } from '../controller/moco-objects.ts';

// A tenant writes these objects. Each limit is tried at the limit, and one beyond.

const metadataOf = (raw: Json): Json => raw['metadata'] as Json;
const specOf = (raw: Json): Json => raw['spec'] as Json;
const statusOf = (raw: Json): Json => raw['status'] as Json;

/** A map of exactly so many characters, with what `base` has. */
function padded(base: unknown, characters: number): Json {
  const before = (base ?? {}) as Readonly<Record<string, string>>;
  const taken = Object.entries(before).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return { ...before, pad: 'x'.repeat(characters - taken - 'pad'.length) };
}

const withMetadata = (raw: Json, more: Json): Json => ({ ...raw, metadata: { ...metadataOf(raw), ...more } });
const withSpec = (raw: Json, more: Json): Json => ({ ...raw, spec: { ...specOf(raw), ...more } });
const withStatus = (raw: Json, more: Json): Json => ({ ...raw, status: { ...statusOf(raw), ...more } });

const member = pod(1) as Json;
const labelled = (characters: number) => (raw: Json) =>
  withMetadata(raw, { labels: padded(metadataOf(raw)['labels'], characters) });
const containersOf = (count: number): Json => {
  const own = specOf(member)['containers'] as readonly Json[];
  return withSpec(member, {
    containers: own,
    initContainers: Array.from({ length: count - own.length }, (_, index) => ({ name: `init-${index}` })),
  });
};
const conditionsOf = (conditions: number, gates: number): Json =>
  withStatus(
    withSpec(member, {
      readinessGates: Array.from({ length: gates }, (_, index) => ({ conditionType: `gate-${index}` })),
    }),
    { conditions: Array.from({ length: conditions }, (_, index) => ({ type: `condition-${index}` })) },
  );

const skipped: Readonly<Record<string, readonly [fits: () => unknown, tooLarge: () => unknown]>> = {
  'labels of a pod': [() => projectPod(labelled(8192)(member)), () => projectPod(labelled(8193)(member))],
  'labels of a StatefulSet': [
    () => projectStatefulSet(labelled(8192)(statefulSet() as Json)),
    () => projectStatefulSet(labelled(8193)(statefulSet() as Json)),
  ],
  'labels of a MySQLCluster': [
    () => projectCluster(labelled(8192)(mysqlCluster() as Json)),
    () => projectCluster(labelled(8193)(mysqlCluster() as Json)),
  ],
  'annotations of a pod that is updated in place': [
    () => projectPod(withMetadata(member, { annotations: padded({}, 32_768) })),
    () => projectPod(withMetadata(member, { annotations: padded({}, 32_769) })),
  ],
  'containers of a pod': [() => projectPod(containersOf(64)), () => projectPod(containersOf(65))],
  'conditions of a pod': [() => projectPod(conditionsOf(64, 0)), () => projectPod(conditionsOf(65, 0))],
  'conditions of readiness gates': [() => projectPod(conditionsOf(64 + 3, 3)), () => projectPod(conditionsOf(68, 3))],
  'readiness gates': [() => projectPod(conditionsOf(0, 64)), () => projectPod(conditionsOf(0, 65))],
};

describe('what a tenant writes into an object', () => {
  for (const [what, [fits, tooLarge]] of Object.entries(skipped)) {
    it(`is read up to the limit of ${what}, and skipped beyond it`, () => {
      expect(fits()).to.be.an('object');
      expect(tooLarge).to.throw(RangeError, /^expected (?:.* of )?at most \d+/);
    });
  }

  it('has words of at most 1,024 characters', () => {
    const message = 'x'.repeat(5000);
    const unschedulable = withStatus(member, {
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
    });
    expect(projectPod(unschedulable)?.unschedulable).to.have.lengthOf(1024);
    const failed = withStatus(member, { phase: 'Failed', reason: message });
    expect(projectPod(failed)?.failedReason).to.have.lengthOf(1024);
  });

  it('makes no members beyond the 25 of the largest cluster', () => {
    expect(projectPod(pod(24) as Json)).to.include({ ordinal: 24 });
    expect(projectPod(pod(25) as Json)).to.equal(null);
    const errantReplicaList = Array.from({ length: 1000 }, (_, index) => index);
    const { errantOrdinals } = projectCluster(withStatus(mysqlCluster() as Json, { errantReplicaList })) ?? {};
    expect(errantOrdinals).to.have.lengthOf(25);
  });

  it('selects every pod with a selector beyond the limits, which delays a step and permits none', () => {
    const selecting = (selector: Json): boolean =>
      selects(projectBudget(withSpec(budget() as Json, { selector }))?.selector ?? null, { app: 'other' });
    const labels = (count: number, length = 1): Json =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v'.repeat(length)]));
    const words = (count: number): Json => ({
      matchExpressions: [{ key: 'k', operator: 'In', values: Array.from({ length: count - 2 }, () => 'v') }],
    });
    expect(selecting({ matchLabels: labels(32) })).to.equal(false);
    expect(selecting({ matchLabels: labels(33) }), 'requirements').to.equal(true);
    expect(selecting(words(128))).to.equal(false);
    expect(selecting(words(129)), 'words').to.equal(true);
    expect(selecting({ matchLabels: { k: 'v'.repeat(4095) } })).to.equal(false);
    expect(selecting({ matchLabels: { k: 'v'.repeat(4096) } }), 'characters').to.equal(true);
  });

  it('names at most ten managers of a StatefulSet', () => {
    const managedFields = Array.from({ length: 1000 }, (_, index) => ({
      manager: `m${index}`,
      time: '2026-07-01T12:00:00Z',
    }));
    expect(newestManagers(managedFields)).to.have.lengthOf(10);
  });

  it('records no data in an annotation of more than 1,024 characters', () => {
    const record = (image: string): string => JSON.stringify({ revision: 'moco-test-1', image, version: '8.4.9' });
    const room = 1024 - record('').length;
    expect(parseDataRecord(record('x'.repeat(room)))).to.be.an('object');
    expect(parseDataRecord(record('x'.repeat(room + 1)))).to.equal(null);
  });
});
