import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { volumeWarning } from '../../src/cli/terminal/view.ts';
import { path } from '../../src/kube/resource.ts';
import { cli, type Ended } from './cli-program.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

describe('settings from the command line, on a real control plane', () => {
  const { scenario, stage } = useRollouts();

  function run(cluster: RolloutCluster, ...argv: readonly string[]): Promise<Ended> {
    return cli(stage().controlPlane.adminKubeconfig, [...argv, '-n', cluster.namespace]);
  }

  async function done(cluster: RolloutCluster, ...argv: readonly string[]): Promise<string> {
    const { status, out, err } = await run(cluster, ...argv);
    // Those that let a rollout rest warn of volumes.
    const warning = argv[0] === 'pause' || argv[0] === 'pin' ? `${volumeWarning}\n` : '';
    expect({ status, err }, argv.join(' ')).to.deep.equal({ status: 0, err: warning });
    return out;
  }

  /** Somebody else writes a setting, as a tool that applies what is in git. */
  async function applyAs(cluster: RolloutCluster, manager: string, spec: object): Promise<void> {
    await stage().client.call<MySQLRollout>({
      method: 'PATCH',
      path: path(rolloutKind, { namespace: cluster.namespace, name: cluster.name }),
      query: { fieldManager: manager, force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', metadata: { name: cluster.name }, spec },
      priority: 'disrupt',
    });
  }

  const specOf = (cluster: RolloutCluster): Promise<MySQLRollout['spec']> =>
    stage()
      .client.get<MySQLRollout>(rolloutKind, { namespace: cluster.namespace, name: cluster.name }, { priority: 'read' })
      .then(({ spec }) => spec);

  scenario('pause and resume leave nothing behind', {}, async (cluster) => {
    await done(cluster, 'pause', 'x', '--repair');
    const pause = { by: 'admin' };
    expect(await specOf(cluster)).to.deep.equal({ pause, paused: true, repairWhilePaused: true });
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the new revision is held', ({ rollout }) => {
      return rollout?.status?.updatedReplicas === 0 && rollout.status.hold?.rule === 'Paused';
    });
    expect(await done(cluster, 'plan', 'x')).to.contain('blocked  Paused');
    await done(cluster, 'pause', 'x');
    expect(await specOf(cluster)).to.deep.equal({ pause, paused: true });
    await done(cluster, 'resume', 'x');
    expect((await specOf(cluster)) ?? {}).to.deep.equal({});
    const waited = await run(cluster, 'wait', 'x', '--timeout=8m');
    expect(waited).to.include({ status: 0, out: `${cluster.namespace}/x: complete\n` });
    await cluster.completes();
  });

  scenario('commands name the owner of a field that they may not take, and where to change it', {}, async (cluster) => {
    await applyAs(cluster, 'kustomize-controller', { paused: false, pinnedMembers: [{ ordinal: 1, reason: 'git' }] });
    const pause = await run(cluster, 'pause', 'x');
    expect(pause.status).to.equal(1);
    expect(pause.err)
      .to.contain('`kustomize-controller` owns spec.paused of the MySQLRollout')
      .and.to.contain('the repository that Flux applies');
    const unpin = await run(cluster, 'unpin', 'moco-x-1');
    expect(unpin.status).to.equal(1);
    expect(unpin.err).to.contain('moco-x-1 is still pinned').and.to.contain('`kustomize-controller`');
    await applyAs(cluster, 'kustomize-controller', { paused: true });
    const resume = await run(cluster, 'resume', 'x');
    expect(resume.status).to.equal(1);
    expect(resume.err).to.contain('x is still paused').and.to.contain('`kustomize-controller`');
  });

  scenario('pin, unpin and override keep the entries of each other and of other managers', {}, async (cluster) => {
    await applyAs(cluster, 'argocd-controller', { pinnedMembers: [{ ordinal: 0, reason: 'git' }] });
    await done(cluster, 'pin', 'moco-x-2', '--reason', 'a look at it');
    await done(cluster, 'pin', 'pod/moco-x-1', '--reason', 'another one');
    const pinned = async (): Promise<readonly number[]> =>
      ((await specOf(cluster))?.pinnedMembers ?? [])
        .map(({ ordinal }) => ordinal)
        .toSorted((one, other) => one - other);
    expect(await pinned()).to.deep.equal([0, 1, 2]);
    await done(cluster, 'unpin', 'moco-x-2');
    expect(await pinned()).to.deep.equal([0, 1]);
    await done(cluster, 'override', 'x', 'backuprunning', '--for', '30m', '--reason', 'known to be harmless');
    await done(cluster, 'override', 'x', 'ForeignDemote', '--for', '1h', '--reason', 'looked at');
    const overridden = async (): Promise<readonly string[]> =>
      ((await specOf(cluster))?.overrides ?? []).map(({ rule }) => rule).toSorted();
    expect(await overridden()).to.deep.equal(['BackupRunning', 'ForeignDemote']);
    await done(cluster, 'override', 'x', 'BackupRunning', '--clear');
    expect(await overridden()).to.deep.equal(['ForeignDemote']);
    expect(await pinned()).to.deep.equal([0, 1]);
  });

  scenario('unrestore leaves nothing behind, and takes nothing from another manager', {}, async (cluster) => {
    const restore = { revision: 'moco-x-1', members: [1, 2] };
    await applyAs(cluster, 'moco-rollout-cli-restore', { restore });
    await done(cluster, 'unrestore', 'moco-x-1');
    expect((await specOf(cluster))?.restore).to.deep.equal({ revision: 'moco-x-1', members: [2] });
    await done(cluster, 'unrestore', 'moco-x-2');
    expect((await specOf(cluster)) ?? {}).to.deep.equal({});
    await applyAs(cluster, 'kustomize-controller', { restore });
    const unrestore = await run(cluster, 'unrestore', 'moco-x-2');
    expect(unrestore.status).to.equal(1);
    expect(unrestore.err).to.contain('moco-x-2 is still to be restored').and.to.contain('`kustomize-controller`');
    const refused = await run(cluster, 'restore', 'moco-x-2', '--yes');
    expect([refused.status, refused.out]).to.deep.equal([1, '']);
    expect(refused.err).to.match(/moco-x-2 participates at revision \S+: its mysqld may have upgraded its data/);
  });
});
