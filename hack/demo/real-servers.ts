import type { ClusterLoad } from '../../test/reality/load/cluster-load.ts';
import { now } from '../../test/reality/load/write-load.ts';
import { complaintsOfRows, gapsSince, inWords } from '../../test/reality/scenarios/expectations.ts';
import { RealityCluster } from '../../test/reality/scenarios/reality-cluster.ts';
import { withSurroundings } from '../../test/reality/scenarios/surroundings.ts';
import { onDelete } from '../../test/reality/scenarios/way.ts';
import type { Interruption } from '../program/interruption.ts';
import { progressing, type Say } from '../program/progress.ts';
import { place, showRollout, stepsSince } from './live-view.ts';

const writers = 4;

/** Rolls out a new mysqld image in a complete Kubernetes with MOCO, while clients write. */
export async function rollOutRealServers(members: number, say: Say, interruption: Interruption): Promise<void> {
  await withSurroundings(say, interruption, async (surroundings) => {
    const { bed, race } = surroundings;
    const { first, second } = bed.images;
    const { namespace } = place;
    const create = async (): Promise<readonly [RealityCluster, ClusterLoad]> => {
      const created = await RealityCluster.create(surroundings, { namespace, members, way: onDelete, spec: {} });
      const load = await created.startLoad(writers);
      await created.untilAtRest();
      return [created, load];
    };
    const title = `Creating MySQLCluster ${namespace}/${place.name}, ${members} x ${first}`;
    const [cluster, load] = await progressing(say, title, create);
    const half = writers / 2;
    say(
      `Changing its image to ${second}, while ${half} clients insert rows and ${half} clients open a new connection for each row\n`,
    );
    const since = now();
    say(`\n${await race(rollOut(cluster))}`);
    say(await race(rowsAndGaps(load, since)));
  });
}

/** Resolves to a one-line summary of what happened. */
async function rollOut(cluster: RealityCluster): Promise<string> {
  const { images, world, cluster: kubernetes } = cluster.bed;
  let since = 0;
  await showRollout(kubernetes.kubeconfig, async () => {
    since = world.wall();
    await cluster.setImage(images.second);
  });
  const seconds = ((world.wall() - since) / 1_000).toFixed(1);
  return `Rolled out in ${seconds} s: ${stepsSince(await kubernetes.audit(), since)}.`;
}

/** Rejects if a member lost rows. */
async function rowsAndGaps(load: ClusterLoad, sinceMilliseconds: number): Promise<string> {
  const { acknowledged, gaps, members } = await load.stop();
  const complaints = complaintsOfRows({ rows: members });
  if (complaints.length > 0) {
    throw new Error(`Expected every member to contain every acknowledged row: ${complaints.join('; ')}`);
  }
  return `Write gaps: ${inWords(gapsSince(gaps, sinceMilliseconds))}. Acknowledged rows: ${acknowledged}; each of the ${members.length} members contains all of them.`;
}
