import { object, text } from '../../base/json.ts';
import {
  explainRefusedOpening,
  type MysqldFacts,
  parseMysqlVersion,
  replicates,
  seriesOf,
} from '../../core/mysql-versions.ts';
import { versionOnVolume } from '../../core/mysqld-data.ts';
import { counted } from '../../core/sentences.ts';
import { pods, secrets, statefulSets } from '../../kube/resource.ts';
import { nameOf } from '../../kube/store.ts';
import { differentBuilds, explainBuilds } from '../../moco/mysqld-builds.ts';
import { clusterKind, memberSelector } from '../../moco/names.ts';
import { projectSlimPod } from '../../moco/pod-projection.ts';
import { projectStatefulSet } from '../../moco/projections.ts';
import { ownerKey } from '../../objects/cache.ts';
import { find, ifAllowed, keyIn, listEach, listEachOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok, unknown } from './finding.ts';

// Checks whether MySQL supports the versions that clusters run and will run.

/**
 * Checks for combinations that MySQL would refuse: a mysqld that is older or much newer than the mysqld that wrote the
 * data, or a replica of an older series than its source. Also checks for members of one revision that run different
 * builds.
 */
export async function mysqldVersions(session: Session): Promise<Found> {
  const query = { labelSelector: memberSelector };
  const members = await listEach(session, pods, session.namespace, query, projectSlimPod);
  const sets = await listEach(session, statefulSets, session.namespace, query, projectStatefulSet);
  const byCluster = Map.groupBy(
    members.filter((pod) => pod !== null),
    ownerKey,
  );
  const wanted = new Map(sets.flatMap((one) => (one === null ? [] : [[ownerKey(one), one.mysqld] as const])));
  const problems = [...byCluster].flatMap(([cluster, all]) => {
    const mysqld = wanted.get(cluster)?.version?.version;
    const refused = all.flatMap((pod) => {
      const data = versionOnVolume(pod)?.version;
      const why = data === undefined || mysqld === undefined ? null : explainRefusedOpening(data, mysqld);
      return why === null ? [] : [`${pod.namespace}/${pod.name}: ${why}`];
    });
    return [...refused, ...differentBuilds(all).map((one) => `${cluster}: ${explainBuilds(one)}`)];
  });
  const { newer, unread } = await newerSources(session, wanted);
  const all = [...problems, ...newer];
  if (all.length > 0) return failed(all.join('; '));
  if (unread.length > 0) {
    return unknown(
      `these clusters replicate from elsewhere, and their sources are unknown: ${unread.join(', ')}; a replica must not be of an older series than its source, so upgrade these first`,
    );
  }
  const known = [...wanted.values()].filter(({ version }) => version !== null).length;
  return ok(
    known === wanted.size
      ? `MySQL would refuse none of the versions of ${counted(known, 'cluster')}`
      : `MySQL would refuse none of the versions of ${counted(known, 'cluster')}; the images of ${wanted.size - known} others do not say theirs`,
  );
}

/**
 * The field with the host name of the source, in the Secret that `spec.replicationSourceSecretName` names. If the
 * source is a MySQLCluster, the host name is that of its Service (MOCO 0.36).
 */
const hostInSecret = 'HOST';

/**
 * Finds clusters that replicate from a MySQLCluster of a newer series, and clusters with a source of an unknown series.
 */
async function newerSources(session: Session, wanted: ReadonlyMap<string, MysqldFacts>) {
  const replicas = await listEachOrNothing(session, clusterKind, session.namespace, {}, (raw) => ({
    cluster: keyIn(raw),
    namespace: text(object(raw['metadata'])['namespace']) ?? '',
    secret: text(object(raw['spec'])['replicationSourceSecretName']),
  }));
  const newer: string[] = [];
  const unread: string[] = [];
  for (const { cluster, namespace, secret } of replicas) {
    if (secret === null) continue;
    const raw = await ifAllowed(find(session, secrets, namespace, secret));
    const source = raw === null ? null : sourceOf(object(raw['data'])[hostInSecret]);
    const [own, other] = [wanted.get(cluster), source === null ? undefined : wanted.get(source)];
    const [before, after] = [own, other].map((one) => one?.version && parseMysqlVersion(one.version.version));
    if (!before || !after) unread.push(cluster);
    else if (replicates(after, before) === false) {
      newer.push(
        `${cluster} gets MySQL ${seriesOf(before)} and replicates from ${source}, which gets ${seriesOf(after)}: MySQL does not support a replica of an older series than its source, so upgrade ${cluster} first`,
      );
    }
  }
  return { newer, unread };
}

/**
 * The `namespace/name` of a MySQLCluster, from the host name of its Service, such as `moco-orders-primary.shop.svc`.
 */
function sourceOf(encoded: unknown): string | null {
  const host = typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString() : '';
  const [, name, namespace] = /^moco-([a-z0-9-]{1,63})-(?:primary|replica)\.([a-z0-9-]{1,63})(?:\.|$)/.exec(host) ?? [];
  return name === undefined || namespace === undefined ? null : nameOf({ namespace, name });
}
