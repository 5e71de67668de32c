import PQueue from 'p-queue';
import { nameOf } from '../../kube/store.ts';
import { clusterKind } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { onClusters, toDecide, toLook } from '../check/rights.ts';
import { releaseOne, setReleased } from '../cluster/release-cluster.ts';
import { forEachCluster, releaseTargets } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { duration, toggle, type Values } from '../option.ts';
import { clusterCommand, selectionOptions } from './command.ts';

// The commands `release` and `adopt`.

/** How many clusters are released in parallel. The client's rate limit applies to the requests of all of them. */
const mostParallel = 8;

const options = {
  ...selectionOptions,
  includePaused: toggle(
    '--include-paused',
    'also release clusters that are paused: MOCO then replaces their stale pods',
  ),
  timeout: duration(
    '--timeout <duration>',
    'how long to wait for the first cluster, and then for each of the others',
    '5m',
  ),
};

/**
 * Returns StatefulSets to rolling updates with a partition, and sets an annotation that tells a running controller to
 * leave the cluster released.
 */
export const releaseCommand = clusterCommand({
  name: 'release',
  arguments: '[NAME...]',
  rights: [
    ...toDecide,
    onClusters('patch'),
    [clusterKind.group, `${clusterKind.plural}/status`, ['update']],
    ['apps', 'statefulsets', ['list', 'patch']],
    ['apps', 'statefulsets/status', ['patch']],
    ['', 'pods', ['patch']],
  ],
  summary: 'Return clusters to rolling updates by partition',
  help:
    'Deletes no pod: stale members wait until MOCO or the partition driver updates them. A controller leaves released clusters alone until `adopt`, because the MySQLCluster gets the ' +
    'annotation moco-rollout.io/released. You can interrupt the command and run it again at any time.',
  examples: [
    ['Release one cluster', 'release test'],
    ['Release all clusters in a namespace', 'release --all -n NAMESPACE'],
    ['Release every cluster before uninstalling moco-rollout', 'release --all --all-namespaces'],
  ],
  options,
  run: releaseClusters,
});

async function releaseClusters(
  session: Session,
  names: readonly string[],
  { includePaused, timeout }: Values<typeof options>,
): Promise<number> {
  const { host, world } = session;
  const { clusters, orphans } = await releaseTargets(session, names);
  for (const orphan of orphans) host.out(`${orphan}: its MySQLCluster is gone; the garbage collector deletes it\n`);
  if (clusters.length === 0) {
    host.out('nothing to release\n');
    return 0;
  }
  const deadline = new AbortController();
  const startTimer = (): (() => void) => world.timer(timeout, () => deadline.abort());
  let cancel = startTimer();
  const left: string[] = [];
  let back = 0;
  const one = async (cluster: ClusterRecord): Promise<void> => {
    const key = nameOf(cluster);
    const waits = (reason: string): void => host.err(`${key}: ${reason}\n`);
    const outcome = await releaseOne(session, cluster, includePaused, deadline.signal, waits);
    if (outcome.kind === 'back') {
      // Releasing hundreds of clusters takes a while.
      cancel();
      cancel = startTimer();
      back += 1;
      host.out(`${key}: ${outcome.reason}\n`);
    } else {
      left.push(`${key}: ${outcome.reason}`);
    }
  };
  try {
    await new PQueue({ concurrency: mostParallel }).addAll(clusters.map((cluster) => () => one(cluster)));
  } finally {
    cancel();
  }
  host.out(`${back} of ${clusters.length} released\n`);
  if (left.length === 0) return 0;
  host.err(`error: not released:\n${left.map((sentence) => `  ${sentence}\n`).join('')}`);
  return 1;
}

/** Ends a release, so that the controller updates the cluster again, under the strategy in force. */
export const adoptCommand = clusterCommand({
  name: 'adopt',
  arguments: '[NAME...]',
  rights: [...toLook, onClusters('patch')],
  summary: 'End a release: let the controller update clusters again',
  help: 'The controller adopts a cluster if it runs with the feature gate UpdateStrategyOnDelete and the strategy in force is OnDelete.',
  examples: [
    ['Let the controller update one cluster again', 'adopt test'],
    ['Let it update all clusters of all namespaces', 'adopt --all -A'],
  ],
  options: selectionOptions,
  run: (session, names) =>
    forEachCluster(session, names, async (cluster) =>
      (await setReleased(session, cluster, false)) ? 'no longer released' : 'was not released',
    ),
});
