import { releasePermissions } from '../config/permissions.ts';
import { releaseRoleName } from '../config/rights.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';

/** Grants the controller's ServiceAccount what templates/release-role.yaml of the Helm chart grants. */
export async function mayRelease(controlPlane: ControlPlane): Promise<void> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: releaseRoleName };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: releaseRoleName };
  const subjects = [{ kind: 'ServiceAccount', name: 'moco-rollout', namespace: 'moco-rollout-system' }];
  const rules = releasePermissions.map(({ group, resource, verbs }) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
  }));
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules };
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects };
  await controlPlane.apply(await controlPlane.fileOf(role, binding));
}
