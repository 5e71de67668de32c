import { type Chapter, clusterLines, creation, podLines } from '../../support/moco/chronicle.ts';
import type { MySQLCluster, Pod } from '../../support/moco/objects.ts';
import type { Change } from '../../verification/witness/moment.ts';
import type { Entry } from './timeline.ts';

/** A cluster's history without names, addresses and times: what was done to it, and in which order things happened. */
export function historyOf(changes: readonly Change[], notes: readonly Entry[]): readonly Chapter[] {
  const events = [...toldOf(changes), ...notes.map(({ atMilliseconds, text }) => ({ atMilliseconds, act: text }))];
  const chapters: { act: string; lines: string[] }[] = [{ act: creation, lines: [] }];
  for (const event of events.toSorted((one, other) => one.atMilliseconds - other.atMilliseconds)) {
    if ('act' in event) chapters.push({ act: event.act, lines: [] });
    else chapters.at(-1)?.lines.push(...event.lines);
  }
  return chapters;
}

function toldOf(changes: readonly Change[]): readonly { atMilliseconds: number; lines: readonly string[] }[] {
  const known = new Map<string, unknown>();
  return changes.flatMap(({ kind, object, identity, atMilliseconds }) => {
    const { uid } = identity.metadata;
    const before = known.get(uid) ?? null;
    known.set(uid, object);
    if (object === null) return [];
    if (kind === 'Pod') return [{ atMilliseconds, lines: podLines(before as Pod | null, object as unknown as Pod) }];
    if (kind !== 'MySQLCluster') return [];
    const lines = clusterLines(before as MySQLCluster | null, object as unknown as MySQLCluster);
    return [{ atMilliseconds, lines }];
  });
}
