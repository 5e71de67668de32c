import { checkRows } from '../../test/reality/load/check-rows.ts';
import { WriteLoad } from '../../test/reality/load/write-load.ts';
import { complaintsOfRows, inSeconds } from '../../test/reality/scenarios/expectations.ts';
import { RealityCluster } from '../../test/reality/scenarios/reality-cluster.ts';
import { withSurroundings } from '../../test/reality/scenarios/surroundings.ts';
import { onDelete } from '../../test/reality/scenarios/way.ts';
import type { Interruption } from '../bench/program/interruption.ts';
import { progressing, type Say } from '../bench/program/progress.ts';
import { place, showRollout, stepsSince } from './live-view.ts';

const writers = 4;

/** Rolls out another image of moco-controller's, moco-agent's and mysqld's own, while connections write. */
export async function rollOutRealServers(members: number, say: Say, interruption: Interruption): Promise<void> {
  await withSurroundings(say, interruption, async (surroundings) => {
    const { bed, race } = surroundings;
    const { first, second } = bed.images;
    const { namespace } = place;
    const cluster = await progressing(
      say,
      `Creating MySQLCluster ${namespace}/${place.name}, ${members} x ${first}`,
      () => RealityCluster.create(surroundings, { namespace, members, way: onDelete, spec: {} }),
    );
    try {
      const { passwords } = cluster;
      const load = await race(WriteLoad.start({ address: () => cluster.primaryAddress, passwords, writers }));
      try {
        say(`Changing its image to ${second}, while ${writers} connections insert rows\n`);
        say(`\n${await race(rollOut(cluster))}`);
      } finally {
        await load.stop();
      }
      say(await race(rowsAndGaps(cluster, load)));
    } finally {
      cluster.stop();
    }
  });
}

/** Resolves to one line that sums up what happened. */
async function rollOut(cluster: RealityCluster): Promise<string> {
  const { controlPlane, images, world } = cluster.bed;
  let since = 0;
  await showRollout(controlPlane, async () => {
    since = world.wall();
    await cluster.setImage(images.second);
  });
  const seconds = ((world.wall() - since) / 1_000).toFixed(1);
  return `Rolled out in ${seconds} s: ${await stepsSince(controlPlane, since)}.`;
}

/** Rejects if a member lost rows. */
async function rowsAndGaps({ addresses, passwords }: RealityCluster, load: WriteLoad): Promise<string> {
  const rows = await checkRows(load.acknowledged, addresses, passwords);
  const complaints = complaintsOfRows({ rows });
  if (complaints.length > 0) {
    throw new Error(`Expected every member to have every acknowledged row: ${complaints.join('; ')}`);
  }
  const gaps = inSeconds(load.gaps()) || 'none';
  return `Write gaps: ${gaps}. Acknowledged rows: ${load.acknowledged.size}, and each of the ${rows.length} members has all of them.`;
}
