import type { RolloutSpec } from '../../api/rollout.ts';
import { policyKind } from '../../api/rollout-policy.ts';
import { UsageError } from '../../failure.ts';
import { ApiError, isForbidden } from '../../kube/api-error.ts';
import { keyOf, nameOf } from '../../kube/store.ts';
import { revisionHash } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { onRollouts, toDecide, toSet } from '../check/rights.ts';
import { applySettings, refuseWithoutEffect, removeSettings, type SettingsOf } from '../cluster/apply.ts';
import { pauseOf, pauseOptions } from '../cluster/authorship.ts';
import { nothingKnown, observeCluster } from '../cluster/cluster-snapshot.ts';
import { clusterNamed, memberNamed } from '../cluster/clusters.ts';
import { forEachCluster, requireSelection } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError, sentenceOf } from '../command-error.ts';
import { anyText, toggle } from '../option.ts';
import { volumeWarning } from '../terminal/view.ts';
import { clusterCommand, selectionOptions } from './command.ts';
import { unfreezing } from './freeze.ts';

// The commands that set one field of a MySQLRollout: `pause`, `resume`, `approve`, `pin` and `unpin`.

export const pauseCommand = clusterCommand({
  name: 'pause',
  arguments: '[NAME...]',
  rights: toSet,
  summary: 'Pause rollouts: update no further member',
  help: 'Sets `spec.paused` of the MySQLRollout, and in `spec.pause` who pauses it, why and until when. Under OnDelete, if another client deletes the pod of a stale member, the new pod has the previous revision.',
  examples: [
    ['Pause the rollout of one cluster', 'pause test'],
    ['Pause it for four hours, and say why', 'pause test --for=4h --reason="load test"'],
    ['Pause production, but update members that are down', 'pause -A -l env=production --repair'],
  ],
  options: {
    ...selectionOptions,
    ...pauseOptions,
    repair: toggle('--repair', 'still update members that are down'),
  },
  run: async (session, names, { repair, ...given }) => {
    requireSelection(session, names);
    const pause = await pauseOf(session, given);
    const settings = {
      paused: true,
      ...(Object.keys(pause).length > 0 && { pause }),
      ...(repair && { repairWhilePaused: true }),
    };
    const end = pause.until === undefined ? '' : ` until ${pause.until}`;
    let isAnyPaused = false;
    const status = await forEachCluster(session, names, async (cluster) => {
      await applySettings(session, cluster, 'pause', () => settings);
      isAnyPaused = true;
      return `paused${end}${repair ? ', except for members that are down' : ''}`;
    });
    if (isAnyPaused) session.host.err(`${volumeWarning}\n`);
    return status;
  },
});

/** Removes what `pause` has set, and reports anything else that pauses the cluster. */
export const resumeCommand = clusterCommand({
  name: 'resume',
  arguments: '[NAME...]',
  rights: toSet,
  summary: 'Resume paused rollouts',
  help: 'Removes what `pause` set. Fails if another field manager or a MySQLRolloutPolicy still pauses the cluster.',
  examples: [
    ['Resume the rollout of one cluster', 'resume test'],
    ['Resume all clusters of the namespace', 'resume --all'],
  ],
  options: selectionOptions,
  run: (session, names) =>
    forEachCluster(session, names, async (cluster) => {
      const { name } = cluster;
      const what = `${name} is still paused`;
      const remains = ({ paused }: RolloutSpec) => paused === true;
      await removeSettings(session, cluster, 'pause', () => ({}), remains, { what, field: 'paused' });
      const paused = await stillPausedBy(session, cluster);
      if (paused === null) return 'resumed';
      const command = unfreezing(paused, cluster.namespace);
      const where = command === null ? 'end the pause there' : `end that with \`${session.host.program} ${command}\``;
      throw new CommandError(`${name} is still paused by ${paused}; ${where}`);
    }),
});

/** What else pauses the cluster; `null` if nothing does. Warns about sources of settings that the user may not read. */
async function stillPausedBy(session: Session, cluster: ClusterRecord): Promise<string | null> {
  const warn = (sentence: string): void =>
    session.host.err(`warning: it is unknown whether something else still pauses ${cluster.name}: ${sentence}\n`);
  try {
    const { observe, unread } = await observeCluster(session, cluster);
    const { settings } = observe();
    const paused = settings.problem === null ? settings.sources['paused'] : undefined;
    if (paused?.value === true) return paused.source;
    if (unread.includes(policyKind.plural)) warn(`you may not read ${policyKind.plural}`);
  } catch (error) {
    if (!(error instanceof ApiError && isForbidden(error))) throw error;
    warn(sentenceOf(error));
  }
  return null;
}

/** Sets `spec.approvedRevision`: the primary may be updated to exactly this revision. */
export const approveCommand = clusterCommand({
  name: 'approve',
  arguments: '<NAME>',
  rights: [...toDecide, ...toSet, onRollouts('approve')],
  summary: 'Approve updating the primary',
  help:
    'Sets `spec.approvedRevision` of the MySQLRollout to the current update revision; a later revision needs another approval. ' +
    'Needed if `primaryUpdatePolicy` is Manual, and after failed switchovers.',
  examples: [
    ['Approve the update of the primary', 'approve test'],
    ['Approve it only if the update revision is still the reviewed one', 'approve test --revision=7966559688'],
  ],
  options: {
    revision: anyText('--revision <revision>', 'approve only if this is the update revision, as `status` shows it'),
  },
  run: async (session, [name = ''], { revision: wanted }) => {
    const { api, host } = session;
    const cluster = await clusterNamed(session, name);
    const live = await api.readAll(nothingKnown(cluster));
    const statefulSet = live?.objects.statefulSet;
    refuseWithoutEffect('approve', cluster, live?.rollout ?? null, host.program);
    if (!live || !statefulSet?.observed || statefulSet.updateRevision === '') {
      throw new CommandError(
        `the update revision of ${name} is not known yet: Kubernetes has not observed its newest StatefulSet`,
      );
    }
    const { updateRevision: revision } = statefulSet;
    const hash = revisionHash(revision, name);
    if (wanted !== undefined && wanted !== hash && wanted !== revision) {
      throw new CommandError(
        `the update revision of ${name} is ${hash} now, not ${wanted}; see \`${host.program} plan ${name} -n ${cluster.namespace}\``,
      );
    }
    if (live.objects.pods.every((pod) => pod.revision === revision)) {
      host.out(`${nameOf(cluster)}: nothing to approve, every member is at revision ${hash}\n`);
      return 0;
    }
    await applySettings(session, cluster, 'approve', () => ({ approvedRevision: revision }));
    host.out(`${nameOf(cluster)}: revision ${hash} approved for the primary\n`);
    return 0;
  },
});

/** Pins a member to its revision, by an entry in `spec.pinnedMembers`. */
export const pinCommand = clusterCommand({
  name: 'pin',
  arguments: '<MEMBER>',
  rights: toSet,
  summary: 'Pin a member to its revision',
  help:
    'MEMBER is the name of its pod. Adds an entry to `spec.pinnedMembers` of the MySQLRollout. Under OnDelete, if another client deletes the pod of a pinned member, ' +
    'it comes back at its revision. The primary is not updated while another member is pinned.',
  examples: [['Keep one member as it is', 'pin moco-test-2 --reason="comparing query plans"']],
  options: { reason: anyText('--reason <text>', 'reason, for other people (required)') },
  run: async (session, [pod = ''], { reason }) => {
    const { host } = session;
    if (reason === undefined)
      throw new UsageError('expected --reason, so that other people understand the pin, got none');
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    await applySettings(session, cluster, 'pin', ({ others }) => ({
      pinnedMembers: [...others('pinnedMembers', { ordinal }), { ordinal, reason }],
    }));
    host.out(`${keyOf(cluster.namespace, name)}: pinned\n`);
    host.err(`${volumeWarning}\n`);
    return 0;
  },
});

/** Removes the entry that `pin` has set. If another manager still pins the member, reports that manager. */
export const unpinCommand = clusterCommand({
  name: 'unpin',
  arguments: '<MEMBER>',
  rights: toSet,
  summary: 'Unpin a member, so that it is updated again',
  help: 'MEMBER is the name of its pod.',
  examples: [['Let a pinned member be updated', 'unpin moco-test-2']],
  run: async (session, [pod = '']) => {
    const { host } = session;
    const { cluster, ordinal, name } = await memberNamed(session, pod);
    const without: SettingsOf = ({ others }) => ({ pinnedMembers: others('pinnedMembers', { ordinal }) });
    const remains = ({ pinnedMembers = [] }: RolloutSpec) => pinnedMembers.some((one) => one.ordinal === ordinal);
    const what = { what: `${name} is still pinned`, field: 'pinnedMembers', key: { ordinal } } as const;
    await removeSettings(session, cluster, 'pin', without, remains, what);
    host.out(`${keyOf(cluster.namespace, name)}: unpinned\n`);
    return 0;
  },
});
