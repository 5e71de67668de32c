import { rolloutKind } from '../../api/rollout.ts';
import { object, text } from '../../base/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { clusterPermissions, type Permission } from '../../objects/permissions.ts';
import { listEachOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';
import { asController } from './installation.ts';

// Checks the rights of the controller and of the user.

const rightsOf = (permissions: readonly Permission[]): readonly Right[] =>
  permissions
    // Installations without the admission policies deliberately do not grant these rights.
    .filter(({ needsPolicy }) => needsPolicy !== true)
    .map(({ group, resource, verbs }) => [group, resource, verbs]);

/** The rights that the controller needs in every namespace that it manages. */
export const neededByController: readonly Right[] = rightsOf(
  clusterPermissions.filter(({ isOfWholeCluster }) => isOfWholeCluster !== true),
);

/**
 * The rights that the controller needs for objects without a namespace. An installation that manages only some
 * namespaces needs fewer of these rights. The Lease of moco-controller is in one namespace and has its own check
 * (`moco-lease.ts`).
 */
export const neededInWholeCluster: readonly Right[] = rightsOf(
  clusterPermissions.filter(({ isOfWholeCluster, names }) => isOfWholeCluster === true && names === undefined),
);

export const controllerRights = (session: Session): Promise<Found> =>
  asController(session, async (user) => {
    const needed = [...neededByController, ...(session.namespace === null ? neededInWholeCluster : [])];
    const denied = await deniedTo(session, needed, user);
    return denied.length === 0
      ? ok(`${user} has all the rights that it needs ${whereAsked(session)}`)
      : failed(`${user} may not ${denied.join(', ')} ${whereAsked(session)}: apply the roles of this version`);
  });

/**
 * Whether the controller may create the pods that pull images in advance. Without this right, rollouts continue without
 * these pods.
 */
export async function preflight(session: Session): Promise<Found> {
  const namespaces = await listEachOrNothing(session, rolloutKind, session.namespace, {}, ({ metadata, status }) => {
    const { preflight: setting } = object(object(status)['settings']);
    return (object(setting)['value'] ?? 'Never') === 'Never' ? null : text(object(metadata)['namespace']);
  });
  const wanting = [...new Set(namespaces.filter((one) => one !== null))].toSorted();
  if (wanting.length === 0) return ok('no cluster uses it: nodes pull images once a member is replaced');
  return asController(session, async (user) => {
    const needed = [[rolloutKind.group, `${rolloutKind.plural}/preflight`, ['create']]] as const;
    const denied = await Promise.all(
      wanting.map(async (namespace) => (await deniedTo({ ...session, namespace }, needed, user)).length > 0),
    );
    const without = wanting.filter((_, index) => denied[index]);
    return without.length === 0
      ? ok(`${user} may have images fetched in ${wanting.join(', ')}`)
      : failed(
          `${user} may not create ${rolloutKind.plural}/preflight in ${without.join(', ')}: apply config/preflight there, or set preflight to Never`,
        );
  });
}

/** The rights that a command needs. A RoleBinding cannot grant rights in all namespaces. */
interface Needy {
  readonly name: string;
  readonly rights?: readonly Right[];
  readonly rightsEverywhere?: readonly Right[];
}

/**
 * Checks which commands the caller has the rights to use. The check fails only if the rights for `status` are missing.
 */
export async function ownRights(session: Session, commands: readonly Needy[]): Promise<Found> {
  const lacking = [
    ...(await lackingOf(session, commands, 'rights')),
    ...(await lackingOf({ ...session, namespace: null }, commands, 'rightsEverywhere')),
  ];
  if (lacking.length === 0) return ok(`you may use every command ${whereAsked(session)}`);
  const status = lacking.find(({ name }) => name === 'status');
  if (status !== undefined) return failed(`you may not ${status.missing.join(', ')} ${whereAsked(session)}`);
  const without = [...Map.groupBy(lacking, ({ missing }) => missing.join(', '))].map(
    ([missing, alike]) => `${alike.map(({ name }) => name).join(', ')} (${missing})`,
  );
  return ok(`you may use the commands ${whereAsked(session)}, but not ${without.join('; ')}`);
}

/**
 * The commands that need more rights than the caller has in the namespace of the session, each with the missing rights.
 */
async function lackingOf(session: Session, commands: readonly Needy[], needed: 'rights' | 'rightsEverywhere') {
  const neededBy = (command: Needy): readonly Right[] => command[needed] ?? [];
  const denied = new Set(await deniedTo(session, commands.flatMap(neededBy), null));
  return commands.flatMap((command) => {
    const names = neededBy(command).flatMap(([, resource, verbs]) => verbs.map((verb) => `${verb} ${resource}`));
    const missing = names.filter((right) => denied.has(right));
    return missing.length === 0 ? [] : [{ name: command.name, missing }];
  });
}

export const whereAsked = ({ namespace }: Session): string =>
  namespace === null ? 'in all namespaces' : `in namespace ${namespace}`;

/**
 * The rights that a user lacks, such as `patch pods`; `null` stands for the caller. Each right is checked only once.
 * With `name`, the rights are checked for the object with this name.
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

/** An API group, a resource with its subresource if there is one, and verbs. */
export type Right = readonly [group: string, resource: string, verbs: readonly string[]];

export const onRollouts = (...verbs: readonly string[]): Right => [rolloutKind.group, rolloutKind.plural, verbs];
export const onClusters = (...verbs: readonly string[]): Right => [clusterKind.group, clusterKind.plural, verbs];

/** The rights to find a cluster by name. The right to list is needed to suggest a similar name after a typo. */
export const toLook = [onClusters('get', 'list'), onRollouts('get', 'list')];
/**
 * The rights to read the objects on which a decision is based. If the user may not read budgets, Jobs, claims, nodes or
 * policies, the command continues and says so.
 */
export const toDecide: readonly Right[] = [
  ...toLook,
  ['', 'pods', ['get']],
  ['apps', 'statefulsets', ['get']],
  ['apps', 'controllerrevisions', ['get']],
];
export const toReadRevisions: readonly Right[] = [...toLook, ['apps', 'controllerrevisions', ['list']]];
export const toSet = [...toLook, onRollouts('create', 'patch')];
