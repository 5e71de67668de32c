import { explainAltered } from '../../core/sentences.ts';
import { statefulSets } from '../../kube/resource.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { memberSelector, projectCluster, projectStatefulSet } from '../../moco/projections.ts';
import { listAll, listEach } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Check, failed, ok } from './finding.ts';

interface Altered {
  /** The MySQLCluster with its namespace, and what the API server does with its fields. */
  readonly sentence: string;
  readonly adopted: boolean;
}

/**
 * MySQLClusters of which MOCO writes the StatefulSet several times a second, unless it is adopted (cybozu-go/moco#782).
 */
export const manifests: Check = {
  about: 'manifests',
  find: async (session) => {
    const clusters = await clustersByName(session);
    const altered = (
      await listEach(session, statefulSets, session.namespace, { labelSelector: memberSelector }, (raw) =>
        alteredIn(raw, clusters),
      )
    ).filter((one) => one !== null);
    const left = altered.filter(({ adopted }) => !adopted);
    if (left.length > 0) {
      return failed(
        `MOCO writes the StatefulSets of these several times a second, and may restart a member many times in a rollout: ${sentencesOf(left)}; correct these fields, or adopt the clusters`,
      );
    }
    return ok(
      altered.length === 0
        ? `MOCO leaves the StatefulSets of ${clusters.size} clusters alone while nothing changes`
        : `MOCO would write the StatefulSets of these several times a second if they were released: ${sentencesOf(altered)}`,
    );
  },
};

const sentencesOf = (altered: readonly Altered[]): string => altered.map(({ sentence }) => sentence).join('; ');

async function clustersByName(session: Session): Promise<ReadonlyMap<string, Json>> {
  const clusters = await listAll(session, clusterKind, session.namespace);
  return new Map(
    clusters.flatMap((raw) => {
      const cluster = projectCluster(raw);
      return cluster === null ? [] : [[`${cluster.namespace}/${cluster.name}`, raw] as const];
    }),
  );
}

function alteredIn(raw: Json, clusters: ReadonlyMap<string, Json>): Altered | null {
  const statefulSet = projectStatefulSet(raw);
  if (statefulSet === null) return null;
  const name = `${statefulSet.namespace}/${statefulSet.clusterName}`;
  const cluster = clusters.get(name);
  const fields = cluster === undefined ? [] : alteredFields(cluster, raw);
  if (fields.length === 0) return null;
  return { sentence: `${name}: the API server ${explainAltered(fields)}`, adopted: statefulSet.labelled };
}
