import manifest from '../../../package.json' with { type: 'json' };
import { rolloutKind } from '../../api/rollout.ts';
import { policyKind } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { kubernetesVersion } from '../../controller/facts/kubernetes-version.ts';
import { ApiError, isForbidden } from '../../kube/api-error.ts';
import {
  deployments,
  events,
  jobs,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../kube/resource.ts';
import { type Json, object, text } from '../../moco/json.ts';
import {
  clusterKind,
  clusterNameLabel,
  controllerSelector,
  createdByLabel,
  createdByMoco,
  mocoControllerSelector,
} from '../../moco/names.ts';
import { jobSelectorOf } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { find, listIfThere } from '../cluster/clusters.ts';
import { controllerLease } from '../cluster/controller-lease.ts';
import type { Session } from '../cluster/session.ts';
import { sentenceOf } from '../command-error.ts';
import {
  clusterShape,
  deploymentShape,
  eventShape,
  jobShape,
  keep,
  plainShape,
  podShape,
  type Shape,
  statefulSetShape,
} from './shapes.ts';

/** One file of the bundle. */
export interface Part {
  readonly file: string;
  /** `null` with the reason for which it could not be read. */
  readonly objects: readonly unknown[] | null;
  readonly reason: string;
}

/** What an issue report about a rollout needs, without anything that may be secret. */
export async function collect(session: Session, cluster: ClusterRecord): Promise<readonly Part[]> {
  const { namespace, name } = cluster;
  const labelSelector = `${createdByLabel}=${createdByMoco},${clusterNameLabel}=${name}`;
  const part = async (file: string, shape: Shape, read: () => Promise<readonly (Json | null)[]>): Promise<Part> => {
    try {
      const objects = (await read()).filter((one) => one !== null);
      return { file, objects: objects.map((one) => keep(one, shape)), reason: '' };
    } catch (error) {
      if (error instanceof ApiError && isForbidden(error)) return { file, objects: null, reason: sentenceOf(error) };
      throw error;
    }
  };
  const one = async (kind: ResourceKind): Promise<readonly (Json | null)[]> => [
    await find(session, kind, namespace, name),
  ];
  const list = async (kind: ResourceKind, place: string | null, query = {}): Promise<readonly Json[]> =>
    (await listIfThere(session, kind, place, query)) ?? [];
  return Promise.all([
    part('versions.json', 'all', async () => [await versions(session)]),
    part('mysqlcluster.json', clusterShape, () => one(clusterKind)),
    part('mysqlrollout.json', plainShape, () => one(rolloutKind)),
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

/** The cluster itself, and its StatefulSet and pods, whose names begin with `moco-`. */
const isAbout = (regarding: Json, cluster: string): boolean => {
  const name = text(regarding['name']) ?? '';
  return name === cluster || name === `moco-${cluster}` || new RegExp(`^moco-${cluster}-\\d+$`).test(name);
};

async function versions({ client, signal }: Session): Promise<Json> {
  return { plugin: manifest.version, kubernetes: await kubernetesVersion(client, signal) };
}
