import type { ClusterNode } from '../../support/cluster/node.ts';
import { dataVolume } from '../../support/moco/names.ts';
import type { RealityCluster } from './reality-cluster.ts';

const spareMegabytes = 64;

/** A volume of a member that can be full: what it had, and a little room, in memory of its node. */
export class SmallVolume {
  readonly #node: ClusterNode;
  readonly #directory: string;

  private constructor(node: ClusterNode, directory: string) {
    this.#node = node;
    this.#directory = directory;
  }

  /** The member's pod is made anew on it. */
  static async below(cluster: RealityCluster, ordinal: number): Promise<SmallVolume> {
    const { bed, namespace } = cluster;
    const kubectl = (...flags: readonly string[]): Promise<string> => bed.cluster.kubectl('-n', namespace, ...flags);
    const node = cluster.nodeOf(ordinal);
    const pod = cluster.podName(ordinal);
    const claim = await kubectl('get', 'pvc', `${dataVolume}-${pod}`, '--output=jsonpath={.spec.volumeName}');
    const directory = await kubectl('get', 'pv', claim, '--output=jsonpath={.spec.local.path}');
    const volume = new SmallVolume(node, directory);
    // Its next pod has to wait until the volume is there.
    await kubectl('cordon', node.name);
    await kubectl('delete', 'pod', pod);
    await volume.#sh(
      `mv ${directory} ${directory}.before && mkdir ${directory} && chmod 777 ${directory} &&
       size=$(($(du -sm ${directory}.before | cut -f1) + ${spareMegabytes})) &&
       mount -t tmpfs -o size=\${size}m,mode=777 tmpfs ${directory} && cp -a ${directory}.before/. ${directory}/`,
    );
    await kubectl('uncordon', node.name);
    cluster.note(`the volume of member ${ordinal} has ${spareMegabytes} MB left`);
    await cluster.untilAtRest();
    return volume;
  }

  /** To the last byte. */
  async fill(): Promise<void> {
    await this.#sh(`cat /dev/zero >${this.#directory}/filler 2>/dev/null || true`);
  }

  async free(): Promise<void> {
    await this.#sh(`rm ${this.#directory}/filler`);
  }

  async #sh(script: string): Promise<void> {
    await this.#node.namespaces.run('sh', '-c', script);
  }
}
