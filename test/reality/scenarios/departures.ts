import { type Change, ordinalOf } from '../../verification/witness/moment.ts';
import type { WitnessedCluster } from '../../verification/witness/objects.ts';

/** Other pods of the namespace fetch images, or are in the way. */
const isMember = /^moco-test-\d+$/;

/** A member’s pod that began to terminate. */
export interface Departure {
  readonly ordinal: number;
  readonly atMilliseconds: number;
  /** MOCO's index was this member's at that moment. */
  readonly asPrimary: boolean;
}

/** In the order in which they went, of one cluster from that time on. */
export function departuresOf(changes: readonly Change[], sinceMilliseconds: number): readonly Departure[] {
  const gone = new Set<string>();
  const departures: Departure[] = [];
  let primary: number | undefined;
  for (const { kind, object, identity, atMilliseconds } of changes) {
    if (kind === 'MySQLCluster') primary = (object as WitnessedCluster | null)?.status?.currentPrimaryIndex;
    const { uid, name } = identity.metadata;
    const isGoing = object === null || object.metadata.deletionTimestamp !== undefined;
    if (kind !== 'Pod' || !isMember.test(name) || !isGoing || gone.has(uid)) continue;
    gone.add(uid);
    if (atMilliseconds < sinceMilliseconds) continue;
    const ordinal = ordinalOf(name);
    departures.push({ ordinal, atMilliseconds, asPrimary: ordinal === primary });
  }
  return departures;
}
