import { rolloutKind } from '../controller/rollout-resource.ts';
import { statefulSetName } from '../moco/projections.ts';
import { clusterNamed } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import { nothingKnown } from './live-look.ts';
import { textOf } from './session.ts';
import { hashOf } from './status/view.ts';
import { applyWishes } from './wishes/apply.ts';
import { refuseInVain } from './wishes/in-vain.ts';

/** `spec.approvedRevision`: of this very revision the primary may be taken. */
export const approveCommand: ClusterCommand = {
  name: 'approve',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: "Let the primary's turn come",
  help: 'Where `primaryUpdatePolicy` is Manual, or switchovers have failed. It holds for the present update revision and no later one.',
  options: [
    { flags: '--revision <revision>', description: 'only if this is the update revision, as `status` shows it' },
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const { api, signal, host, given } = session;
    const cluster = await clusterNamed(session, name);
    const live = await api.readAll(nothingKnown(cluster), signal);
    const statefulSet = live?.objects.statefulSet;
    refuseInVain('approve', name, live?.rollout ?? null, host.program);
    if (!live || !statefulSet || !statefulSet.observed || statefulSet.updateRevision === '') {
      throw new CommandError(
        `the update revision of ${name} is not known yet: Kubernetes has still to look at its StatefulSet`,
      );
    }
    const { updateRevision: revision } = statefulSet;
    const hash = hashOf(revision, statefulSetName(name));
    const wanted = textOf(given['revision']);
    if (wanted !== undefined && wanted !== hash && wanted !== revision) {
      throw new CommandError(
        `the update revision of ${name} is ${hash} now, not ${wanted}; look at \`${host.program} plan ${name}\``,
      );
    }
    if (live.objects.pods.every((pod) => pod.revision === revision)) {
      host.out(`${cluster.namespace}/${name}: nothing to approve, every member is at revision ${hash}\n`);
      return 0;
    }
    await applyWishes(session, cluster, 'approve', () => ({ approvedRevision: revision }));
    host.out(
      `${cluster.namespace}/${name}: the primary may go for revision ${hash} (${rolloutKind.kind} spec.approvedRevision)\n`,
    );
    return 0;
  },
};
