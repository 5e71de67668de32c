import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { policyKind } from '../../src/api/rollout-policy.ts';
import type { ExchangeRequest } from '../../src/base/world.ts';
import { commands } from '../../src/cli/run.ts';
import { fails } from './failing-member.ts';
import { type FakeCluster, forbidden, useFakeCluster } from './fake-cluster.ts';

interface Role {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

const bundle = join(tmpdir(), `moco-rollout-bundle-${process.pid}`);

/** One line of each command. */
const lines: Readonly<Record<string, readonly string[]>> = {
  status: ['status', 'test'],
  get: ['get', 'test'],
  sequence: ['sequence'],
  plan: ['plan', 'test'],
  wait: ['wait', 'test', '--timeout', '10ms'],
  explain: ['explain', 'Paused'],
  history: ['history', 'test'],
  undo: ['undo', 'test'],
  report: ['report', 'test'],
  pause: ['pause', 'test'],
  resume: ['resume', 'test'],
  freeze: ['freeze', '--reason', 'a test'],
  unfreeze: ['unfreeze'],
  approve: ['approve', 'test'],
  pin: ['pin', 'moco-test-1', '--reason', 'a test'],
  unpin: ['unpin', 'moco-test-1'],
  restore: ['restore', 'moco-test-2', '--yes'],
  unrestore: ['unrestore', 'moco-test-2'],
  override: ['override', 'test', 'BackupRunning', '--for', '1h', '--reason', 'a test'],
  release: ['release', 'test'],
  adopt: ['adopt', 'test'],
  check: ['check'],
  diagnose: ['diagnose', 'test', '--directory', bundle],
  completion: ['completion'],
};

/** `kubectl exec` into the controller's pod: whatever a command asks the API server there, its ServiceAccount asks. */
describe("commands that need the controller's rights", () => {
  let role: Role;
  let text: string;
  let cluster: FakeCluster;

  before(async () => {
    role = parse(await readFile('config/rbac/role.yaml', 'utf8')) as Role;
    text = await readFile('docs/cli.md', 'utf8');
  });

  useFakeCluster((fresh) => {
    cluster = fresh;
    // So that there is a member to restore.
    fails(cluster);
    // So that there is a freeze to end.
    cluster.server.create(policyKind, { metadata: { name: 'freeze', namespace: undefined }, spec: {} });
    // So that there is a freeze to end.
    cluster.clusterScoped['/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies/freeze'] = {
      metadata: { name: 'freeze', uid: 'freeze', resourceVersion: '1' },
      spec: { enforced: { paused: true } },
    };
    cluster.fault = (request) => (may(request) ? null : forbidden(request));
  });

  after(() => rm(bundle, { recursive: true }));

  function may({ method, path }: ExchangeRequest): boolean {
    const [bare = '', query = ''] = path.split('?');
    const parts = bare.split('/').slice(1);
    const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
    const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
    const [resource = '', name, subresource] = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
    const read = name === undefined ? (query.includes('watch=true') ? 'watch' : 'list') : 'get';
    const wanted = subresource === undefined ? resource : `${resource}/${subresource}`;
    // The policy controller.moco-rollout.io refuses all but the removal of overrides.
    if (method === 'PATCH' && wanted === 'mysqlrollouts') return false;
    return role.rules.some(
      (rule) =>
        rule.apiGroups.includes(group) && rule.resources.includes(wanted) && rule.verbs.includes(verbs[method] ?? read),
    );
  }

  it('are all listed in this test', () => {
    expect(Object.keys(lines)).to.have.members(commands.map(({ name }) => name));
  });

  it('do what docs/cli.md describes, and are refused anything else', async () => {
    const refused: string[] = [];
    for (const [name, line] of Object.entries(lines)) {
      const { err } = await cluster.run(...line);
      if (err.includes('Forbidden')) refused.push(name);
    }
    const [, listed = ''] = /refused there: ([^:]+?)\. /.exec(text.replaceAll('\n', ' ')) ?? [];
    expect([...listed.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)).to.have.members(refused);
  });
});
