import type { Sight } from '../sight/sight.ts';
import { isServing, type RealityCluster } from './reality-cluster.ts';

const everyMemberServes = (sight: Sight): boolean => isServing(sight) && sight.complete;

/**
 * Until every member serves, or whatever else is over. A primary that ends without warning may have committed what no
 * replica has received, and MOCO leaves such a member to a person: it gets an empty volume, as MOCO's documents say.
 * Resolves to how often that was.
 */
export async function repairErrant(cluster: RealityCluster, isOver = everyMemberServes): Promise<number> {
  for (let repairs = 0; ; repairs += 1) {
    await cluster.until(
      'every member to serve, or one with transactions of its own',
      (sight) => cluster.errant.length > 0 || isOver(sight),
    );
    const [errant] = cluster.errant;
    if (errant === undefined) return repairs;
    await cluster.emptyVolume(errant);
    await cluster.until('no member with transactions of its own', () => !cluster.errant.includes(errant));
  }
}
