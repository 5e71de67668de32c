import { readFile } from 'node:fs/promises';
import { loadAll } from 'js-yaml';
import { isObject, type Json, object, objects, text } from '../../base/json.ts';
import type { MysqldFacts } from '../../core/mysql-versions.ts';
import { UsageError } from '../../failure.ts';
import { path } from '../../kube/resource.ts';
import { nameOf } from '../../kube/store.ts';
import { mysqldIn } from '../../moco/mysqld-version.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type TemplateDifference, templateDifferences } from '../../moco/template-changes.ts';
import { find } from './clusters.ts';
import type { Session } from './session.ts';

// Finds out by dry runs what a manifest would change, for `plan -f`.

/** What applying a manifest would change in a MySQLCluster. */
export interface ManifestChange {
  /** The changed cluster as it would be after the API server has stored it and MOCO has reconciled it. */
  readonly cluster: ClusterRecord;
  /** The differences in the spec of the MySQLCluster. */
  readonly differences: readonly TemplateDifference[];
  /** Whether MOCO would generate a different pod template after the change. */
  readonly changesTemplate: boolean;
  /** The mysqld images that the MySQLCluster requests before and after the change. */
  readonly mysqld: { readonly before: MysqldFacts; readonly after: MysqldFacts };
}

/** The fields of a MySQLCluster's spec that do not affect the pod template (MOCO 0.36, `reconcileV1StatefulSet`). */
const notInTemplate: ReadonlySet<string> = new Set([
  'replicas',
  'offline',
  'volumeClaimTemplates',
  'primaryServiceTemplate',
  'replicaServiceTemplate',
  'replicationSourceSecretName',
  'backupPolicyName',
  'restore',
  'maxDelaySecondsForPodDeletion',
]);

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Finds out by dry runs what the API server would store for the MySQLClusters in a file of manifests (`-` for standard
 * input). Each dry run uses the field manager that has applied the MySQLCluster before. If there is none, the manifest
 * is merged as by `kubectl apply`. Rejects with `ApiError`.
 */
export async function manifestChanges(session: Session, file: string): Promise<readonly ManifestChange[]> {
  const changes: ManifestChange[] = [];
  for (const manifest of clustersOf(await documentsIn(file))) {
    const { name, namespace = session.namespace } = object(manifest['metadata']);
    const place = { namespace: text(namespace) ?? '', name: text(name) ?? '' };
    if (place.namespace === '' || place.name === '') {
      const got = JSON.stringify(place);
      throw new UsageError(`expected a name and a namespace of every MySQLCluster in ${file}, got ${got}`);
    }
    const live = await find(session, clusterKind, place.namespace, place.name);
    if (live === null) {
      session.host.err(`note: ${nameOf(place)} does not exist yet, so nothing would be rolled out\n`);
      continue;
    }
    const after = await tryManifest(session, place, manifest, live);
    const [before, planned] = [projectCluster(live), projectCluster(after)];
    if (before === null || planned === null) continue;
    const differences = templateDifferences(live['spec'], after['spec']);
    const changesTemplate = differences.some((one) => !notInTemplate.has(/^\w+/.exec(one.path)?.[0] ?? ''));
    const mysqld = { before: mysqldOfCluster(live), after: mysqldOfCluster(after) };
    changes.push({ cluster: { ...planned, generation: before.generation }, differences, changesTemplate, mysqld });
  }
  return changes;
}

const mysqldOfCluster = ({ spec }: Json): MysqldFacts => mysqldIn(object(object(object(spec)['podTemplate'])['spec']));

async function documentsIn(file: string): Promise<readonly unknown[]> {
  try {
    return loadAll(await readFile(file === '-' ? '/dev/stdin' : file, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const came = code === 'ENOENT' ? 'no such file' : (message.split('\n', 1)[0] ?? '');
    throw new UsageError(`expected --filename to be a file of manifests, got \`${file}\`: ${came}`);
  }
}

/** Includes MySQLClusters inside a List. */
const clustersOf = (documents: readonly unknown[]): readonly Json[] =>
  objects(documents).flatMap((document) =>
    document['kind'] === clusterKind.kind && text(document['apiVersion'])?.startsWith(`${clusterKind.group}/`)
      ? [document]
      : clustersOf(objects(document['items'])),
  );

function tryManifest(
  { client }: Session,
  place: { readonly namespace: string; readonly name: string },
  manifest: Json,
  live: Json,
): Promise<Json> {
  const { managedFields, annotations } = object(live['metadata']);
  const applier = objects(managedFields).find(
    ({ operation, fieldsV1 }) => operation === 'Apply' && object(fieldsV1)['f:spec'] !== undefined,
  );
  const version = text(manifest['apiVersion'])?.split('/')[1] ?? clusterKind.version;
  const call = { method: 'PATCH', path: path({ ...clusterKind, version }, place), priority: 'read' } as const;
  if (applier !== undefined) {
    return client.call<Json>({
      ...call,
      query: { dryRun: 'All', force: 'true', fieldManager: text(applier['manager']) ?? '' },
      contentType: 'application/apply-patch+yaml',
      body: { ...manifest, metadata: { ...object(manifest['metadata']), ...place } },
    });
  }
  const before: unknown = JSON.parse(text(object(annotations)[lastApplied]) ?? '{}');
  const { metadata: _, status: _status, ...merged } = object(withRemovals(before, manifest));
  const body = { ...merged, metadata: object(manifest['metadata']) };
  return client.call<Json>({ ...call, query: { dryRun: 'All' }, contentType: 'application/merge-patch+json', body });
}

/** A merge patch from the applied manifest to the new one. It also removes the fields that the new manifest omits. */
function withRemovals(before: unknown, now: unknown): unknown {
  if (!isObject(before) || !isObject(now)) return now === undefined ? null : now;
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return Object.fromEntries([...names].map((name) => [name, withRemovals(before[name], now[name])]));
}
