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

  describe('and then, in a namespace,', () => {
    const overrides = [{ rule: 'BackupRunning', until: '2026-01-02T03:04:05Z', reason: 'none is needed today' }];
    const enforced = { paused: true };
    const refused = /the verb enforce .* which olga has not; ClusterRole moco-rollout-enforcer has it/;

    before(async () => {
      for (const [person, role] of Object.entries({ vera: 'view', ed: 'edit', ada: 'admin' })) await bind(person, role);
      await bind('otto', 'moco-rollout-operator');
      for (const [person, role] of Object.entries({ olga: 'operator', emma: 'enforcer' })) {
        const of = [`--clusterrole=moco-rollout-${role}`, `--user=${person}`];
        await controlPlane.kubectl('create', 'clusterrolebinding', person, ...of);
      }
      const inForce = async () =>
        (await may('vera', 'list')) &&
        (await may('ed', 'create')) &&
        (await setting('ed', 'first', { overrides }, '--dry-run=server')) !== '' &&
        (await policyOf('olga', 'first', { enforced }, '--dry-run=server')) !== '';
      await until('the roles are aggregated and the policies are in force', inForce);
    });

    it('let viewers read rollouts and policies, and editors write rollouts', async () => {
      expect(await may('vera', 'watch')).to.equal(true);
      expect(await may('vera', 'patch')).to.equal(false);
      for (const person of ['ed', 'ada', 'otto']) expect(await may(person, 'patch'), person).to.equal(true);
      for (const person of ['vera', 'ed', 'ada']) expect(await may(person, 'approve'), person).to.equal(false);
      for (const verb of ['approve', 'override']) expect(await may('otto', verb), verb).to.equal(true);
    });

    it('let only users with the rights approve and override change these two, in new and existing objects', async () => {
      for (const person of ['ed', 'ada']) {
        expect(await setting(person, person, { paused: true })).to.equal('');
        expect(await setting(person, person, { paused: false, approvedRevision: 'moco-test-1' })).to.match(
          new RegExp(`approvedRevision .* the verb approve .* in namespace default, which ${person} has not`),
        );
        expect(await setting(person, `${person}-new`, { overrides })).to.match(/overrides .* the verb override/);
      }
      expect(await setting('otto', 'ed', { paused: false, approvedRevision: 'moco-test-1', overrides })).to.equal('');
      expect(await setting('otto', 'new', { approvedRevision: 'moco-test-1', overrides })).to.equal('');
    });

    it('let other users neither set nor remove an approval, and end overrides but not begin one', async () => {
      const kept = { approvedRevision: 'moco-test-1', overrides };
      expect(await setting('ed', 'ed', { paused: true, ...kept })).to.equal('');
      expect(await setting('ed', 'ed', { paused: true, overrides })).to.contain('spec.approvedRevision');
      expect(await setting('ed', 'ed', { paused: true, approvedRevision: 'moco-test-1' })).to.equal('');
      expect(await setting('ed', 'ed', { paused: true, ...kept })).to.contain('spec.overrides');
    });

    it('let only users with the right enforce write, change and delete policies with enforced settings', async () => {
      expect(await policyOf('olga', 'freeze', { enforced })).to.match(refused);
      expect(await policyOf('emma', 'freeze', { enforced })).to.equal('');
      expect(await policyOf('olga', 'freeze', { enforced: { paused: false } })).to.match(refused);
      expect(await policyOf('olga', 'freeze', { enforced, selector: { matchLabels: { a: 'b' } } })).to.match(refused);
      expect(await policyOf('olga', 'freeze', { settings: { paused: true } })).to.match(refused);
      expect(await asked('olga', 'delete', 'mysqlrolloutpolicy', 'freeze')).to.match(refused);
      expect(await asked('olga', 'delete', 'mysqlrolloutpolicies', '--all')).to.match(refused);
      expect(await asked('olga', 'label', 'mysqlrolloutpolicy', 'freeze', 'a=b')).to.equal('');
      expect(await policyOf('emma', 'freeze', { enforced: { paused: false } })).to.equal('');
      expect(await asked('emma', 'delete', 'mysqlrolloutpolicy', 'freeze')).to.equal('');
    });

    it('let operators write, change and delete all other policies, without enforcing anything by them', async () => {
      expect(await policyOf('olga', 'usual', { settings: { paused: true } })).to.equal('');
      expect(await policyOf('olga', 'usual', { settings: { paused: false } })).to.equal('');
      expect(await policyOf('olga', 'usual', { settings: { paused: false }, enforced })).to.match(refused);
      expect(await asked('olga', 'delete', 'mysqlrolloutpolicy', 'usual')).to.equal('');
    });

    async function bind(person: string, role: string): Promise<void> {
      const of = [`--clusterrole=${role}`, `--user=${person}`, '--namespace=default'];
      await controlPlane.kubectl('create', 'rolebinding', person, ...of);
    }

    /** `auth can-i` exits with 1 for a no. */
    async function may(person: string, verb: string): Promise<boolean> {
      const asked = ['mysqlrollouts.moco-rollout.io', '--namespace=default', `--as=${person}`];
      const answer = await controlPlane.kubectl('auth', 'can-i', verb, ...asked).catch(() => 'no');
      return answer.startsWith('yes');
    }

    /** What the API server says against it; nothing where it takes it. */
    async function setting(person: string, name: string, spec: object, ...more: readonly string[]): Promise<string> {
      return applied(person, 'MySQLRollout', { name, namespace: 'default' }, spec, more);
    }

    async function policyOf(person: string, name: string, spec: object, ...more: readonly string[]): Promise<string> {
      return applied(person, 'MySQLRolloutPolicy', { name }, spec, more);
    }

    async function applied(person: string, kind: string, metadata: object, spec: object, more: readonly string[]) {
      const file = await controlPlane.fileOf({ apiVersion: 'moco-rollout.io/v1alpha1', kind, metadata, spec });
      const flags = ['--server-side', '--force-conflicts', '--field-manager=test'];
      return asked(person, 'apply', ...flags, ...more, '-f', file);
    }

    async function asked(person: string, ...argv: readonly string[]): Promise<string> {
      return controlPlane.kubectl(...argv, `--as=${person}`).then(
        () => '',
        (error: Error) => error.message,
      );
    }
  });
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
