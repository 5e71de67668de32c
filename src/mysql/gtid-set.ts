// Reads and subtracts sets of GTIDs, to find out which transactions a replica lacks.

/** The first and the last number of the interval. */
type GtidInterval = readonly [from: number, to: number];

/**
 * A set of GTIDs in the format of `@@gtid_executed`: `uuid:1-5:7, uuid:tag:1-3`. The key is a source, with its tag if
 * it has one. The value lists disjoint intervals in ascending order.
 */
export type GtidSet = ReadonlyMap<string, readonly GtidInterval[]>;

const source = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Tags exist since MySQL 8.3. */
const tag = /^[a-z_][a-z0-9_]{0,31}$/;
const interval = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** Parses a set of GTIDs. Throws if the text is not one. */
export function parseGtidSet(text: string): GtidSet {
  const found = new Map<string, GtidInterval[]>();
  for (const part of text.toLowerCase().replace(/\s+/g, '').split(',')) {
    if (part === '') continue;
    const [uuid = '', ...rest] = part.split(':');
    if (!source.test(uuid) || rest.length === 0) throw notASet();
    let key = uuid;
    for (const one of rest) {
      const [, from, to = from] = interval.exec(one) ?? [];
      if (from !== undefined) {
        const [first, last] = [Number(from), Number(to)];
        if (first < 1 || last < first) throw notASet();
        const intervals = found.get(key);
        if (intervals === undefined) found.set(key, [[first, last]]);
        else intervals.push([first, last]);
      } else if (tag.test(one)) {
        key = `${uuid}:${one}`;
      } else {
        throw notASet();
      }
    }
  }
  return new Map([...found].map(([key, intervals]) => [key, merged(intervals)]));
}

const notASet = (): Error => new Error('expected a set of GTIDs, got something else');

export function union(one: GtidSet, other: GtidSet): GtidSet {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return new Map([...keys].map((key) => [key, merged([...(one.get(key) ?? []), ...(other.get(key) ?? [])])]));
}

/** The transactions that are in `one` but not in `other`. */
export function subtract(one: GtidSet, other: GtidSet): GtidSet {
  const rest = [...one].map(([key, intervals]) => [key, without(intervals, other.get(key) ?? [])] as const);
  return new Map(rest.filter(([, intervals]) => intervals.length > 0));
}

/** The number of transactions in the set. */
export const countGtids = (set: GtidSet): number =>
  [...set.values()].flat().reduce((sum, [from, to]) => sum + to - from + 1, 0);

function merged(intervals: readonly GtidInterval[]): readonly GtidInterval[] {
  const result: GtidInterval[] = [];
  for (const [from, to] of intervals.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1);
    if (last === undefined || from > last[1] + 1) result.push([from, to]);
    else if (to > last[1]) result[result.length - 1] = [last[0], to];
  }
  return result;
}

/** Removes the intervals of `taken`, in one pass over both lists. */
function without(intervals: readonly GtidInterval[], taken: readonly GtidInterval[]): readonly GtidInterval[] {
  const result: GtidInterval[] = [];
  let next = 0;
  for (const [from, to] of intervals) {
    let start = from;
    while ((taken[next]?.[1] ?? Number.POSITIVE_INFINITY) < start) next += 1;
    for (let at = next; start <= to; at += 1) {
      const [cutFrom, cutTo] = taken[at] ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      if (cutFrom > start) result.push([start, Math.min(to, cutFrom - 1)]);
      start = Math.max(start, cutTo + 1);
    }
  }
  return result;
}
