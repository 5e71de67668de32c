import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { rolloutKind } from '../../api/rollout.ts';
import { policyKind } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { type Json, object, text } from '../../base/json.ts';
import { counted } from '../../core/sentences.ts';
import { ApiError, isForbidden } from '../../kube/api-error.ts';
import { kubernetesVersion } from '../../kube/kubernetes-version.ts';
import {
  deployments,
  events,
  jobs,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../kube/resource.ts';
import {
  clusterKind,
  clusterNameLabel,
  controllerSelector,
  createdByLabel,
  createdByMoco,
  jobSelectorOf,
  mocoControllerSelector,
  statefulSetName,
} from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { toLook } from '../check/rights.ts';
import { clusterNamed, find, listOrNothing } from '../cluster/clusters.ts';
import { controllerLease } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError, sentenceOf } from '../command-error.ts';
import {
  clusterShape,
  deploymentShape,
  eventShape,
  jobShape,
  keep,
  plainShape,
  podShape,
  rolloutShape,
  type Shape,
  statefulSetShape,
} from '../diagnose/shapes.ts';
import { anyText } from '../option.ts';
import { clusterCommand } from './command.ts';

// The command `diagnose`.

export const diagnoseCommand = clusterCommand({
  name: 'diagnose',
  arguments: '<NAME>',
  rights: toLook,
  summary: 'Write a directory of objects for an issue report, without secrets',
  help: "Contains names, labels, images, statuses and the Events of moco-rollout. Contains no Secrets, ConfigMaps, environment variables, arguments, commands, logs or values of other programs' annotations. Messages of Prometheus, webhooks, agents and mysqld are removed from the status and the Events of moco-rollout. Conditions of pods, Jobs and the MySQLCluster contain messages of Kubernetes, webhooks and MOCO. Read the files before you share them.",
  examples: [['Collect what an issue report needs', 'diagnose test']],
  options: {
    directory: anyText('--directory <directory>', 'directory to create (default: moco-rollout-NAMESPACE-NAME)'),
  },
  run: async (session, [name = ''], given) => {
    const cluster = await clusterNamed(session, name);
    const parts = await collect(session, cluster);
    const { directory = `moco-rollout-${cluster.namespace}-${name}` } = given;
    await mkdir(directory).catch(({ code }: NodeJS.ErrnoException) => {
      throw new CommandError(`cannot create ${directory} (${code}): choose a different one with --directory`);
    });
    for (const { file, objects, reason } of parts) {
      if (objects === null) {
        session.host.out(`left out  ${file}: ${reason}\n`);
        continue;
      }
      await writeFile(join(directory, file), `${JSON.stringify(objects, null, 2)}\n`);
      session.host.out(`wrote     ${join(directory, file)}: ${counted(objects.length, 'object')}\n`);
    }
    return 0;
  },
});

/**
 * Collects what an issue report about a rollout needs, without anything that may be secret. Each file has its objects,
 * or `null` and the reason why they could not be read.
 */
async function collect(session: Session, cluster: ClusterRecord) {
  const { namespace, name } = cluster;
  const labelSelector = `${createdByLabel}=${createdByMoco},${clusterNameLabel}=${name}`;
  const part = async (file: string, shape: Shape, read: () => Promise<readonly (Json | null)[]>) => {
    try {
      const objects = (await read()).filter((one) => one !== null).map((one) => keep(one, shape));
      return { file, objects, reason: '' };
    } catch (error) {
      if (error instanceof ApiError && isForbidden(error)) return { file, objects: null, reason: sentenceOf(error) };
      throw error;
    }
  };
  const one = async (kind: ResourceKind) => [await find(session, kind, namespace, name)];
  const list = (kind: ResourceKind, place: string | null, query = {}) => listOrNothing(session, kind, place, query);
  return Promise.all([
    part('versions.json', 'all', async () => [
      { plugin: manifest.version, kubernetes: await kubernetesVersion(session.client) },
    ]),
    part('mysqlcluster.json', clusterShape, () => one(clusterKind)),
    part('mysqlrollout.json', rolloutShape, () => one(rolloutKind)),
    part('statefulset.json', statefulSetShape, () => list(statefulSets, namespace, { labelSelector })),
    part('pods.json', podShape, () => list(pods, namespace, { labelSelector })),
    part('poddisruptionbudgets.json', plainShape, () => list(podDisruptionBudgets, namespace)),
    part('jobs.json', jobShape, () => list(jobs, namespace, { labelSelector: jobSelectorOf(name) })),
    part('events.json', eventShape, async () =>
      (await list(events, namespace)).filter(({ regarding }) => isAbout(object(regarding), name)),
    ),
    part('mysqlrolloutpolicies.json', plainShape, () => list(policyKind, null)),
    part('mysqlrolloutsequences.json', plainShape, () => list(sequenceKind, null)),
    part('controller.json', deploymentShape, () => list(deployments, null, { labelSelector: controllerSelector })),
    part('moco-controller.json', deploymentShape, () =>
      list(deployments, null, { labelSelector: mocoControllerSelector }),
    ),
    part('lease.json', plainShape, async () => [await controllerLease(session)]),
  ]);
}

/** The name of the cluster, and the names of its StatefulSet and pods, which begin with `moco-`. */
const isAbout = (regarding: Json, cluster: string): boolean => {
  const name = text(regarding['name']) ?? '';
  const own = statefulSetName(cluster);
  return name === cluster || name === own || (name.startsWith(`${own}-`) && /^\d+$/.test(name.slice(own.length + 1)));
};
