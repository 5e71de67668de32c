import { once } from 'node:events';
import type { Cluster } from './cluster.ts';

/** A cluster that a person uses. */
export interface Attended {
  readonly cluster: Cluster;
  /** More lines about how to use it. */
  readonly more?: readonly string[];
  stop(): Promise<void>;
}

/** Starts a cluster, tells a person how to use it, and stops it on Ctrl-C, even if that comes during the start. */
export async function attend(start: () => Promise<Attended>): Promise<void> {
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const started = await start();
  const { cluster, more = [] } = started;
  process.stdout.write(
    [
      `${cluster.nodes.length} nodes are ready. In another terminal, run "make cluster-shell", or:`,
      '',
      `  export KUBECONFIG=${cluster.kubeconfig}`,
      `  ${cluster.programs.kubectl} get nodes`,
      '',
      "Services and pods can be reached only from the cluster's network. To run a command there, put this in front of it:",
      '',
      `  ${cluster.network.join(' ')}`,
      '',
      ...more,
      `Logs are in ${cluster.directory}. Ctrl-C or "make cluster-stop" ends everything and removes it.`,
      '',
    ].join('\n'),
  );
  const alive = setInterval(() => undefined, 60_000);
  await interrupted;
  clearInterval(alive);
  await started.stop();
}
