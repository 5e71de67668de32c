import { podDisruptionBudgets, statefulSets } from '../../../../src/kube/resource.ts';
import { revisionHashLabel } from '../../../../src/moco/names.ts';
import { type Json, record } from '../../../support/api-server/stored-object.ts';
import type { Ground, PodVersion } from './ground.ts';

export const setName = 'db';

/** Names of revisions in the order in which they were seen, so that those of two API servers can be compared. */
export class Revisions {
  readonly #names: string[] = [];

  of(name: unknown): string {
    if (typeof name !== 'string' || name === '') return '-';
    if (!this.#names.includes(name)) this.#names.push(name);
    return `r${this.#names.indexOf(name) + 1}`;
  }
}

/** The current StatefulSet and budget, in a line or two. */
export async function observe({ client, namespace }: Ground, revisions: Revisions): Promise<string> {
  const place = { namespace, name: setName };
  const options = { priority: 'read' } as const;
  const set = await client.get<Json>(statefulSets, place, options);
  const budget = await client.get<Json>(podDisruptionBudgets, place, options);
  const status = record(set['status']);
  const { observedGeneration } = status;
  const observed = observedGeneration === record(set['metadata'])['generation'];
  const numbers = ['replicas', 'readyReplicas', 'availableReplicas', 'updatedReplicas'] as const;
  const said = record(budget['status']);
  const allowed = ['currentHealthy', 'desiredHealthy', 'expectedPods', 'disruptionsAllowed'] as const;
  return [
    `StatefulSet observed ${observed}, current ${revisions.of(status['currentRevision'])}, update ${revisions.of(status['updateRevision'])}`,
    ...numbers.map((name) => `${name} ${Number(status[name] ?? 0)}`),
    ...allowed.map((name) => `${name} ${Number(said[name] ?? 0)}`),
    `disruptedPods ${Object.keys(record(said['disruptedPods'])).join(' ')}`,
  ].join(', ');
}

/** By pod: what each incarnation has been through, one entry for each change that matters. */
export function podHistories(
  versions: readonly PodVersion[],
  revisions: Revisions,
): Readonly<Record<string, string[]>> {
  const histories: Record<string, string[]> = {};
  const incarnations = new Map<string, string[]>();
  for (const { name, uid, pod } of versions) {
    const uids = incarnations.get(name) ?? [];
    incarnations.set(name, uids);
    if (!uids.includes(uid)) uids.push(uid);
    const history = (histories[name] ??= []);
    const entry = `#${uids.indexOf(uid) + 1} ${pod === null ? 'gone' : wordsOf(pod, revisions)}`;
    if (history.at(-1) !== entry) history.push(entry);
  }
  return histories;
}

function wordsOf({ metadata, spec, status }: NonNullable<PodVersion['pod']>, revisions: Revisions): string {
  const ready = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
  return [
    revisions.of(metadata.labels?.[revisionHashLabel]),
    spec.nodeName === undefined ? 'unbound' : 'bound',
    ready ? 'ready' : 'not ready',
    (metadata.ownerReferences?.length ?? 0) === 0 ? 'orphaned' : 'owned',
    metadata.deletionTimestamp === undefined ? '' : `terminating within ${metadata.deletionGracePeriodSeconds} s`,
  ]
    .join(' ')
    .trimEnd();
}

/** The order in which pods began to terminate, and were removed. */
export function departures(versions: readonly PodVersion[]): readonly string[] {
  const said = new Set<string>();
  return versions.flatMap(({ name, uid, pod }) => {
    const what = pod === null ? 'gone' : pod.metadata.deletionTimestamp === undefined ? null : 'terminating';
    const key = `${uid} ${what}`;
    if (what === null || said.has(key)) return [];
    said.add(key);
    return [`${name} ${what}`];
  });
}
