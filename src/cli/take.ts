import { UsageError } from '../failure.ts';
import { clusterNamed } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { unmark } from './hand-back/marker.ts';

/** Takes the marker of a hand-back away, so that a controller takes the cluster as its strategy says. */
export const takeCommand: ClusterCommand = {
  name: 'take',
  arguments: '<NAME...>',
  completes: ['cluster'],
  summary: 'End a hand-back: let the controller take clusters again',
  help: 'The controller takes a cluster where it runs with the feature gate UpdateStrategyOnDelete on and the strategy in force is OnDelete.',
  connects: true,
  run: async (session, names) => {
    if (session.namespace === null) throw new UsageError('expected names in one namespace, got -A');
    for (const name of new Set(names)) {
      const cluster = await clusterNamed(session, name);
      const wasHandedBack = await unmark(session, cluster);
      session.host.out(
        `${cluster.namespace}/${name}: ${wasHandedBack ? 'no longer handed back' : 'was not handed back'}\n`,
      );
    }
    return 0;
  },
};
