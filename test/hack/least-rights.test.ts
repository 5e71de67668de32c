import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AskedRight, leaveRights, readRights } from '../../hack/control-plane/audit-rights.ts';
import { differences } from '../config/least-rights.ts';

const account = 'system:serviceaccount:moco-rollout-system:moco-rollout';
const role = 'ClusterRole moco-rollout-controller';
const reason = `RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "moco-rollout-controller" to ServiceAccount "b/c"`;

function asked(verb: string, resource: string, more: Partial<AskedRight> = {}): AskedRight {
  return { user: account, verb, group: '', resource, name: '', role, ...more };
}

function line(user: string, objectRef: object, decision = 'allow', why = reason): string {
  const annotations = { 'authorization.k8s.io/decision': decision, 'authorization.k8s.io/reason': why };
  return JSON.stringify({ user: { username: user }, verb: 'get', objectRef, annotations });
}

describe('the rights of a whole run', () => {
  const granted = new Map([[role, ['delete pods', 'get pods']]]);
  const all = [asked('get', 'pods'), asked('delete', 'pods')];

  it('are those that are granted, each of them used', () => {
    expect(differences(all, granted)).to.deep.equal([]);
  });

  it('are named where one was never used, by whoever it is that another role allows it', () => {
    const sentence = `${role} grants \`delete pods\`, and nobody in the whole run has used it`;
    expect(differences(all.slice(0, 1), granted)).to.deep.equal([sentence]);
    const byAnother = { ...asked('delete', 'pods'), role: 'ClusterRole cluster-admin' };
    expect(differences([asked('get', 'pods'), byAnother], granted)).to.deep.equal([sentence]);
  });

  it('are named where one was refused that no role grants', () => {
    const refused = asked('list', 'secrets', { role: null });
    const sentence = 'the ServiceAccount asked for `list secrets`, which no role grants';
    expect(differences([...all, refused, refused], granted)).to.deep.equal([sentence]);
    expect(differences([...all, asked('get', 'pods', { role: null })], granted)).to.deep.equal([]);
    expect(differences([...all, { ...refused, user: 'somebody' }], granted)).to.deep.equal([]);
  });
});

describe('what a control plane leaves of its audit log', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-rights-test-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('is each right of ours once, and nothing of others', async () => {
    const log = join(directory, 'audit.log');
    const folder = await mkdtemp(join(directory, 'folder-'));
    const pods = { resource: 'pods', name: 'one' };
    const lease = { resource: 'leases', apiGroup: 'coordination.k8s.io', name: 'moco-rollout' };
    const lines = [
      line(account, pods),
      line(account, { ...pods, name: 'another' }),
      line(account, { resource: 'pods', subresource: 'eviction' }, 'forbid', ''),
      line('otto', lease),
      line(
        'moco-rollout-somebody',
        pods,
        'allow',
        'RBAC: allowed by ClusterRoleBinding "a" of ClusterRole "view" to User "b"',
      ),
      JSON.stringify({ user: { username: account }, verb: 'get', requestURI: '/version' }),
      JSON.stringify({ user: { username: account }, verb: 'get', objectRef: { resource: 'secrets' } }),
    ];
    await writeFile(log, `${lines.join('\n')}\n`);
    await leaveRights(log, folder);
    expect(await readRights(folder)).to.deep.equal([
      asked('get', 'pods'),
      asked('get', 'pods/eviction', { role: null }),
      asked('get', 'leases', { user: 'otto', group: 'coordination.k8s.io', name: 'moco-rollout' }),
    ]);
  });

  it('is nothing where nobody asks for it', async () => {
    await leaveRights(join(directory, 'none.log'), null);
    await leaveRights(undefined, directory);
    expect(await readRights(directory)).to.deep.equal([]);
  });
});
