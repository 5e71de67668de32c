import { applySettings, removeSettings } from '../cluster/apply.ts';
import { observeCluster } from '../cluster/cluster-snapshot.ts';
import { forEachCluster } from '../cluster/selection.ts';
import { CommandError } from '../command-error.ts';
import { volumeWarning } from '../terminal/view.ts';
import { type ClusterCommand, selectionOptions } from './command.ts';

const verb = 'pause';

/** Sets `spec.paused: true`. */
export const pauseCommand: ClusterCommand = {
  name: 'pause',
  arguments: '[NAME...]',
  completes: ['cluster'],
  summary: 'Pause rollouts: update no further member',
  help: 'Sets `spec.paused` of the MySQLRollout. Under OnDelete a stale member whose pod somebody else takes comes back at the revision that it had.',
  examples: [
    ['Pause the rollout of one cluster', 'pause test'],
    ['Pause production, but update members that are down', 'pause -A -l env=production --repair'],
  ],
  options: [...selectionOptions, { flags: '--repair', description: 'still update members that are down' }],
  connects: true,
  run: async (session, names) => {
    const repair = session.given['repair'] === true;
    const settings = { paused: true, ...(repair && { repairWhilePaused: true }) };
    let isAnyPaused = false;
    const status = await forEachCluster(session, names, async (cluster) => {
      await applySettings(session, cluster, verb, () => settings);
      isAnyPaused = true;
      return repair ? 'paused, except for members that are down' : 'paused';
    });
    if (isAnyPaused) session.host.err(`${volumeWarning}\n`);
    return status;
  },
};

/** Removes the setting of `pause`, and reports who else pauses the cluster. */
export const resumeCommand: ClusterCommand = {
  name: 'resume',
  arguments: '[NAME...]',
  completes: ['cluster'],
  summary: 'Resume paused rollouts',
  help: 'Removes what `pause` set. Fails if somebody else, or a MySQLRolloutPolicy, still pauses the cluster.',
  examples: [
    ['Resume the rollout of one cluster', 'resume test'],
    ['Resume all clusters of the namespace', 'resume --all'],
  ],
  options: selectionOptions,
  connects: true,
  run: (session, names) =>
    forEachCluster(session, names, async (cluster) => {
      const { name } = cluster;
      await removeSettings(session, cluster, verb, () => ({}), {
        of: ({ paused }) => paused === true,
        what: `${name} is still paused`,
        field: 'paused',
      });
      const { settings } = (await observeCluster(session, cluster)).observe();
      const paused = settings.problem === null ? settings.sources['paused'] : undefined;
      if (paused?.value !== true) return 'resumed';
      throw new CommandError(`${name} is still paused by ${paused.source}; change it there`);
    }),
};
