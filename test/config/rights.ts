import { type Permission, releasePermissions } from '../../src/objects/permissions.ts';
import type { AskedRight } from '../support/control-plane/audit-rights.ts';
import { type Manifest, readManifests } from './manifests.ts';

/** The role of the chart's hook, which its Job has beside the controller's roles. */
export const releaseRoleName = 'moco-rollout-release';

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Such as `create pods/eviction` and `patch statefulsets/status in apps`. */
export function rightOf({ verb, group, resource }: Pick<AskedRight, 'verb' | 'group' | 'resource'>): string {
  return `${verb} ${resource}${group === '' ? '' : ` in ${group}`}`;
}

/** In the order of the alphabet. */
export function rightsOf(roles: readonly Manifest[]): readonly string[] {
  const rules = roles.flatMap((role) => role['rules'] as readonly PolicyRule[]);
  const rights = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => rightOf({ verb, group, resource }))),
    ),
  );
  return [...new Set(rights)].toSorted();
}

/** In the order of the alphabet. */
export function rightsOfPermissions(permissions: readonly Permission[]): readonly string[] {
  return permissions
    .flatMap(({ group, resource, verbs }) => verbs.map((verb) => rightOf({ verb, group, resource })))
    .toSorted();
}

/** What each role for the controller grants, by such names as `ClusterRole moco-rollout-controller`. */
export async function controllerRights(): Promise<ReadonlyMap<string, readonly string[]>> {
  const manifests = (await readManifests()).filter(({ file }) => !file.startsWith('users/'));
  const roles = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return new Map(roles.map((role) => [`${role.kind} ${role.metadata.name}`, rightsOf([role])]));
}

/** What each role for the ServiceAccount grants: the controller's, and that of the chart's hook. */
export async function grantedRights(): Promise<ReadonlyMap<string, readonly string[]>> {
  const release = rightsOfPermissions(releasePermissions);
  return new Map([...(await controllerRights()), [`ClusterRole ${releaseRoleName}`, release]]);
}
