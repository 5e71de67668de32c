import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { type Json, object, objects } from '../../base/json.ts';
import { UsageError } from '../../failure.ts';
import { ApiError, isForbidden, isMissing } from '../../kube/api-error.ts';
import { pagesOf } from '../../kube/list-watch.ts';
import type { ResourceKind } from '../../kube/resource.ts';
import { clusterKind, statefulSetName } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { CommandError, didYouMean } from '../command-error.ts';
import type { Session } from './session.ts';

// Finds and lists the objects that commands act on. Errors suggest what the user may have meant.

const pageSize = 500;

/**
 * Lists all objects of a kind, page by page. The managedFields are left out, because they make up half of a
 * MySQLRollout. Rejects with `ApiError`.
 */
export const listAll = (
  session: Pick<Session, 'client'>,
  kind: ResourceKind,
  namespace: string | null,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Json[]> => listEach(session, kind, namespace, query, withoutManagedFields);

/** Like `listAll`, but returns the result of `use` for each object. */
export async function listEach<One>(
  { client }: Pick<Session, 'client'>,
  kind: ResourceKind,
  namespace: string | null,
  query: Readonly<Record<string, string>>,
  use: (raw: Json) => One,
): Promise<readonly One[]> {
  const found: One[] = [];
  const list = { kind, namespace: namespace ?? undefined };
  for await (const { items } of pagesOf(client, list, pageSize, { query, priority: 'read' })) {
    for (const item of objects(items)) found.push(use(item));
  }
  return found;
}

function withoutManagedFields(raw: Json): Json {
  const { managedFields: _, ...metadata } = object(raw['metadata']);
  return { ...raw, metadata };
}

/** `namespace/name` of an object. */
export function keyIn({ metadata }: Json): string {
  const { namespace, name } = object(metadata);
  return `${String(namespace)}/${String(name)}`;
}

/** Like `listAll`, but resolves to an empty list if the kind does not exist. */
export const listOrNothing = (
  session: Pick<Session, 'client'>,
  kind: ResourceKind,
  namespace: string | null,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly Json[]> => listEachOrNothing(session, kind, namespace, query, withoutManagedFields);

/** Like `listEach`, but resolves to an empty list if the kind does not exist. */
export const listEachOrNothing = async <One>(
  ...parameters: Parameters<typeof listEach<One>>
): Promise<readonly One[]> => (await ifThere(listEach(...parameters))) ?? [];

/** Resolves to `null` if the kind or the object does not exist. */
export const ifThere = <Answer>(answer: Promise<Answer>): Promise<Answer | null> => unless(isMissing, answer);

/** Resolves to `null` if the user may not read the object. */
export const ifAllowed = <Answer>(answer: Promise<Answer>): Promise<Answer | null> => unless(isForbidden, answer);

/** Resolves to `null` if the API server refuses the request for any reason. */
export const unlessRefused = <Answer>(answer: Promise<Answer>): Promise<Answer | null> =>
  unless((error) => error instanceof ApiError && error.status !== 0, answer);

const unless = <Answer>(isExpected: (error: unknown) => boolean, answer: Promise<Answer>): Promise<Answer | null> =>
  answer.catch((error: unknown) => {
    if (isExpected(error)) return null;
    throw error;
  });

/** Reads one object, or `null` if it or its kind does not exist. Rejects with `ApiError`. */
export const find = (
  { api }: Pick<Session, 'api'>,
  kind: ResourceKind,
  namespace: string | null,
  name: string,
): Promise<Json | null> => api.read(kind, namespace === null ? { name } : { namespace, name }, 'read');

/** The MySQLRollout of a cluster; `null` if there is none. Rejects with `ApiError`. */
export async function rolloutOf(
  session: Pick<Session, 'api'>,
  { namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>,
): Promise<MySQLRollout | null> {
  return (await find(session, rolloutKind, namespace, name)) as MySQLRollout | null;
}

/** The MySQLClusters that a label selector selects in a namespace; `null` stands for all namespaces. */
export async function clustersIn(
  session: Session,
  namespace: string | null,
  labelSelector?: string,
): Promise<readonly ClusterRecord[]> {
  const clusters = await clustersIfThere(session, namespace, labelSelector);
  if (clusters !== null) return clusters;
  throw new CommandError(`there is no kind ${clusterKind.kind} on ${session.server}: is MOCO installed?`);
}

/** Like `clustersIn`, but `null` if MOCO's kind does not exist. */
export async function clustersIfThere(
  session: Session,
  namespace: string | null,
  labelSelector?: string,
): Promise<readonly ClusterRecord[] | null> {
  const query = labelSelector === undefined ? {} : { labelSelector };
  const found = await ifThere(listAll(session, clusterKind, namespace, query));
  return found && found.map(projectCluster).filter((cluster) => cluster !== null);
}

/**
 * The MySQLCluster with that name. If there is none, throws `CommandError` with a suggestion: a different namespace, or
 * a similar name.
 */
export async function clusterNamed(session: Session, name: string): Promise<ClusterRecord> {
  const { namespace } = session;
  if (namespace === null) throw new UsageError('expected either a name or -A, got both');
  // A string that is not a valid object name could change the path of a request.
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    throw new CommandError(`${resource} "${name}" not found: no object can have this name`);
  }
  const raw = await find(session, clusterKind, namespace, name);
  const cluster = raw && projectCluster(raw);
  if (cluster) return cluster;
  throw new CommandError(await whereElse(session, namespace, name));
}

const resource = `${clusterKind.plural}.${clusterKind.group}`;

async function whereElse(session: Session, namespace: string, name: string): Promise<string> {
  const here = (await clustersIn(session, namespace)).map((cluster) => cluster.name);
  const missing = `${resource} "${name}" not found in namespace ${namespace}`;
  const nearby = didYouMean(name, here);
  if (nearby !== '') return `${missing}${nearby}`;
  const elsewhere = ((await ifAllowed(clustersIn(session, null))) ?? []).filter((cluster) => cluster.name === name);
  if (elsewhere.length > 0) {
    const where = elsewhere.map((cluster) => cluster.namespace).toSorted();
    return `${missing}; there is one in ${where.join(', ')}: use -n ${where[0]}`;
  }
  return here.length === 0 ? `${missing}, which has no MySQLCluster` : missing;
}

export type NamedMember = Awaited<ReturnType<typeof memberNamed>>;

/** Finds a member by the name of its pod, such as `moco-test-2`. */
export async function memberNamed(session: Session, pod: string) {
  const dash = pod.lastIndexOf('-');
  const [prefix, ordinal] = [statefulSetName(''), pod.slice(dash + 1)];
  const name = pod.slice(prefix.length, dash);
  if (!pod.startsWith(prefix) || name === '' || !/^(0|[1-9]\d*)$/.test(ordinal)) {
    throw new UsageError(`expected the name of a member's pod such as ${statefulSetName('test')}-2, got \`${pod}\``);
  }
  const cluster = await clusterNamed(session, name);
  if (Number(ordinal) >= cluster.replicas) {
    const members = `${cluster.replicas} members, the last of them ${statefulSetName(name)}-${cluster.replicas - 1}`;
    throw new CommandError(`pods "${pod}" not found: ${name} has ${members}`);
  }
  return { cluster, ordinal: Number(ordinal), name: pod };
}
