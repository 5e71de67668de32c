import { isDeepStrictEqual } from 'node:util';
import type { Standing } from './respond.ts';

/** Whether the members that have to leave may go, as the last pass over each cluster found. */
export class Standings {
  readonly #byCluster = new Map<string, ReadonlyMap<string, Standing>>();
  readonly #changed: (podKey: string) => void;

  /** @param changed called with the key of each pod that has a new standing, a different one, or none any more */
  constructor(changed: (podKey: string) => void) {
    this.#changed = changed;
  }

  /**
   * Replaces the standings of a cluster.
   *
   * @param standings by `namespace/uid` of the pod
   */
  note(cluster: string, standings: ReadonlyMap<string, Standing>): void {
    const before = this.#byCluster.get(cluster);
    if (standings.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, standings);
    for (const pod of new Set([...(before?.keys() ?? []), ...standings.keys()])) {
      if (!isDeepStrictEqual(before?.get(pod), standings.get(pod))) this.#changed(pod);
    }
  }

  /** `undefined` until a pass has looked at the member after its eviction was requested. */
  of(cluster: string, podKey: string): Standing | undefined {
    return this.#byCluster.get(cluster)?.get(podKey);
  }
}
