import { setReleased } from '../cluster/release-cluster.ts';
import { forEachCluster } from '../cluster/selection.ts';
import type { ClusterCommand } from './command.ts';
import { selectionOptions } from './command.ts';

/** Ends a release, so that a controller updates the cluster with its strategy. */
export const adoptCommand: ClusterCommand = {
  name: 'adopt',
  arguments: '[NAME...]',
  completes: ['cluster'],
  summary: 'End a release: let the controller update clusters again',
  help: 'The controller adopts a cluster if it runs with the feature gate UpdateStrategyOnDelete and the strategy in force is OnDelete.',
  examples: [
    ['Let the controller update one cluster again', 'adopt test'],
    ['Let it update all clusters of all namespaces', 'adopt --all -A'],
  ],
  options: selectionOptions,
  connects: true,
  run: (session, names) =>
    forEachCluster(session, names, async (cluster) =>
      (await setReleased(session, cluster, false)) ? 'no longer released' : 'was not released',
    ),
};
