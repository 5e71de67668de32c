import { expect } from 'chai';
import { clusterPermissions, leaderElectionPermissions } from '../../src/objects/permissions.ts';
import { readManifests, readOne } from './manifests.ts';
import { rightsOf, rightsOfPermissions } from './rights.ts';

const serviceAccount = { kind: 'ServiceAccount', name: 'moco-rollout', namespace: 'moco-rollout-system' };

describe('the permissions', () => {
  it('in the cluster are those that the code uses, and nothing more', async () => {
    expect(rightsOf([await readOne('ClusterRole', 'rbac')])).to.deep.equal(rightsOfPermissions(clusterPermissions));
  });

  it('for leader election are those of the lease, in the own namespace', async () => {
    const role = await readOne('Role', 'rbac');
    expect(role.metadata.namespace).to.equal(serviceAccount.namespace);
    expect(rightsOf([role])).to.deep.equal(rightsOfPermissions(leaderElectionPermissions));
    const named = (role['rules'] as readonly { resourceNames?: readonly string[]; verbs: readonly string[] }[]).filter(
      ({ resourceNames }) => resourceNames !== undefined,
    );
    expect(named.map(({ resourceNames, verbs }) => [resourceNames, verbs])).to.deep.equal([
      [['moco-rollout'], ['get', 'update']],
    ]);
  });

  it('are those of the one ServiceAccount', async () => {
    expect((await readOne('ServiceAccount', 'rbac')).metadata).to.include({
      name: serviceAccount.name,
      namespace: serviceAccount.namespace,
    });
    for (const [binding, role] of [
      [await readOne('ClusterRoleBinding', 'rbac'), await readOne('ClusterRole', 'rbac')],
      [await readOne('RoleBinding', 'rbac'), await readOne('Role', 'rbac')],
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
