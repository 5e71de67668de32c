import { isAtLeast } from '../kube/resource-version.ts';
import type { ClusterObjects } from '../moco/records.ts';

/** A write of ours that the cache has to show before the next step, since older facts would lead to the same one. */
export interface OwnWrite {
  readonly what: string;
  readonly uid: string;
  /** The object as it was after the write, or `gone` where the write takes it away. */
  readonly expected: { readonly resourceVersion: string } | 'gone';
  readonly sinceMilliseconds: number;
}

/** How often a write of ours is looked for that no watch has brought. */
export const unseenMilliseconds = 1000;

/** After this long a live read decides, which every disruption is preceded by anyway. */
const patienceMilliseconds = 30_000;

/** The writes that the objects don't show yet. */
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
