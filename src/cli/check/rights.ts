import { policyKind } from '../../api/policy.ts';
import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/sequence.ts';
import { type Json, object, text } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import type { Session } from '../cluster/session.ts';
import { type Check, failed, ok } from './finding.ts';
import { controllerDeployment } from './versions.ts';

/** A group, a resource with its subresource, and verbs. */
export type Right = readonly [group: string, resource: string, verbs: readonly string[]];

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
  [rolloutKind.group, 'mysqlrollouts', [...reading, 'create']],
  [rolloutKind.group, 'mysqlrollouts/status', ['update']],
  ['events.k8s.io', 'events', ['list', 'create', 'patch']],
];

/** What it needs of objects without a namespace. An installation for some namespaces needs less of them. */
export const neededInWholeCluster: readonly Right[] = [
  [policyKind.group, policyKind.plural, reading],
  [sequenceKind.group, sequenceKind.plural, ['list', 'watch']],
  [sequenceKind.group, `${sequenceKind.plural}/status`, ['update']],
  ['', 'namespaces', ['list', 'watch']],
  ['', 'nodes', ['get', 'list']],
  ['', 'persistentvolumes', ['get']],
];

const neededToRead: readonly Right[] = [
  [clusterKind.group, 'mysqlclusters', ['get', 'list']],
  [rolloutKind.group, 'mysqlrollouts', ['get', 'list']],
];

const usedToChange: readonly Right[] = [
  [rolloutKind.group, 'mysqlrollouts', ['create', 'patch', 'approve', 'override']],
];

export const controllerRights: Check = {
  about: 'rights of the controller',
  find: async (session) => {
    const deployment = await controllerDeployment(session);
    if (deployment === null) return failed('no controller is installed');
    const user = userOfController(deployment);
    const needed = [...neededByController, ...(session.namespace === null ? neededInWholeCluster : [])];
    const denied = await deniedTo(session, needed, user);
    return denied.length === 0
      ? ok(`${user} has all that it needs ${placeOf(session)}`)
      : failed(`${user} may not ${denied.join(', ')} ${placeOf(session)}: apply the roles of this version`);
  },
};

/** As whom the controller sends requests. */
export function userOfController(deployment: Json): string {
  const namespace = text(object(deployment['metadata'])['namespace']) ?? '';
  const pod = object(object(object(deployment['spec'])['template'])['spec']);
  return `system:serviceaccount:${namespace}:${text(pod['serviceAccountName']) ?? 'default'}`;
}

export const ownRights: Check = {
  about: 'your rights',
  find: async (session) => {
    const unreadable = await deniedTo(session, neededToRead, null);
    if (unreadable.length > 0) return failed(`you may not ${unreadable.join(', ')} ${placeOf(session)}`);
    const unchangeable = await deniedTo(session, usedToChange, null);
    return unchangeable.length === 0
      ? ok(`you may read rollouts, change their settings, approve and override ${placeOf(session)}`)
      : ok(`you may read rollouts ${placeOf(session)}, but not ${unchangeable.join(', ')}`);
  },
};

const placeOf = ({ namespace }: Session): string =>
  namespace === null ? 'in all namespaces' : `in namespace ${namespace}`;

/** The rights that a user has not, or that the caller has not with `null`: `patch pods`. */
export async function deniedTo(
  session: Session,
  rights: readonly Right[],
  user: string | null,
): Promise<readonly string[]> {
  const each = rights.flatMap(([group, resource, verbs]) => verbs.map((verb) => ({ group, resource, verb })));
  const answers = await Promise.all(
    each.map(async ({ group, resource: whole, verb }) => {
      const [resource, subresource] = whole.split('/');
      const resourceAttributes = { group, resource, subresource, verb, namespace: session.namespace ?? '' };
      return (await isAllowed(session, { resourceAttributes, ...(user !== null && { user }) }))
        ? []
        : [`${verb} ${whole}`];
    }),
  );
  return answers.flat();
}

interface Review {
  /** The caller if it is left out. */
  readonly user?: string;
  readonly resourceAttributes: object;
}

async function isAllowed({ client, signal }: Session, spec: Review): Promise<boolean> {
  const kind = spec.user === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const { status } = await client.call<{ status?: { allowed?: boolean } }>({
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: { apiVersion: 'authorization.k8s.io/v1', kind, spec },
    priority: 'read',
    signal,
  });
  return status?.allowed === true;
}
