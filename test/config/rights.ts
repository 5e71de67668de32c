import type { AskedRight } from '../../hack/control-plane/audit-rights.ts';
import { type Manifest, readManifests } from './manifests.ts';

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

/** What each role for the ServiceAccount grants, by such names as `ClusterRole moco-rollout-controller`. */
export async function grantedRights(): Promise<ReadonlyMap<string, readonly string[]>> {
  const manifests = (await readManifests()).filter(({ file }) => !file.startsWith('users/'));
  const roles = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  return new Map(roles.map((role) => [`${role.kind} ${role.metadata.name}`, rightsOf([role])]));
}
