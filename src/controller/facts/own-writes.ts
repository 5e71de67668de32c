import { isAtLeast } from '../../kube/raw-object.ts';
import type { ClusterObjects } from '../../moco/records.ts';

/** An own write that the cache must show before the next step, since older facts would lead to the same step again. */
export interface OwnWrite {
  readonly what: string;
  readonly uid: string;
  /** The resourceVersion of the object after the write, or `gone` if the write deletes it. */
  readonly expected: { readonly resourceVersion: string } | 'gone';
  readonly sinceMilliseconds: number;
}

/** How often the cache is checked for an own write that no watch has delivered. */
export const unseenMilliseconds = 1000;

/** After this time a fresh read decides. Every disruption is preceded by one anyway. */
const patienceMilliseconds = 30_000;

/** The own writes that the objects do not show yet. */
export function unseen(
  writes: readonly OwnWrite[],
  { pods, statefulSet }: ClusterObjects,
  nowMilliseconds: number,
): readonly OwnWrite[] {
  return writes.filter(({ uid, expected, sinceMilliseconds }) => {
    if (nowMilliseconds - sinceMilliseconds > patienceMilliseconds) return false;
    const pod = pods.find((candidate) => candidate.uid === uid);
    const object = pod ?? (statefulSet?.uid === uid ? statefulSet : undefined);
    if (object === undefined) return false;
    if (expected === 'gone') return pod?.deletionTimestamp === null;
    return !isAtLeast(object.resourceVersion, expected.resourceVersion);
  });
}
