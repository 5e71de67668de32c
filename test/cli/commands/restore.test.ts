import { expect } from 'chai';
import type { RolloutSpec } from '../../../src/api/rollout.ts';
import { revisionAfter, revisionBefore } from '../../controller/moco-objects.ts';
import { heldByMoco } from '../../controller/object-server.ts';
import { fails, imagePath as image } from '../failing-member.ts';
import { type FakeCluster, forbidden, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';
import { phases } from '../phases.ts';

describe('restore', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  const applied = (): RolloutSpec | undefined =>
    (cluster.server.writes.at(-1)?.body as { spec?: RolloutSpec } | undefined)?.spec;
  /** As the API server keeps it for the verb. */
  const owned = (restore: RolloutSpec['restore'], manager = 'moco-rollout-cli-restore'): void => {
    const fieldsV1 = { 'f:spec': { 'f:restore': {} } };
    cluster.bench.changeRollout({
      metadata: { managedFields: [{ manager, operation: 'Apply', fieldsV1 }] },
      spec: { restore },
    });
  };

  it('warns if it is uncertain whether the older mysqld starts', async () => {
    fails(cluster, { changes: [{ path: image, from: 'mysql:8.4.8', to: 'mysql:9.1.0' }] });
    const { status, out, err } = await cluster.run('restore', 'moco-test-2', '--yes');
    expect(out).to.contain("data      at risk: MySQL's manual does not support a downgrade from 9.1.0 to 8.4.8.");
    const warning = 'WARNING: the data of moco-test-2 may not be usable: watch its mysqld start\n';
    expect([status, err]).to.deep.equal([0, warning]);
  });

  it('shows everything without --yes, and changes nothing', async () => {
    fails(cluster);
    const { status, out, err } = await cluster.run('restore', 'pod/moco-test-2');
    expect(status).to.equal(1);
    expect(cluster.server.writes).to.deep.equal([]);
    expectGolden('restore.txt', `${out}${err}`);
  });

  it('with --yes adds the member for exactly this update revision', async () => {
    fails(cluster);
    const { status, out } = await cluster.run('restore', 'moco-test-2', '--yes');
    expect(status).to.equal(0);
    expect(out).to.match(/\ndefault\/moco-test-2: will get revision 5897fd84f8 back\n$/);
    expect(applied()).to.deep.equal({ restore: { revision: revisionAfter, members: [2] } });
    const patch = cluster.requests.find(({ method }) => method === 'PATCH');
    const query = new URLSearchParams(patch?.path.split('?')[1]);
    expect([query.get('fieldManager'), query.has('force')]).to.deep.equal(['moco-rollout-cli-restore', false]);
  });

  it('keeps the other members of this revision, and drops those of an earlier one', async () => {
    fails(cluster);
    owned({ revision: revisionAfter, members: [1] });
    expect((await cluster.run('restore', 'moco-test-2', '--yes')).status).to.equal(0);
    expect(applied()).to.deep.equal({ restore: { revision: revisionAfter, members: [1, 2] } });
    owned({ revision: 'moco-test-1', members: [0] });
    expect((await cluster.run('restore', 'moco-test-2', '--yes')).status).to.equal(0);
    expect(applied()).to.deep.equal({ restore: { revision: revisionAfter, members: [2] } });
  });

  it('knows that the data are untouched if mysqld has never started', async () => {
    fails(cluster);
    cluster.bench.mysqld(2, 'ImagePullBackOff');
    cluster.bench.changePod(2, { status: { phase: 'Pending' } });
    const { out } = await cluster.run('restore', 'moco-test-2');
    expect(out).to.contain('safe: mysqld has not started at the update revision and has not changed the data\n');
  });

  it('names the revision of the others, which the controller makes current first', async () => {
    fails(cluster);
    cluster.bench.changeStatefulSet({ status: { currentRevision: revisionAfter } });
    expect((await cluster.run('restore', 'moco-test-2')).out).to.contain('revision  7966559688 -> 5897fd84f8\n');
  });

  const refusals: Readonly<Record<string, readonly [() => void | Promise<void>, RegExp]>> = {
    'that participates': [
      () => {
        fails(cluster);
        cluster.bench.replace(2);
      },
      /^error: moco-test-2 participates at revision 7966559688: its mysqld may have upgraded its data, and an older mysqld may refuse that data; restore the template instead: `kubectl moco-rollout undo test -n default`\n$/,
    ],
    'that is stale': [
      () => cluster.bench.changeRollout({ status: { strategy: 'OnDelete' } }),
      /^error: moco-test-2 is at revision 5897fd84f8 and not at the update revision 7966559688: there is nothing to restore\n$/,
    ],
    'that does not exist': [
      () => {
        fails(cluster);
        cluster.bench.removePod(2);
      },
      /^error: pods "moco-test-2" not found\n$/,
    ],
    'of a revision that works elsewhere': [
      () => fails(cluster, { verified: true }),
      /^error: another member has worked at revision 7966559688, so the rollout would update moco-test-2 again at once; pin it first: `kubectl moco-rollout pin moco-test-2 -n default --reason=…`\n$/,
    ],
    'while the rule is overridden': [
      () => {
        fails(cluster);
        const until = new Date(cluster.bench.world.wall() + 60_000).toISOString();
        cluster.bench.setting({ overrides: [{ rule: 'UpdateRevisionFailing', until, reason: 'x' }] });
      },
      /^error: UpdateRevisionFailing is overridden, so .*`kubectl moco-rollout override test UpdateRevisionFailing --clear -n default`\n$/,
    ],
    'whose revision is unknown': [
      () => {
        fails(cluster);
        cluster.bench.changeRollout({ status: { rollout: null } });
        cluster.bench.changeStatefulSet({ status: { currentRevision: revisionAfter } });
        for (const ordinal of [0, 1]) {
          cluster.bench.replace(ordinal, { ready: false });
          cluster.bench.mysqld(ordinal, 'CrashLoopBackOff');
        }
      },
      /^error: moco-test-2 cannot be restored now: its previous revision is unknown; see `kubectl moco-rollout status test -n default`\n$/,
    ],
    'of a released cluster': [
      () => {
        fails(cluster);
        cluster.bench.changeCluster({ metadata: { annotations: { 'moco-rollout.io/released': 'true' } } });
      },
      /^error: moco-test-2 cannot be restored now: Released: /,
    ],
    'before Kubernetes has observed the StatefulSet': [
      () => {
        fails(cluster);
        cluster.bench.changeStatefulSet({ metadata: { generation: 1_000_000 } });
      },
      /^error: the update revision of test is not known yet/,
    ],
    'whose pods the StatefulSet replaces': [
      () => fails(cluster, {}, 'Partition'),
      /^error: restore has no effect on test: its StatefulSet replaces pods by partitions; .*kubectl moco-rollout undo test/,
    ],
    'that MOCO updates': [
      async () => {
        await phases['moco-drives']?.(cluster);
      },
      /^error: restore has no effect on test: MOCO's own partition controller updates it; .*strategy: OnDelete/,
    ],
    'of a cluster that no controller has observed': [() => undefined, /^error: no controller has observed test yet\n$/],
    'beyond the last': [
      () => cluster.bench.changeCluster({ spec: { replicas: 2 } }),
      /^error: pods "moco-test-2" not found: test has 2 members/,
    ],
  };
  for (const [what, [happens, says]] of Object.entries(refusals)) {
    it(`refuses a member ${what}`, async () => {
      await happens();
      const writes = cluster.server.writes.length;
      const { status, out, err } = await cluster.run('restore', 'moco-test-2', '--yes');
      expect([status, out]).to.deep.equal([1, '']);
      expect(err).to.match(says);
      expect(cluster.server.writes.length).to.equal(writes);
    });
  }

  it('restores a pinned member even if the revision works elsewhere', async () => {
    fails(cluster, { verified: true });
    cluster.bench.setting({ pinnedMembers: [{ ordinal: 2, reason: 'it fails here' }] });
    const { status, out } = await cluster.run('restore', 'moco-test-2', '--yes');
    expect(status).to.equal(0);
    expect(out).to.contain('then      it keeps this revision while it is pinned or below the partition\n');
  });

  it('is suggested by the plan of a failing revision, and afterwards unrestore is', async () => {
    fails(cluster);
    const before = await cluster.run('plan', 'test');
    expect(before.out).to.contain(
      '  restore the earlier template: kubectl moco-rollout undo test -n default\n' +
        '  give only this member its revision back: kubectl moco-rollout restore moco-test-2 -n default\n',
    );
    owned({ revision: revisionAfter, members: [2] });
    const after = await cluster.run('plan', 'test');
    expect(after.out).to.contain(
      '  update the restored member again: kubectl moco-rollout unrestore moco-test-2 -n default\n',
    );
  });

  it('is carried out by the controller, which then holds the revision until unrestore', async () => {
    const { bench } = cluster;
    bench.server.admit = heldByMoco;
    await phases['failing']?.(cluster);
    const before = bench.steps.length;
    expect((await cluster.run('restore', 'moco-test-2', '--yes')).status).to.equal(0);
    const program = bench.start();
    await program.work();
    const steps = (): readonly string[] => bench.steps.slice(before).filter((step) => !/keepRevisions/.test(step));
    expect(steps()).to.deep.equal(['delete 2']);
    expect(bench.status.intent).to.include({ step: 'restore', rule: 'RestoreRequested' });
    bench.replace(2, { revision: revisionBefore });
    bench.world.freeze(60_000);
    await program.work();
    expect(steps()).to.deep.equal(['delete 2']);
    expect(bench.status.hold?.rule).to.equal('UpdateRevisionFailing');
    expect(bench.status.settings?.restore?.value).to.deep.equal({ revision: revisionAfter, members: [2] });
    const { out } = await cluster.run('plan', 'test');
    expect(out).to.contain('kubectl moco-rollout unrestore moco-test-2 -n default');
    cluster.server.script('PATCH', /mysqlrollouts/, (_, carryOut) => {
      bench.changeRollout({ spec: { restore: null } });
      return carryOut();
    });
    const asked = await cluster.run('unrestore', 'moco-test-2');
    expect(asked.status).to.equal(1);
    expect(asked.out).to.contain('moco-test-2 is evicted and starts at revision 7966559688, at which it failed');
    expect(asked.err).to.contain('nothing has been changed, because --yes is missing');
    expect(bench.status.settings?.restore?.value.members).to.deep.equal([2]);
    expect((await cluster.run('unrestore', 'moco-test-2', '--yes')).status).to.equal(0);
    await program.work();
    expect(bench.status.hold?.rule).to.not.equal('UpdateRevisionFailing');
  });

  it('reports a forbidden write as kubectl does', async () => {
    fails(cluster);
    cluster.fault = (request) => (request.method === 'PATCH' ? forbidden(request) : null);
    const { status, err } = await cluster.run('restore', 'moco-test-2', '--yes');
    expect(status).to.equal(1);
    expect(err).to.match(/^Error from server \(Forbidden\): user "me" cannot patch .*mysqlrollouts\/test\n$/);
  });

  it('is undone by unrestore, member by member, also without a controller', async () => {
    owned({ revision: revisionAfter, members: [1, 2] });
    const took = await cluster.run('unrestore', 'moco-test-1');
    expect(took).to.deep.equal({ status: 0, out: 'default/moco-test-1: no longer restored\n', err: '' });
    expect(applied()).to.deep.equal({ restore: { revision: revisionAfter, members: [2] } });
    owned({ revision: revisionAfter, members: [2] });
    cluster.server.script('PATCH', /mysqlrollouts/, (_, carryOut) => {
      // Server-side apply removes what the manager no longer sets.
      cluster.bench.changeRollout({ spec: { restore: null } });
      return carryOut();
    });
    expect((await cluster.run('unrestore', 'moco-test-2')).status).to.equal(0);
    expect(applied()).to.equal(undefined);
  });

  it('is not undone if another field manager owns it, which is named', async () => {
    owned({ revision: revisionAfter, members: [2] }, 'kustomize-controller');
    const { status, err } = await cluster.run('unrestore', 'moco-test-2');
    expect(status).to.equal(1);
    expect(err).to.equal(
      'error: moco-test-2 is still to be restored: `kustomize-controller` owns spec.restore of the MySQLRollout; change it in the repository that Flux applies\n',
    );
  });
});
