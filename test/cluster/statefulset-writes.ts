import { expect } from 'chai';
import {
  annotationOn,
  forceRollingUpdateAnnotation,
  invalidatedIntentAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  strategyLabel,
  strategyOnDelete,
} from '../../src/moco/names.ts';
import { type AppliedClusters, outcome } from './applied-clusters.ts';

// What is written to StatefulSets of MOCO's, and what it comes to.

/** As they are read. */
export const onDelete = { type: 'OnDelete' };
export const at = (partition: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
/** What Kubernetes rolls by itself. */
export const native = { type: 'RollingUpdate' };

/** As they are written: these leave no partition behind. */
export const toOnDelete = { type: 'OnDelete', rollingUpdate: null };
export const toRolling = { type: 'RollingUpdate', rollingUpdate: null };
export const partition = (number: number) => ({ spec: { updateStrategy: { rollingUpdate: { partition: number } } } });

export const adopted = {
  metadata: { labels: { [strategyLabel]: strategyOnDelete } },
  spec: { updateStrategy: toOnDelete },
};
export const kept = { metadata: { labels: { [newPodsLabel]: newPodsAtCurrentRevision } } };
export const noLongerKept = { metadata: { labels: { [newPodsLabel]: null } } };
export const annotated = { metadata: { annotations: { x: '1' } } };
const released = { metadata: { labels: { [strategyLabel]: null } } };
const bothReleased = { metadata: { labels: { [strategyLabel]: null, [newPodsLabel]: null } } };

/** Of a MySQLCluster: another image of mysqld, and with it another template. */
export const newImage = { spec: { podTemplate: { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.9' }] } } } };
export const forced = { metadata: { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } };

type Write = (clusters: AppliedClusters, name: string) => Promise<unknown>;

const apply =
  (change: object = {}): Write =>
  (clusters, name) =>
    clusters.apply(name, change);
/** Of metadata and spec, each of which is in one of the bodies. */
const patch =
  (...bodies: readonly object[]): Write =>
  (clusters, name) =>
    clusters.patch(name, Object.assign({}, ...bodies));
const strategy = (updateStrategy: object | null): object => ({ spec: { updateStrategy } });

export const writes = {
  "MOCO's re-apply": apply(),
  "MOCO's apply of a new template": apply(newImage),
  "MOCO's apply of more replicas": apply({ spec: { replicas: 5 } }),
  "MOCO's apply of none, where the cluster is offline": apply({ spec: { offline: true } }),
  "MOCO's apply of a forced rolling update": apply(forced),
  'the end of a forced rolling update': async (clusters, name) => {
    await clusters.apply(name, forced);
    await clusters.apply(name);
  },
  'an annotation of another client': patch(annotated),
  'a finalizer of another client': patch({ metadata: { finalizers: ['example.com/keep'] } }),
  'our own mark': patch({ metadata: { annotations: { [invalidatedIntentAnnotation]: 'a-1' } } }),
  'a partition': patch(partition(2)),
  'a partition and an annotation': patch(annotated, partition(2)),
  'partition 0': patch(partition(0)),
  'a partition above replicas': patch(partition(7)),
  'a partition below 0': patch(partition(-1)),
  'RollingUpdate without a partition': patch(strategy(toRolling)),
  'no strategy at all': patch(strategy(null)),
  'OnDelete alone': patch(strategy(toOnDelete)),
  'the label and OnDelete': patch(adopted),
  'the label removed together with RollingUpdate': patch(released, strategy(toRolling)),
  'the label removed together with partition = replicas': patch(released, strategy(at(3))),
  'the label for new pods removed': patch(noLongerKept),
  'the label for new pods removed together with OnDelete': patch(noLongerKept, strategy(toOnDelete)),
  'both labels removed together with RollingUpdate': patch(bothReleased, strategy(toRolling)),
  'both labels removed together with partition = replicas': patch(bothReleased, strategy(at(3))),
} as const satisfies Record<string, Write>;

export type Title = keyof typeof writes;

/** A strategy, a refusal, no change at all, or none but of who owns which field. */
export type Result = object | RegExp | 'nothing' | 'no field';

/** Once the StatefulSet controller has written all that it has to, makes the write and compares what it comes to. */
export async function comesTo(clusters: AppliedClusters, name: string, title: Title, expected: Result): Promise<void> {
  const write = (): Promise<string> => outcome(writes[title](clusters, name));
  const before = await clusters.settled(name);
  const came = await write();
  const after = await clusters.read(name);
  if (expected instanceof RegExp) expect(came).to.match(expected);
  else expect(came).to.equal('done');
  if (expected instanceof RegExp || expected === 'nothing') {
    expect(after).to.deep.equal(before);
  } else if (expected === 'no field') {
    expect(after.spec).to.deep.equal(before.spec);
    expect(after.metadata.generation).to.equal(before.metadata.generation);
    expect(await write()).to.equal('done');
    expect(await clusters.read(name)).to.deep.equal(after);
  } else {
    expect(after.spec.updateStrategy).to.deep.equal(expected);
  }
}

/** A test for each line of a table, each with a StatefulSet of its own. */
export function table(
  results: Readonly<Partial<Record<Title, Result>>>,
  clusters: () => AppliedClusters,
  make: (title: Title) => Promise<string>,
): void {
  for (const [title, expected] of Object.entries(results) as readonly (readonly [Title, Result])[]) {
    it(`${title} ${inWords(expected)}`, async () => comesTo(clusters(), await make(title), title, expected));
  }
}

function inWords(expected: Result): string {
  if (expected === 'nothing') return 'changes nothing, not even the resourceVersion';
  if (expected === 'no field') return 'changes no field, and repeated not even the resourceVersion';
  if (expected instanceof RegExp) return 'is refused';
  const { type, rollingUpdate } = expected as { type: string; rollingUpdate?: { partition: number } };
  if (type === 'OnDelete') return 'comes to OnDelete';
  return rollingUpdate === undefined
    ? 'comes to a rolling update of Kubernetes’ own'
    : `comes to partition ${rollingUpdate.partition}`;
}
