import { expect } from 'chai';
import { volumeWarning } from '../../src/cli/terminal/view.ts';
import { answer, status } from '../kube/fake-world.ts';
import { type FakeCluster, forbidden, notFound, useFakeCluster } from './fake-cluster.ts';
import { phases } from './phases.ts';

const verbs: Readonly<Record<string, readonly string[]>> = {
  pause: ['pause', 'test'],
  approve: ['approve', 'test'],
  pin: ['pin', 'moco-test-1', '--reason', 'a look'],
  override: ['override', 'test', 'BackupRunning', '--for', '30m', '--reason', 'known'],
};

/** As Kubernetes 1.35 answers an apply of a field that another manager owns. */
const conflict = (manager: string, field: string): ReturnType<typeof answer> =>
  answer(
    409,
    status(409, 'Conflict', {
      message: `Apply failed with 1 conflict: conflict with "${manager}" using moco-rollout.io/v1alpha1: ${field}`,
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: `conflict with "${manager}" using moco-rollout.io/v1alpha1`,
            field,
          },
        ],
      },
    }),
  );

describe('commands that write settings', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  for (const [verb, argv] of Object.entries(verbs)) {
    it(`${verb} applies with its own field manager, without force, to the object that was read`, async () => {
      const ran = await cluster.run(...argv);
      const warning = verb === 'pause' || verb === 'pin' ? `${volumeWarning}\n` : '';
      expect([ran.status, ran.err]).to.deep.equal([0, warning]);
      const [write] = cluster.server.writes;
      expect(write?.method).to.equal('PATCH');
      const { uid, resourceVersion } = write?.body.metadata ?? {};
      expect([typeof uid, typeof resourceVersion]).to.deep.equal(['string', 'string']);
      const applied = cluster.requests.find(({ method }) => method === 'PATCH');
      expect(applied?.headers['content-type']).to.equal('application/apply-patch+yaml');
      const query = new URLSearchParams(applied?.path.split('?')[1]);
      expect(query.get('fieldManager')).to.equal(`moco-rollout-cli-${verb}`);
      expect(query.has('force')).to.equal(false);
      expect(applied?.headers['user-agent']).not.to.match(/^kubectl/);
    });

    it(`${verb} is refused if MOCO drives, and names what works instead`, async () => {
      await phases['moco-drives']?.(cluster);
      const writes = cluster.server.writes.length;
      const { status: code, out, err } = await cluster.run(...argv);
      expect([code, out]).to.deep.equal([1, '']);
      expect(err)
        .to.match(new RegExp(`^error: ${verb} has no effect on test: MOCO's own partition controller`))
        .and.to.contain('strategy: OnDelete');
      expect(cluster.server.writes.length).to.equal(writes);
    });

    it(`${verb} names the owner of the field on a conflict`, async () => {
      for (const [manager, where] of Object.entries({
        'kustomize-controller': 'the repository that Flux applies',
        'argocd-controller': 'the repository that Argo CD applies',
        'kubectl-edit': 'kubectl edit mysqlrollout test -n default',
        helm: 'the values of the Helm release',
        operator: 'change it there',
      })) {
        cluster.fault = ({ method }) => (method === 'PATCH' ? conflict(manager, '.spec.paused') : null);
        const { status: code, err } = await cluster.run(...argv);
        expect(code).to.equal(1);
        expect(err).to.contain(`\`${manager}\` owns spec.paused of the MySQLRollout`).and.to.contain(where);
      }
    });

    it(`${verb} reports a forbidden write as kubectl does`, async () => {
      cluster.fault = (request) => (request.method === 'PATCH' ? forbidden(request) : null);
      const { status: code, err } = await cluster.run(...argv);
      expect(code).to.equal(1);
      expect(err).to.match(/^Error from server \(Forbidden\): user "me" cannot patch .*mysqlrollouts\/test\n$/);
    });

    it(`${verb} reports a missing kind`, async () => {
      cluster.fault = (request) => (request.path.includes('/mysqlrollouts') ? notFound() : null);
      const { status: code, err } = await cluster.run(...argv);
      expect(code).to.equal(1);
      expect(err).to.match(/^error: there is no kind MySQLRollout on .*: is moco-rollout installed\?\n$/);
    });
  }

  it('resume names a policy that still pauses the cluster', async () => {
    const policy = {
      metadata: { name: 'night', uid: 'p', resourceVersion: '1' },
      spec: { settings: { paused: true } },
    };
    cluster.clusterScoped['/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies'] = { items: [policy] };
    expect(await cluster.run('resume', 'test')).to.deep.equal({
      status: 1,
      out: '',
      err: 'error: test is still paused by MySQLRolloutPolicy/night; end the pause there\n',
    });
  });

  it('resume names the command that ends a freeze', async () => {
    for (const [policy, command] of [
      ['freeze', 'unfreeze'],
      ['freeze-default', 'unfreeze -n default'],
    ] as const) {
      const frozen = {
        metadata: { name: policy, uid: 'p', resourceVersion: '1' },
        spec: { enforced: { paused: true } },
      };
      cluster.clusterScoped['/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies'] = { items: [frozen] };
      expect((await cluster.run('resume', 'test')).err).to.equal(
        `error: test is still paused by MySQLRolloutPolicy/${policy}; end that with \`kubectl moco-rollout ${command}\`\n`,
      );
    }
  });

  it('pause says who pauses, why and until when', async () => {
    const ran = await cluster.run('pause', 'test', '--for', '4h', '--reason', 'a load test');
    expect([ran.status, ran.out]).to.deep.equal([0, 'default/test: paused until 2026-07-01T16:00:00Z\n']);
    const [write] = cluster.server.writes.filter(({ method }) => method === 'PATCH');
    expect(write?.body['spec']).to.deep.equal({
      paused: true,
      pause: { reason: 'a load test', by: 'me', until: '2026-07-01T16:00:00Z' },
    });
    cluster.bench.world.freeze(4 * 3_600_000);
    expect((await cluster.run('status', 'test')).out).to.contain(
      'note     the pause of the MySQLRollout ended at 2026-07-01T16:00:00Z; `resume` removes what is left of it',
    );
  });

  it('override says who overrides, and no longer than the controller allows', async () => {
    const review = { status: { userInfo: { username: 'ada' } } };
    cluster.lease({ maxOverrideMilliseconds: 3_600_000 });
    cluster.fault = ({ path }) => (path.endsWith('/selfsubjectreviews') ? answer(201, review) : null);
    const override = (duration: string) =>
      cluster.run('override', 'test', 'BackupRunning', '--for', duration, '--reason', 'known');
    expect(await override('61m')).to.deep.equal({
      status: 2,
      out: '',
      err: 'error: expected --for to be at most 1h (--max-override-duration), got 1h1m; see `kubectl moco-rollout override --help`\n',
    });
    expect((await override('60m')).status).to.equal(0);
    const [write] = cluster.server.writes.filter(({ method }) => method === 'PATCH');
    expect(write?.body['spec']).to.deep.include({
      overrides: [{ rule: 'BackupRunning', until: '2026-07-01T13:00:00.000Z', reason: 'known', by: 'ada' }],
    });
  });
});
