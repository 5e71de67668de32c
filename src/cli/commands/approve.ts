import { revisionHash } from '../../moco/projections.ts';
import { applySettings, refuseWithoutEffect } from '../cluster/apply.ts';
import { nothingKnown } from '../cluster/cluster-snapshot.ts';
import { clusterNamed } from '../cluster/clusters.ts';
import { textOf } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import type { ClusterCommand } from './command.ts';

/** Sets `spec.approvedRevision`: the primary may be updated to exactly this revision. */
export const approveCommand: ClusterCommand = {
  name: 'approve',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Approve updating the primary',
  help:
    'Sets `spec.approvedRevision` of the MySQLRollout to the current update revision; a later revision needs another approval. ' +
    'Needed where `primaryUpdatePolicy` is Manual, and after switchovers that failed.',
  examples: [
    ['Approve the update of the primary', 'approve test'],
    ['Approve it only if the update revision is still the reviewed one', 'approve test --revision=7966559688'],
  ],
  options: [
    {
      flags: '--revision <revision>',
      description: 'approve only if this is the update revision, as `status` shows it',
    },
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const { api, host, given } = session;
    const cluster = await clusterNamed(session, name);
    const live = await api.readAll(nothingKnown(cluster));
    const statefulSet = live?.objects.statefulSet;
    refuseWithoutEffect('approve', cluster, live?.rollout ?? null, host.program);
    if (!live || !statefulSet || !statefulSet.observed || statefulSet.updateRevision === '') {
      throw new CommandError(
        `the update revision of ${name} is not known yet: Kubernetes has not observed its newest StatefulSet`,
      );
    }
    const { updateRevision: revision } = statefulSet;
    const hash = revisionHash(revision, name);
    const wanted = textOf(given['revision']);
    if (wanted !== undefined && wanted !== hash && wanted !== revision) {
      throw new CommandError(
        `the update revision of ${name} is ${hash} now, not ${wanted}; see \`${host.program} plan ${name} -n ${cluster.namespace}\``,
      );
    }
    if (live.objects.pods.every((pod) => pod.revision === revision)) {
      host.out(`${cluster.namespace}/${name}: nothing to approve, every member is at revision ${hash}\n`);
      return 0;
    }
    await applySettings(session, cluster, 'approve', () => ({ approvedRevision: revision }));
    host.out(`${cluster.namespace}/${name}: revision ${hash} approved for the primary\n`);
    return 0;
  },
};
