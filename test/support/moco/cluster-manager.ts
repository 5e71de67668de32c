import type { ClusteringChange } from './reconcile.ts';

/**
 * The clusters whose clustering loop a process of moco-controller runs, by uid (`clustering/manager.go` of MOCO 0.36).
 * A new process runs none: `Update`, at the end of a successful reconciliation, starts a cluster's loop;
 * `UpdateNoStart`, which `controllers/pod_watcher.go` calls for a deleted or demoted pod, does not. So after a restart
 * of moco-controller a cluster whose reconciliation fails has neither failover nor switchover.
 */
export class ClusterManager {
  readonly #clustered = new Set<string>();

  isClustering(uid: string): boolean {
    return this.#clustered.has(uid);
  }

  /** Whether the clustering has to run now. */
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
