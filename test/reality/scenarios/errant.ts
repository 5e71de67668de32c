import { isServing, type RealityCluster } from './reality-cluster.ts';

/**
 * Until every member serves. A primary that ends without warning may have committed what no replica has received, and MOCO
 * leaves such a member to a person: it gets an empty volume, as MOCO's documents say.
 */
export async function repairErrant(cluster: RealityCluster): Promise<void> {
  for (;;) {
    await cluster.until(
      'every member to serve, or one with transactions of its own',
      (sight) => cluster.errant.length > 0 || (isServing(sight) && sight.complete),
    );
    const [errant] = cluster.errant;
    if (errant === undefined) return;
    await cluster.emptyVolume(errant);
    await cluster.until('no member with transactions of its own', () => !cluster.errant.includes(errant));
  }
}
