import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { controllerRevisions, jobs, podDisruptionBudgets } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { emergencyBackup, recorded, revisionAfter, revisionBefore } from '../../controller/moco-objects.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';

describe('plan', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  it('simulates other settings without writing them', async () => {
    cluster.bench.setting({ paused: true });
    const blocked = await cluster.run('plan', 'test');
    expect(blocked.out).to.contain('blocked  Paused: ').and.to.contain('--assume paused=false');
    const free = await cluster.run('plan', 'test', '--assume', 'paused=false,maxUnavailable=1');
    expect(free.out).to.contain('1. evicting moco-test-2').and.to.contain('1 switchover');
    expect(cluster.server.writes).to.deep.equal([]);
  });

  it('says which annotation keeps members from being updated in place', async () => {
    const template = recorded.statefulSet.spec['template'] as { readonly metadata: object };
    const annotated = { ...template, metadata: { ...template.metadata, annotations: { rollme: 'x7Qz2' } } };
    for (const [name, one] of [
      [revisionBefore, template],
      [revisionAfter, annotated],
    ] as const) {
      cluster.server.create(controllerRevisions, { metadata: { name }, data: { spec: { template: one } } });
    }
    cluster.bench.setting({ inPlace: { mode: 'IfPossible' } });
    cluster.server.change(rolloutKind, 'test', { status: { updatesInPlace: true } });
    expect((await cluster.run('plan', 'test')).out).to.contain(
      'moco-test-2 is updated by another pod: the annotation rollme changes, and inPlace.metadata does not contain it',
    );
  });

  it('shows pinned members', async () => {
    const { out } = await cluster.run('plan', 'test', '--assume', 'pinnedMembers=1+2,paused=false', '-o', 'json');
    const { entries, stopsAt } = JSON.parse(out) as { entries: object[]; stopsAt: { rule: string } };
    expect(entries).to.deep.equal([]);
    expect(stopsAt.rule).to.equal('PrimaryWaitsForPinned');
  });

  for (const rule of ['StageFailing', 'AwaitingStageSlot', 'FleetFailing', 'AwaitingFleetSlot', 'SequenceGone']) {
    it(`names ${rule}, which only the controller knows`, async () => {
      const message = 'chat/orders fails in stage canary';
      const hold = { rule, message, since: '2026-07-01T12:00:00Z' };
      cluster.server.change(rolloutKind, 'test', { status: { phase: 'Waiting', hold } });
      expect((await cluster.run('plan', 'test')).out).to.contain(`before that ${rule}: ${message}`);
    });
  }

  it('checks every budget that selects the members', async () => {
    const selector = { matchLabels: { 'app.kubernetes.io/instance': 'test' } };
    cluster.server.create(podDisruptionBudgets, { metadata: { name: 'other' }, spec: { maxUnavailable: 1, selector } });
    expect((await cluster.run('plan', 'test')).out).to.contain('several PodDisruptionBudgets');
  });

  for (const [name, spec] of [
    ['', { backupPolicyName: 'daily' }],
    [' although the cluster has no backup policy', {}],
  ] as const) {
    it(`waits for the backup that runs${name}`, async () => {
      cluster.server.change(clusterKind, 'test', { spec });
      cluster.server.create(jobs, emergencyBackup);
      expect((await cluster.run('plan', 'test')).out).to.contain('backup Job emergency-backup, which started at ');
    });
  }

  it('continues without forbidden objects, and reports that', async () => {
    cluster.server.change(clusterKind, 'test', { spec: { backupPolicyName: 'daily' } });
    cluster.fault = (request) =>
      /poddisruptionbudgets\?|policies|\/jobs\?|namespaces\/default$/.test(request.path) ? forbidden(request) : null;
    const { status, out } = await cluster.run('plan', 'test');
    expect(status).to.equal(0);
    expect(out)
      .to.contain('evicting moco-test-2')
      .and.to.contain('may not read them: ')
      .and.to.contain('jobs')
      .and.to.contain('mysqlrolloutpolicies')
      .and.to.contain('poddisruptionbudgets');
  });
});
