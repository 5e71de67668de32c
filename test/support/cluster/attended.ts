import { once } from 'node:events';
import type { Cluster } from './cluster.ts';

/** Tells a person how to use a cluster, `more` included, and resolves when the person ends it with Ctrl-C. */
export async function untilInterrupted(cluster: Cluster, more: readonly string[] = []): Promise<void> {
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
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
}
