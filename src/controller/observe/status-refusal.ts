import type { Memory } from './cluster-state.ts';

/** How long no step is tried, and no status of the same kind written, after the API server refused a status. */
const refusalMilliseconds = 30_000;

/** The remaining milliseconds of a status refusal; 0 if there is none. */
export function refusalStands({ statusRefusal }: Pick<Memory, 'statusRefusal'>, nowMilliseconds: number): number {
  return statusRefusal === null ? 0 : Math.max(0, statusRefusal.atMilliseconds + refusalMilliseconds - nowMilliseconds);
}
