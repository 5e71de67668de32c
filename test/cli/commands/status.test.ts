import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { holdRules, rules } from '../../../src/core/rules/catalogue.ts';
import type { Lease } from '../../../src/kube/lease.ts';
import { jobs } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { emergencyBackup, revisionBefore } from '../../controller/moco-objects.ts';
import { caughtUp } from '../../core/mysql-readings.ts';
import { type FakeCluster, forbidden, leasePath, useFakeCluster } from '../fake-cluster.ts';
import { expectGolden } from '../golden.ts';
import { phases } from '../phases.ts';

describe('status and plan', () => {
  let cluster: FakeCluster;

  useFakeCluster((fresh) => {
    cluster = fresh;
  });

  for (const [phase, play] of Object.entries(phases)) {
    it(`show a cluster that is ${phase}`, async () => {
      await play(cluster);
      const block = await cluster.run('status', 'test');
      const overview = await cluster.run('status', '-A');
      const data = await cluster.run('get', 'test', '-o', 'wide');
      const plan = await cluster.run('plan', 'test');
      const all = [block, overview, data, plan];
      expect(all.map(({ status, err }) => [status, err])).to.deep.equal(all.map(() => [0, '']));
      expectGolden(`status-${phase}.txt`, `${block.out}\n${overview.out}\n${data.out}`);
      expectGolden(`plan-${phase}.txt`, plan.out);
    });
  }

  it('show what replicas have not received, and that MySQL cannot be queried', async () => {
    const { bench } = cluster;
    bench.replace(2);
    bench.mysql.says('moco-test-2', { ...caughtUp, missing: 145, unapplied: 2 });
    const program = bench.startAsking();
    await program.work();
    bench.world.freeze(10_000);
    await program.work();
    const { out } = await cluster.run('status', 'test');
    expect(out).to.match(/MEMBER +ROLE +REVISION +STATE +BEHIND +VERDICT/);
    expect(out).to.match(/moco-test-0 .*participating +- +/);
    expect(out).to.match(/moco-test-1 .*participating +0 to receive, 0 to apply +/);
    expect(out).to.match(/moco-test-2 .*participating +145 to receive, 2 to apply +/);
    bench.mysql.problem = 'there is no Secret default/moco-test';
    await program.work();
    bench.world.freeze(10_000);
    await program.work();
    expect((await cluster.run('status', 'test')).out).to.contain(
      'note     cannot query MySQL; continuing without replication facts: there is no Secret default/moco-test',
    );
  });

  it('show the version of mysqld of each member where they differ, and its source with --output=wide', async () => {
    const { server, bench } = cluster;
    await bench.start().work();
    expect((await cluster.run('status', 'test')).out).not.to.contain('MYSQL');
    const members = [
      { ...bench.status.members?.[0], mysqld: { version: '8.0.40', source: 'server' } },
      { ...bench.status.members?.[1], mysqld: null },
      { ...bench.status.members?.[2], mysqld: { version: '8.4.8', source: 'tag' } },
    ];
    server.change(rolloutKind, 'test', { status: { members } });
    const { out } = await cluster.run('status', 'test');
    expect(out).to.match(/MEMBER +ROLE +REVISION +STATE +MYSQL +VERDICT/);
    expect(out)
      .to.match(/moco-test-0 .* 8\.0\.40 +\w/)
      .and.to.match(/moco-test-1 .* unknown +\w/);
    expect((await cluster.run('status', 'test', '-o', 'wide')).out).to.match(/moco-test-2 .* 8\.4\.8 \(tag\) +/);
    expect((await cluster.run('report', 'test')).out).to.contain('<td>8.0.40 (server)</td>');
  });

  it('say which rules are overridden, until when, by whom and why', async () => {
    const override = { rule: 'BackupRunning', until: '2026-07-01T12:30:00Z', reason: 'known', by: 'me' };
    cluster.bench.changeRollout({ spec: { overrides: [override], paused: true } });
    await cluster.bench.start().work();
    const sentence = 'BackupRunning is overridden until 2026-07-01T12:30:00Z (29m57s left) by me: known';
    for (const command of ['status', 'plan']) {
      expect((await cluster.run(command, 'test')).out).to.contain(`note     ${sentence}`);
    }
    expect((await cluster.run('status', '-A')).out).to.match(
      / OVERRIDDEN +WAITING FOR\n.* BackupRunning +Paused: the rollout is paused/,
    );
    cluster.bench.changeRollout({ spec: { paused: false } });
    cluster.bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    await cluster.bench.start().work();
    expect((await cluster.run('status', '-A')).out, 'nothing waits').to.match(/ BackupRunning *\n$/);
    cluster.bench.world.freeze(30 * 60_000);
    expect((await cluster.run('status', 'test')).out).not.to.contain('overridden');
    expect((await cluster.run('status', '-A')).out).not.to.contain('OVERRIDDEN');
  });

  it('show the last backup, the running one and open writes, as does the page of a report', async () => {
    await cluster.bench.start().work();
    const said = async (): Promise<string> => {
      const { out } = await cluster.run('status', 'test');
      const page = (await cluster.run('report', 'test')).out;
      const lines = out.split('\n').filter((line) => /^ {2}(backup|writes|nodes) /.test(line));
      for (const line of lines) expect(page).to.contain(line.trim().replace(/ {2,}/, ': '));
      return lines.map((line) => line.trim()).join('\n');
    };
    expect(await said()).to.equal('backup   no backup policy');
    cluster.server.change(clusterKind, 'test', { spec: { backupPolicyName: 'daily' } });
    expect(await said()).to.equal('backup   no backup was made yet');
    const backup = { time: '2026-07-01T10:00:02Z', elapsed: '1m30.5s' };
    cluster.server.change(clusterKind, 'test', { status: { backup } });
    cluster.server.create(jobs, emergencyBackup);
    const since = '2026-07-01T11:58:02Z';
    cluster.server.change(rolloutKind, 'test', { status: { openWrites: { count: 2, since } } });
    const last = 'the last one was made at 2026-07-01T10:00:02Z, 2h00m ago, in 1m30.5s';
    expect(await said()).to.equal(
      `backup   Job emergency-backup has been running for 2s; ${last}\nwrites   2 are open, the oldest for 2m00s`,
    );
    const tried = { since, at: since };
    const preflight = {
      revision: 'moco-test-7966559688',
      nodes: [
        { name: 'node-1', result: 'Fetched', ...tried },
        { name: 'node-2', result: 'Fetched', ...tried },
        { name: 'node-3', trying: true, ...tried },
      ],
      configuration: { name: 'node-1', result: 'Accepted', ...tried },
    };
    cluster.server.change(rolloutKind, 'test', { status: { openWrites: null, preflight } });
    expect(await said()).to.match(
      /\nnodes {4}images Fetched on node-1, node-2, asked for on node-3; configuration Accepted$/,
    );
    cluster.server.change(rolloutKind, 'test', {
      status: { openWrites: { count: 0, since: null }, preflight: null },
    });
    cluster.fault = (request) => (request.path.includes('/jobs') ? forbidden(request) : null);
    expect(await said()).to.equal(
      `backup   you may not read Jobs, so it is unknown whether one runs; ${last}\nwrites   none was open when the primary was asked, less than a minute ago`,
    );
  });

  it('selects the clusters that wait for a person', async () => {
    await cluster.bench.start().work();
    const selected = async (hold: object) => {
      cluster.server.change(rolloutKind, 'test', { status: { hold, conditions: [] } });
      return (await cluster.run('status', '--needs-person')).out;
    };
    const since = '2026-07-01T12:00:00Z';
    expect(await selected({ rule: 'StepRefused', message: 'no', since })).to.contain('StepRefused');
    expect(await selected({ rule: 'ForeignDemote', message: 'no', since })).to.contain('ForeignDemote');
    expect(await selected({ rule: 'MemberTerminating', message: 'no', since })).to.equal('');
    // What may end by itself counts once it has lasted.
    const earlier = '2026-07-01T11:49:00Z';
    expect(await selected({ rule: 'BlockedByPDB', message: 'no', since })).to.equal('');
    expect(await selected({ rule: 'BlockedByPDB', message: 'no', since: earlier })).to.contain('BlockedByPDB');
    expect(await selected({ rule: 'BackupRunning', message: 'no', since: earlier })).to.equal('');
  });

  it('shows what the rollout changes, images first', async () => {
    await cluster.bench.start().work();
    const changes = [
      { path: 'spec.terminationGracePeriodSeconds' },
      { path: 'spec.containers[mysqld].image', from: 'mysql:8.4.7', to: 'mysql:8.4.8' },
      { path: 'spec.containers[agent].image', from: 'agent:1', to: 'agent:2' },
      { path: 'spec.initContainers[moco-init].image', from: 'mysql:8.4.7', to: 'mysql:8.4.8' },
    ];
    cluster.server.change(rolloutKind, 'test', { status: { rollout: { changes } } });
    expect((await cluster.run('status', 'test')).out).to.contain(
      'changes  image of mysqld and moco-init: mysql:8.4.7 → mysql:8.4.8, image of agent: agent:1 → agent:2, spec.terminationGracePeriodSeconds',
    );
  });

  it('say that a member is being evicted before its state shows it', async () => {
    await cluster.bench.start().work();
    const [, , member] = cluster.bench.status.members ?? [];
    const members = [{ ...member, ordinal: 2, state: 'participating', verdict: 'Next' }];
    const intent = { step: 'evict', pods: [{ name: 'moco-test-2', uid: 'a', resourceVersion: '1' }] };
    cluster.server.change(rolloutKind, 'test', { status: { members, intent } });
    expect((await cluster.run('status', 'test')).out).to.match(/moco-test-2 .*participating +being evicted\n/);
    cluster.server.change(rolloutKind, 'test', { status: { members: [{ ...members[0], state: 'terminating' }] } });
    expect((await cluster.run('status', 'test')).out).to.match(/moco-test-2 .*terminating +next\n/);
  });

  it('count a new primary that waits for its role as a whole member, and a member that starts as a half', async () => {
    await cluster.bench.start().work();
    const [known] = cluster.bench.status.members ?? [];
    const primary = { ...known, ordinal: 0, role: 'primary', updated: true, verdict: 'Starting' };
    const barOf = async (state: string): Promise<string> => {
      cluster.server.change(rolloutKind, 'test', { status: { replicas: 2, members: [{ ...primary, state }] } });
      return (await cluster.run('status', 'test')).out;
    };
    expect(await barOf('participating'))
      .to.match(/ █{11}░{10}\n/)
      .and.match(/participating +updated, settling\n/);
    expect(await barOf('running'))
      .to.match(/ █{5}░{16}\n/)
      .and.match(/running +updated, not ready yet\n/);
  });

  it('say since when the status has not changed', async () => {
    await cluster.bench.start().work();
    const managedFields = [
      { manager: 'moco-rollout', subresource: 'status', time: '2026-07-01T11:57:00Z' },
      { manager: 'kubectl', time: '2026-07-01T11:59:00Z' },
    ];
    cluster.server.change(rolloutKind, 'test', { metadata: { managedFields } });
    expect((await cluster.run('status', 'test')).out).to.match(/ {2}as of {4}the status last changed 3m0[0-9]s ago\n/);
  });

  it('uses NAME only for the MySQLCluster in the texts that say how a hold ends', () => {
    for (const name of holdRules) {
      const others = rules[name].ends.replaceAll(
        /(?:kubectl moco-rollout \w+|kubectl moco start \w+|mysqlcluster|statefulset) (?:moco-)?NAME\b/g,
        '',
      );
      expect(others, name).not.to.match(/\bNAME\b/);
    }
  });

  it('say that no controller is running if the lease shows that', async () => {
    await cluster.bench.start().work();
    cluster.lease({}, 10);
    const { out } = await cluster.run('status', 'test');
    expect(out).to.contain('as of    the controller last renewed its lease 10s ago').and.not.to.contain('note');
    cluster.lease({}, 312);
    expect((await cluster.run('status', '-A')).err).to.contain(
      'warning: no controller has renewed its lease for 5m12s',
    );
    expect((await cluster.run('status', 'test')).out).to.contain(
      'note     no controller has renewed its lease for 5m12s: no rollout continues until one runs',
    );
    const { metadata, ...lease } = cluster.clusterScoped[leasePath] as Lease;
    delete cluster.clusterScoped[leasePath];
    const moved = { ...lease, metadata: { ...metadata, namespace: 'databases' } };
    cluster.clusterScoped['/apis/coordination.k8s.io/v1/leases'] = { items: [moved] };
    expect((await cluster.run('status', 'test')).out).to.contain(
      'lease for 5m12s: no rollout continues until one runs (namespace databases)',
    );
    const hostile = { ...lease, metadata: { ...metadata, namespace: 'a-tenant' } };
    cluster.clusterScoped['/apis/coordination.k8s.io/v1/leases'] = { items: [hostile, moved] };
    const { out: unclear } = await cluster.run('status', 'test');
    expect(unclear).to.contain("it is unknown which Lease moco-rollout is the controller's");
    expect(unclear).to.contain('namespaces a-tenant, databases').and.not.to.contain('5m12s');
  });
});
