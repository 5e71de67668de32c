import type { ClusteringChange } from './reconcile.ts';

/**
 * Which clusters a process of moco-controller clusters, by uid (`clustering/manager.go` of MOCO 0.36). A process that has
 * just started clusters nobody: `Update`, at the end of a successful reconciliation, starts a cluster's loop, and
 * `UpdateNoStart`, which `controllers/pod_watcher.go` calls for a pod that is deleted or demoted, does not. So a cluster
 * whose reconciliation fails has neither failover nor switchover after moco-controller has restarted.
 */
export class ClusterManager {
  readonly #clustered = new Set<string>();

  isClustering(uid: string): boolean {
    return this.#clustered.has(uid);
  }

  /** Whether the clustering has to look now. */
  change(uid: string, change: ClusteringChange): boolean {
    if (change === 'update') this.#clustered.add(uid);
    if (change === 'stop') this.#clustered.delete(uid);
    return change === 'update';
  }

  /** The process has ended. */
  stopAll(): void {
    this.#clustered.clear();
  }
}
