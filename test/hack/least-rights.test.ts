import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { differences } from '../config/least-rights.ts';
import { type AskedRight, leaveRights, readRights } from '../support/control-plane/audit-rights.ts';

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

  it('are those that are granted, all of them used', () => {
    expect(differences(all, granted)).to.deep.equal([]);
  });

  it('are named if one was never used, or only through another role', () => {
    const sentence = `${role} grants \`delete pods\`, and no request in the whole run has used it`;
    expect(differences(all.slice(0, 1), granted)).to.deep.equal([sentence]);
    const byAnother = { ...asked('delete', 'pods'), role: 'ClusterRole cluster-admin' };
    expect(differences([asked('get', 'pods'), byAnother], granted)).to.deep.equal([sentence]);
  });

  it('are used by all roles that grant them, whichever the API server names', () => {
    const both = new Map([...granted, ['ClusterRole moco-rollout-nodes', ['get pods']]]);
    expect(differences(all, both)).to.deep.equal([]);
  });

  it('are named if one was refused that no role grants', () => {
    const refused = asked('list', 'secrets', { role: null });
    const sentence = 'the ServiceAccount asked for `list secrets`, which no role grants';
    expect(differences([...all, refused, refused], granted)).to.deep.equal([sentence]);
    expect(differences([...all, asked('get', 'pods', { role: null })], granted)).to.deep.equal([]);
    expect(differences([...all, { ...refused, user: 'somebody' }], granted)).to.deep.equal([]);
  });
});

describe('the rights in an audit log', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'moco-rollout-rights-test-'));
  });

  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('are listed once each, without those of other users', async () => {
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
    await leaveRights(log, { folder });
    expect(await readRights(folder)).to.deep.equal([
      asked('get', 'pods'),
      asked('get', 'pods/eviction', { role: null }),
      asked('get', 'leases', { user: 'otto', group: 'coordination.k8s.io', name: 'moco-rollout' }),
    ]);
  });

  it('are not recorded unless requested', async () => {
    await leaveRights(join(directory, 'none.log'), { folder: null });
    await leaveRights(undefined, { folder: directory });
    expect(await readRights(directory)).to.deep.equal([]);
  });
});
