import type { Sight } from '../sight/sight.ts';
import { isServing, type RealityCluster } from './reality-cluster.ts';

const everyMemberServes = (sight: Sight): boolean => isServing(sight) && sight.complete;

/**
 * Until every member serves, or whatever else is over. A primary that ends without warning may have committed what no
 * replica has received, and MOCO leaves such a member to a person: it gets an empty volume, as MOCO's documents say.
 * A primary that was cut off may hang, and MOCO leaves it alone: its pod is deleted, as the hold says. Resolves to the
 * number of volumes that were emptied.
 */
export async function repairErrant(cluster: RealityCluster, isOver = everyMemberServes): Promise<number> {
  for (let repairs = 0; ; ) {
    await cluster.until(
      'every member to serve, or one that waits for a person',
      (sight) => cluster.errant.length > 0 || ignoredIn(sight) !== null || isOver(sight),
    );
    const ignored = ignoredIn(cluster.sight);
    if (ignored !== null) {
      await cluster.deletePod(ignored);
      await cluster.until('another hold', (sight) => ignoredIn(sight) === null);
      continue;
    }
    const [errant] = cluster.errant;
    if (errant === undefined) return repairs;
    repairs += 1;
    await cluster.emptyVolume(errant);
    await cluster.until('no member with transactions of its own', () => !cluster.errant.includes(errant));
  }
}

/** The member that MOCO leaves alone, in the words of the hold; otherwise `null`. */
function ignoredIn({ status }: Sight): number | null {
  const [, ordinal] =
    /^MOCO has set no role for \S+-(\d+), although the pod is ready/.exec(status?.hold?.message ?? '') ?? [];
  return ordinal === undefined ? null : Number(ordinal);
}
