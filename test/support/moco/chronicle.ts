import { demoteAnnotation, preventDeleteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { ordinalOf } from './names.ts';
import type { Condition, MySQLCluster, Pod } from './objects.ts';
import { isReady } from './pods.ts';

// What MOCO and kubelets have decided about a cluster, in words: `index 1`, `0 role gone`, `2 ready`. The same words for
// the stand-in and for recordings of real servers, so that their order can be compared.

/** What came of something that was done to a cluster. */
export interface Chapter {
  readonly act: string;
  readonly lines: readonly string[];
}

/** The act of the first chapter. */
export const creation = 'creates the cluster';

const told = ['Available', 'Healthy'];
const annotations = [demoteAnnotation, preventDeleteAnnotation];

/** How a status differs from the one before. What one write changes of the conditions is one line. */
export function clusterLines(before: MySQLCluster | null, after: MySQLCluster): readonly string[] {
  const index = after.status?.currentPrimaryIndex ?? 0;
  const conditions = conditionsOf(after);
  return [
    ...(index === (before?.status?.currentPrimaryIndex ?? 0) ? [] : [`index ${index}`]),
    ...(conditions === '' || conditions === (before === null ? '' : conditionsOf(before)) ? [] : [conditions]),
  ];
}

/** How a pod differs from the same pod before. */
export function podLines(before: Pod | null, after: Pod): readonly string[] {
  const ordinal = ordinalOf(after.metadata.name);
  const role = after.metadata.labels?.[roleLabel];
  const wasReady = before !== null && isReady(before);
  return [
    ...(role === before?.metadata.labels?.[roleLabel] ? [] : [`${ordinal} role ${role ?? 'gone'}`]),
    ...annotations.flatMap((name) => {
      const value = after.metadata.annotations?.[name];
      const [, word] = name.split('/');
      return value === before?.metadata.annotations?.[name] ? [] : [`${ordinal} ${word} ${value ?? 'gone'}`];
    }),
    ...(isReady(after) === wasReady ? [] : [`${ordinal} ${wasReady ? 'not ready' : 'ready'}`]),
  ];
}

function conditionsOf({ status }: MySQLCluster): string {
  return told
    .map((type) => status?.conditions?.find((condition) => condition.type === type))
    .filter((condition): condition is Condition => condition !== undefined)
    .map(({ type, status: value, reason }) => `${type} ${value} (${reason})`)
    .join(', ');
}
