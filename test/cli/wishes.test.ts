import { expect } from 'chai';
import { volumeWarning } from '../../src/cli/volume-warning.ts';
import { answer, status } from '../kube/fake-world.ts';
import { FakeCluster, forbidden, notFound } from './fake-cluster.ts';
import { phases } from './phases.ts';

const verbs: Readonly<Record<string, readonly string[]>> = {
  pause: ['pause', 'test'],
  approve: ['approve', 'test'],
  hold: ['hold', 'moco-test-1', '--reason', 'a look'],
  override: ['override', 'test', 'BackupRunning', '--for', '30m', '--reason', 'known'],
};

/** As Kubernetes 1.35 answers an apply of a field that somebody else owns. */
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

describe('commands that write wishes', () => {
  let cluster: FakeCluster;

  beforeEach(async () => {
    cluster = await FakeCluster.start();
  });

  afterEach(() => cluster.close());

  for (const [verb, argv] of Object.entries(verbs)) {
    it(`${verb} applies as a manager of its own, without force, to the object that was read`, async () => {
      const ran = await cluster.run(...argv);
      const warning = verb === 'pause' || verb === 'hold' ? `${volumeWarning}\n` : '';
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

    it(`${verb} is refused where MOCO drives, with what works there`, async () => {
      await phases['moco-drives']?.(cluster);
      const writes = cluster.server.writes.length;
      const { status: code, out, err } = await cluster.run(...argv);
      expect([code, out]).to.deep.equal([1, '']);
      expect(err)
        .to.match(new RegExp(`^error: ${verb} has no effect on test, where MOCO's own partition controller`))
        .and.to.contain('strategy: OnDelete');
      expect(cluster.server.writes.length).to.equal(writes);
    });

    it(`${verb} says who owns the field where that is somebody else`, async () => {
      for (const [manager, where] of Object.entries({
        'kustomize-controller': 'the repository that Flux applies',
        'argocd-controller': 'the repository that Argo CD applies',
        'kubectl-edit': 'kubectl edit mysqlrollout test -n default',
        helm: 'the values of the release',
        operator: 'change it there',
      })) {
        cluster.fault = ({ method }) => (method === 'PATCH' ? conflict(manager, '.spec.paused') : null);
        const { status: code, err } = await cluster.run(...argv);
        expect(code).to.equal(1);
        expect(err).to.contain(`spec.paused of the MySQLRollout belongs to \`${manager}\``).and.to.contain(where);
      }
    });

    it(`${verb} says so in kubectl's manner where it is forbidden`, async () => {
      cluster.fault = (request) => (request.method === 'PATCH' ? forbidden(request) : null);
      const { status: code, err } = await cluster.run(...argv);
      expect(code).to.equal(1);
      expect(err).to.match(/^Error from server \(Forbidden\): user "me" cannot patch .*mysqlrollouts\/test\n$/);
    });

    it(`${verb} says that the kind is missing where it is`, async () => {
      cluster.fault = (request) => (request.path.includes('/mysqlrollouts') ? notFound() : null);
      const { status: code, err } = await cluster.run(...argv);
      expect(code).to.equal(1);
      expect(err).to.match(/^error: there is no kind MySQLRollout on .*: is moco-rollout installed\?\n$/);
    });
  }

  it('resume says which policy pauses it still', async () => {
    const policy = { metadata: { name: 'night', uid: 'p', resourceVersion: '1' }, spec: { paused: true } };
    cluster.clusterScoped['/apis/moco-rollout.io/v1alpha1/mysqlrolloutpolicies'] = { items: [policy] };
    expect(await cluster.run('resume', 'test')).to.deep.equal({
      status: 1,
      out: '',
      err: 'error: test is still paused by MySQLRolloutPolicy/night; change it there\n',
    });
  });

  for (const [argv, says] of [
    [['hold', 'moco-test-1'], /expected --reason/],
    [['hold', 'test', '--reason', 'x'], /expected the name of a member's pod such as moco-test-2, got `test`/],
    [['override', 'test', 'Paused', '--for', '1m', '--reason', 'x'], /got Paused, which never can/],
    [['override', 'test', 'BackupRuning', '--for', '1m', '--reason', 'x'], /did you mean BackupRunning\?/],
    [['override', 'test', 'BackupRunning', '--reason', 'x'], /expected --for, how long/],
    [['override', 'test', 'BackupRunning', '--for', 'long', '--reason', 'x'], /expected --for to be a duration/],
    [['override', 'test', 'BackupRunning', '--end', '--for', '1m'], /either --end, or --for/],
    [['pause'], /missing required argument 'NAME'/],
  ] as const) {
    it(`exit status 2 for ${argv.join(' ')}`, async () => {
      const { status: code, err } = await cluster.run(...argv);
      expect(code).to.equal(2);
      expect(err).to.match(says);
      expect(cluster.server.writes).to.deep.equal([]);
    });
  }

  it('knows no member beyond the last', async () => {
    const { status: code, err } = await cluster.run('hold', 'moco-test-3', '--reason', 'x');
    expect(code).to.equal(1);
    expect(err).to.equal('error: pods "moco-test-3" not found: test has 3 members, the last of them moco-test-2\n');
  });
});
