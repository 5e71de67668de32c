import { expect } from 'chai';
import { type Manifest, readManifests, readOne } from './manifests.ts';
import { clusterPermissions, leaderElectionPermissions, type Permission } from './permissions.ts';

interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const serviceAccount = { kind: 'ServiceAccount', name: 'moco-rollout', namespace: 'moco-rollout-system' };

describe('the permissions', () => {
  it('in the cluster are those that the code uses, and nothing more', async () => {
    expect(granted(await readOne('ClusterRole', 'rbac'))).to.deep.equal(wanted(clusterPermissions));
  });

  it('for leader election are those of the lease, in the own namespace', async () => {
    const role = await readOne('Role');
    expect(role.metadata.namespace).to.equal(serviceAccount.namespace);
    expect(granted(role)).to.deep.equal(wanted(leaderElectionPermissions));
  });

  it('are those of the one ServiceAccount', async () => {
    expect((await readOne('ServiceAccount')).metadata).to.include({
      name: serviceAccount.name,
      namespace: serviceAccount.namespace,
    });
    for (const [binding, role] of [
      [await readOne('ClusterRoleBinding'), await readOne('ClusterRole', 'rbac')],
      [await readOne('RoleBinding'), await readOne('Role')],
    ] as const) {
      expect(binding.metadata.namespace).to.equal(role.metadata.namespace);
      expect(binding['subjects']).to.deep.equal([serviceAccount]);
      expect(binding['roleRef']).to.deep.equal({
        apiGroup: 'rbac.authorization.k8s.io',
        kind: role.kind,
        name: role.metadata.name,
      });
    }
  });

  it('name no wildcard', async () => {
    const roles = (await readManifests('rbac')).filter(({ kind }) => kind.endsWith('Role'));
    expect(roles).to.have.length(2);
    expect(JSON.stringify(roles)).not.to.contain('*');
  });
});

function granted(role: Manifest): readonly string[] {
  const rules = role['rules'] as readonly PolicyRule[];
  return rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => sentence(verb, group, resource))),
      ),
    )
    .sort();
}

function wanted(permissions: readonly Permission[]): readonly string[] {
  return permissions
    .flatMap(({ group, resource, verbs }) => verbs.map((verb) => sentence(verb, group, resource)))
    .sort();
}

function sentence(verb: string, group: string, resource: string): string {
  return `${verb} ${group}/${resource}`;
}
