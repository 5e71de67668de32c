import { type Cluster, type ClusterOptions, startCluster } from '../support/cluster/cluster.ts';
import { installMoco } from '../support/cluster/moco.ts';
import { ownImage } from '../support/cluster/own-image.ts';
import { imageArchives, imageNames } from './image/archives.ts';

/** A complete Kubernetes cluster that runs moco-controller, and whose nodes have the images of MOCO, MySQL and moco-rollout. */
export interface ClusterWithMoco {
  readonly cluster: Cluster;
  /** Paths of image archives by the names of the images. */
  readonly archives: ReadonlyMap<string, string>;
  /** Ends everything, and removes what it has left. */
  stop(): Promise<void>;
}

/**
 * Builds what is missing, then starts a Kubernetes cluster on this machine and installs MOCO in it. Throws `Unavailable`
 * where that is impossible.
 *
 * @param ownTag the tag of the image `docker.io/library/moco-rollout`
 */
export async function startClusterWithMoco(
  ownTag: string,
  options: Omit<ClusterOptions, 'images'>,
): Promise<ClusterWithMoco> {
  const archives = await imageArchives();
  const { mysql, agent, slowLog, exporter, controller } = imageNames;
  const usual = [...mysql, agent[0], slowLog[0], exporter[0], ...controller].map((name) => archiveOf(archives, name));
  const cluster = await startCluster({ ...options, images: usual });
  try {
    const [certificates] = await Promise.all([
      installMoco(cluster),
      ownImage(cluster.directory, [`docker.io/library/moco-rollout:${ownTag}`]).then((one) => cluster.importImage(one)),
    ]);
    const stop = async (): Promise<void> => {
      await certificates.stop();
      await cluster.stop();
    };
    return { cluster, archives, stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Throws if there is no image of this name. */
export function archiveOf(archives: ReadonlyMap<string, string>, name: string): string {
  const archive = archives.get(name);
  if (archive === undefined) throw new Error(`Expected one of ${[...archives.keys()].join(', ')}, got ${name}`);
  return archive;
}
