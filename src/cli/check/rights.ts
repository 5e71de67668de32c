import { rolloutKind } from '../../api/rollout.ts';
import { policyKind } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { type Json, object, text } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';
import { controllerDeployment, noAccount, podSpecOf } from './installation.ts';

const reading = ['get', 'list', 'watch'];

/** What the controller needs in every namespace that it works in. */
export const neededByController: readonly Right[] = [
  ['', 'pods', [...reading, 'delete', 'patch', 'create']],
  ['', 'pods/eviction', ['create']],
  ['', 'persistentvolumeclaims', ['get']],
  ['apps', 'statefulsets', [...reading, 'patch']],
  ['apps', 'statefulsets/status', ['patch']],
  ['apps', 'controllerrevisions', ['get']],
  ['policy', 'poddisruptionbudgets', reading],
  ['batch', 'jobs', ['list', 'watch']],
  [clusterKind.group, 'mysqlclusters', reading],
  [clusterKind.group, 'mysqlclusters/status', ['update']],
  [rolloutKind.group, 'mysqlrollouts', [...reading, 'create', 'patch']],
  [rolloutKind.group, 'mysqlrollouts/status', ['update']],
  ['events.k8s.io', 'events', ['list', 'create', 'patch']],
];

/** What it needs of objects without a namespace. An installation for some namespaces needs less of them. */
export const neededInWholeCluster: readonly Right[] = [
  [policyKind.group, policyKind.plural, reading],
  [policyKind.group, `${policyKind.plural}/status`, ['update']],
  [sequenceKind.group, sequenceKind.plural, ['list', 'watch']],
  [sequenceKind.group, `${sequenceKind.plural}/status`, ['update']],
  ['', 'namespaces', ['list', 'watch']],
  ['', 'nodes', ['get', 'list']],
  ['', 'persistentvolumes', ['get']],
];

export async function controllerRights(session: Session): Promise<Found> {
  const deployment = await controllerDeployment(session);
  if (deployment === null) return noAccount;
  const user = userOfController(deployment);
  const needed = [...neededByController, ...(session.namespace === null ? neededInWholeCluster : [])];
  const denied = await deniedTo(session, needed, user);
  return denied.length === 0
    ? ok(`${user} has all that it needs ${whereAsked(session)}`)
    : failed(`${user} may not ${denied.join(', ')} ${whereAsked(session)}: apply the roles of this version`);
}

/** As whom the controller sends requests. */
export function userOfController(deployment: Json): string {
  const namespace = text(object(deployment['metadata'])['namespace']) ?? '';
  return `system:serviceaccount:${namespace}:${text(podSpecOf(deployment)['serviceAccountName']) ?? 'default'}`;
}

/** Which commands the caller has the rights for. Only `status` is one that everybody needs. */
export async function ownRights(session: Session): Promise<Found> {
  const lacking = [
    ...(await lackingOf(session, rightsOfCommands)),
    ...(await lackingOf({ ...session, namespace: null }, rightsInAllNamespaces)),
  ];
  if (lacking.length === 0) return ok(`you may use every command ${whereAsked(session)}`);
  const status = lacking.find(({ command }) => command === 'status');
  if (status !== undefined) return failed(`you may not ${status.missing.join(', ')} ${whereAsked(session)}`);
  const without = [...Map.groupBy(lacking, ({ missing }) => missing.join(', '))].map(
    ([missing, alike]) => `${alike.map(({ command }) => command).join(', ')} (${missing})`,
  );
  return ok(`you may use the commands ${whereAsked(session)}, but not ${without.join('; ')}`);
}

/** The commands that the caller lacks rights for in the namespace of the session, and these. */
async function lackingOf(session: Session, rightsOf: typeof rightsOfCommands) {
  const denied = new Set(await deniedTo(session, Object.values(rightsOf).flat(), null));
  return Object.entries(rightsOf).flatMap(([command, rights]) => {
    const names = rights.flatMap(([, resource, verbs]) => verbs.map((verb) => `${verb} ${resource}`));
    const missing = names.filter((right) => denied.has(right));
    return missing.length === 0 ? [] : [{ command, missing }];
  });
}

export const whereAsked = ({ namespace }: Session): string =>
  namespace === null ? 'in all namespaces' : `in namespace ${namespace}`;

/**
 * The rights that a user has not, or that the caller has not with `null`: `patch pods`. Each is asked for once, of one
 * object if it has a `name`.
 */
export async function deniedTo(
  { client, namespace }: Session,
  rights: readonly Right[],
  user: string | null,
  name?: string,
): Promise<readonly string[]> {
  const apiVersion = 'authorization.k8s.io/v1';
  const kind = user === null ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
  const each = rights.flatMap(([group, whole, verbs]) => verbs.map((verb) => [`${verb} ${whole}`, group] as const));
  const answers = [...new Map(each)].map(async ([right, group]) => {
    const [verb, resource, subresource] = right.split(/[ /]/);
    const resourceAttributes = { group, resource, subresource, verb, namespace: namespace ?? '', name };
    const body = { apiVersion, kind, spec: { resourceAttributes, ...(user !== null && { user }) } };
    const call = { method: 'POST', path, body, priority: 'read' } as const;
    const { status } = await client.call<{ status?: { allowed?: boolean } }>(call);
    return status?.allowed === true ? [] : [right];
  });
  return (await Promise.all(answers)).flat();
}

/** A group, a resource with its subresource, and verbs. */
type Right = readonly [group: string, resource: string, verbs: readonly string[]];

const rollouts = (...verbs: readonly string[]): Right => [rolloutKind.group, rolloutKind.plural, verbs];
const clusters = (...verbs: readonly string[]): Right => [clusterKind.group, clusterKind.plural, verbs];

/** Clusters are found by name or listed, and a misspelt name is looked for among the others. */
const lookRights = [clusters('get', 'list'), rollouts('get', 'list')];
const watch = [...lookRights, clusters('watch'), rollouts('watch')];
/** What a decision is made from. Budgets, Jobs, claims, nodes and policies are done without, with a note. */
const decideRights: readonly Right[] = [
  ...lookRights,
  ['', 'pods', ['get']],
  ['apps', 'statefulsets', ['get']],
  ['apps', 'controllerrevisions', ['get']],
];
const revisions: readonly Right[] = [...lookRights, ['apps', 'controllerrevisions', ['list']]];
const set = [...lookRights, rollouts('create', 'patch')];

/** The rights without which a command fails. `check` asks for them; test/cluster/rbac-users.test.ts compares both. */
const rightsOfCommands: Readonly<Record<string, readonly Right[]>> = {
  status: lookRights,
  get: lookRights,
  wait: watch,
  report: lookRights,
  diagnose: lookRights,
  plan: decideRights,
  history: revisions,
  undo: [...revisions, ['apps', 'statefulsets', ['get']]],
  pause: set,
  resume: set,
  pin: set,
  unpin: set,
  approve: [...decideRights, ...set, rollouts('approve')],
  override: [...set, rollouts('override')],
  restore: [...decideRights, ...set],
  unrestore: set,
  release: [
    ...decideRights,
    clusters('patch'),
    [clusterKind.group, `${clusterKind.plural}/status`, ['update']],
    ['apps', 'statefulsets', ['list', 'patch']],
    ['apps', 'statefulsets/status', ['patch']],
    ['', 'pods', ['patch']],
  ],
  adopt: [...lookRights, clusters('patch')],
};

/** The same of commands about all namespaces: a RoleBinding grants nothing of that. */
const rightsInAllNamespaces: Readonly<Record<string, readonly Right[]>> = {
  sequence: [clusters('list'), rollouts('list'), [sequenceKind.group, sequenceKind.plural, ['list']]],
};
