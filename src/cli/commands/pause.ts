import { policyKind } from '../../api/rollout-policy.ts';
import { ApiError, isForbidden } from '../../kube/api-error.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { applySettings, removeSettings } from '../cluster/apply.ts';
import { observeCluster } from '../cluster/cluster-snapshot.ts';
import { forEachCluster } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError, sentenceOf } from '../command-error.ts';
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
      const paused = await pausedBy(session, cluster);
      if (paused === null) return 'resumed';
      throw new CommandError(`${name} is still paused by ${paused}; change it there`);
    }),
};

/**
 * Who else pauses the cluster; `null` if nobody does. What is left out, because the user may not read it, is a warning.
 */
async function pausedBy(session: Session, cluster: ClusterRecord): Promise<string | null> {
  const warn = (sentence: string): void =>
    session.host.err(`warning: whether something else still pauses ${cluster.name} is not known: ${sentence}\n`);
  try {
    const { observe, unread } = await observeCluster(session, cluster);
    const { settings } = observe();
    const paused = settings.problem === null ? settings.sources['paused'] : undefined;
    if (paused?.value === true) return paused.source;
    if (unread.includes(policyKind.plural)) warn(`you may not read ${policyKind.plural}`);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError && isForbidden(error))) throw error;
    warn(sentenceOf(error));
    return null;
  }
}
