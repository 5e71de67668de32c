import { join } from 'node:path';
import { expect } from 'chai';
import { configDirectory, type Manifest, nameOf, readManifests } from '../config/manifests.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { kustomize } from './kustomize.ts';

const policy = [
  'MutatingAdmissionPolicy /moco-rollout-statefulset',
  'MutatingAdmissionPolicyBinding /moco-rollout-statefulset',
];
const webhook = ['MutatingWebhookConfiguration /moco-rollout-mutating-webhook-configuration'];
const webhookServer = [
  'Service moco-rollout-system/moco-rollout-webhook',
  'Issuer moco-rollout-system/moco-rollout-self-signed',
  'Issuer moco-rollout-system/moco-rollout-webhook-ca',
  'Certificate moco-rollout-system/moco-rollout-webhook-ca',
  'Certificate moco-rollout-system/moco-rollout-webhook',
];

describe('the API server and the manifests', () => {
  let controlPlane: ControlPlane;
  let built: readonly Manifest[];

  before(async () => {
    controlPlane = await startControlPlane({ audit: false });
    built = await kustomize(controlPlane, 'default');
  });

  after(() => controlPlane?.stop());

  it('build with kustomize into all objects of the directories', async () => {
    const options =
      /^(samples|webhook|webhook-server|partition-driver|prometheus|gitops|in-place|replication-facts|preflight|eviction-requests)\//;
    const held = (await readManifests()).filter(({ file }) => !options.test(file)).map(nameOf);
    expect(built.map(nameOf)).to.have.members([...new Set(held)]);
  });

  it('build for Kubernetes before 1.36 with a webhook instead of the policy, and nothing else changed', async () => {
    const older = await kustomize(controlPlane, 'kubernetes-before-1.36');
    expect(added(older, built)).to.have.members(policy);
    expect(added(built, older)).to.have.members([...webhookServer, ...webhook]);
    expect(changed(built, older)).to.have.members([
      'Deployment moco-rollout-system/moco-rollout-controller',
      'NetworkPolicy moco-rollout-system/moco-rollout-controller',
    ]);
  });

  it('build with the component for updates in place into rights to nodes and to resizes', async () => {
    const inPlace = await kustomize(controlPlane, { resources: ['default'], components: ['in-place'] });
    expect(added(built, inPlace)).to.have.members([
      'ClusterRole /moco-rollout-nodes',
      'ClusterRoleBinding /moco-rollout-nodes',
    ]);
    expect(changed(inPlace, built)).to.deep.equal(['ClusterRole /moco-rollout-controller']);
  });

  it('build with the component for EvictionRequests into a policy for new pods and rights to Evictions', async () => {
    const withRequests = await kustomize(controlPlane, { resources: ['default'], components: ['eviction-requests'] });
    expect(added(built, withRequests)).to.have.members([
      'MutatingAdmissionPolicy /moco-rollout-eviction-responder',
      'MutatingAdmissionPolicyBinding /moco-rollout-eviction-responder',
    ]);
    expect(changed(withRequests, built)).to.deep.equal(['ClusterRole /moco-rollout-controller']);
  });

  it('build with the component for partitions into one more webhook and its Service', async () => {
    const overlay = { resources: ['default'], components: ['webhook-server', 'partition-driver'] };
    expect(added(built, await kustomize(controlPlane, overlay))).to.have.members([
      ...webhookServer,
      'MutatingWebhookConfiguration /moco-rollout-partition-webhook-configuration',
    ]);
  });

  it('build for another namespace as for their own', async () => {
    const overlay = { resources: ['kubernetes-before-1.36'], components: ['partition-driver'] };
    const there = { ...overlay, namespace: 'databases', transformers: ['namespace'] };
    const moved = await kustomize(controlPlane, there);
    const own = JSON.stringify(await kustomize(controlPlane, overlay)).replaceAll('moco-rollout-system', 'databases');
    const sorted = (objects: readonly Manifest[]): readonly Manifest[] =>
      objects.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    expect(sorted(moved)).to.deep.equal(sorted(JSON.parse(own) as readonly Manifest[]));
    expect(JSON.stringify(moved)).to.contain('system:serviceaccount:databases:moco-rollout');
  });

  it('are all accepted with strict validation', async () => {
    const file = await controlPlane.fileOf(...built);
    const applied = await controlPlane.kubectl('apply', '--server-side', '--validate=strict', '-o', 'name', '-f', file);
    expect(applied.trim().split('\n')).to.have.length(built.length);
  });

  const directories = ['crd', 'rbac', 'users', 'admission-policy', 'webhook', 'partition-driver', 'manager', 'samples'];

  it('are accepted directory by directory as well, once their namespace exists', async () => {
    for (const directory of directories) {
      const path = join(configDirectory, directory);
      const applied = await controlPlane.kubectl('apply', '--server-side', '-o', 'name', '-f', path);
      const held = await readManifests(directory);
      expect(applied.trim().split('\n'), directory).to.have.length(held.length);
    }
  });

  // What else the roles allow: rbac-users.test.ts, and what the policies take more rights for: settings-policy.test.ts.
  it('and then let viewers read rollouts and policies, editors write rollouts, and operators approve and override', async () => {
    const people = { vera: 'view', ed: 'edit', ada: 'admin', otto: 'moco-rollout-operator' };
    for (const [person, role] of Object.entries(people)) {
      const of = [`--clusterrole=${role}`, `--user=${person}`, '--namespace=default'];
      await controlPlane.kubectl('create', 'rolebinding', person, ...of);
    }
    await until('the roles are aggregated', async () => (await may('vera', 'list')) && (await may('ada', 'create')));
    expect(await may('vera', 'watch')).to.equal(true);
    expect(await may('vera', 'patch')).to.equal(false);
    for (const person of ['ed', 'ada', 'otto']) expect(await may(person, 'patch'), person).to.equal(true);
    for (const person of ['vera', 'ed', 'ada']) expect(await may(person, 'approve'), person).to.equal(false);
    for (const verb of ['approve', 'override']) expect(await may('otto', verb), verb).to.equal(true);
  });

  /** `auth can-i` exits with 1 for a no. */
  async function may(person: string, verb: string): Promise<boolean> {
    const asked = ['mysqlrollouts.moco-rollout.io', '--namespace=default', `--as=${person}`];
    const answer = await controlPlane.kubectl('auth', 'can-i', verb, ...asked).catch(() => 'no');
    return answer.startsWith('yes');
  }
});

/** The names of what is in the second and not in the first. */
function added(first: readonly Manifest[], second: readonly Manifest[]): readonly string[] {
  const names = first.map(nameOf);
  return second.map(nameOf).filter((name) => !names.includes(name));
}

/** The names of what is in both, and not the same. */
function changed(first: readonly Manifest[], second: readonly Manifest[]): readonly string[] {
  const texts = new Map(first.map((manifest) => [nameOf(manifest), JSON.stringify(manifest)]));
  return second
    .filter((manifest) => (texts.get(nameOf(manifest)) ?? JSON.stringify(manifest)) !== JSON.stringify(manifest))
    .map(nameOf);
}
