import { expect } from 'chai';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { caughtUp, openWrite } from '../../core/mysql-readings.ts';
import { Bench, member, passes } from '../bench.ts';
import { pod, recorded } from '../moco-objects.ts';

const behind = { ...caughtUp, missing: 145 } as const;
const silent = { kind: 'unknown', message: 'no answer within 1 s' } as const;
const leads = { kind: 'primary', needed: 1, acknowledging: 2 } as const;

function replaced(...ordinals: readonly number[]): Bench {
  const bench = new Bench();
  for (const ordinal of ordinals) bench.replace(ordinal);
  return bench;
}

describe('the controller that may ask MySQL', () => {
  it('asks before each step, to decide and to confirm', async () => {
    const bench = new Bench();
    const program = bench.startAsking();
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.mysql.asked).to.deep.equal(['step', 'step']);
    bench.replace(2);
    bench.replace(1);
    await program.work();
    expect(bench.steps.at(-1)).to.equal('demote 0');
    expect(bench.mysql.asked.slice(2)).to.deep.equal(['switchover', 'switchover']);
  });

  it('asks no member while its feature gate is off', async () => {
    const bench = new Bench();
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.mysql.asked).to.deep.equal([]);
  });

  it('does not replace the next member before the last one has received what the primary has committed', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), behind);
    const program = bench.startAsking();
    await passes(bench, program, 46);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.include({
      rule: 'ReplicasBehind',
      message:
        'moco-test-1 is waiting until the other replicas have received what the primary has committed: moco-test-2 has not received 145 transactions from the primary',
    });
    expect(bench.mysql.asked.length).to.be.at.most(11);
    bench.mysql.says(member(2), caughtUp);
    await passes(bench, program, 6);
    expect(bench.steps).to.deep.equal(['evict 1']);
  });

  it('replaces no member if the confirmation finds that a replica has received nothing', async () => {
    const bench = replaced(2);
    const program = bench.startAsking();
    const ask = bench.mysql.ask.bind(bench.mysql);
    bench.mysql.ask = (question) => {
      if (bench.mysql.asked.length === 1) bench.mysql.says(member(2), behind);
      return ask(question);
    };
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.mysql.asked).to.have.length(2);
  });

  it('continues without MySQL, and says why, once it has not been allowed to read the password for a while', async () => {
    const bench = replaced(2);
    bench.mysql.problem = 'the controller may not read the Secret default/moco-test';
    const program = bench.startAsking();
    await passes(bench, program, 29);
    expect(bench.steps).to.deep.equal([]);
    await passes(bench, program, 7);
    expect(bench.steps).to.deep.equal(['evict 1']);
    const warned = program.log.lines.filter(({ message }) => message.startsWith('Cannot query MySQL'));
    expect(warned.map(({ fields }) => fields)).to.deep.equal([
      { cluster: 'default/test', reason: 'the controller may not read the Secret default/moco-test' },
    ]);
  });

  it('starts a new wait for a problem that occurs after a time without questions, for example after another rollout', async () => {
    const bench = replaced(2);
    bench.mysql.problem = 'the controller may not read the Secret default/moco-test';
    const program = bench.startAsking();
    await passes(bench, program, 6);
    bench.setting({ paused: true });
    await passes(bench, program, 3);
    bench.world.freeze(8 * 3_600_000);
    bench.setting({ paused: false });
    await passes(bench, program, 24);
    expect(bench.steps).to.deep.equal([]);
    await passes(bench, program, 12);
    expect(bench.steps).to.deep.equal(['evict 1']);
    const warned = program.log.lines.filter(({ message }) => message.startsWith('Cannot query MySQL'));
    expect(warned).to.have.lengthOf(2);
  });

  it('waits for a mysqld that does not answer for the whole grace period, continues, and names it in the status', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), silent);
    const program = bench.startAsking();
    await passes(bench, program, 20);
    expect(bench.status.mysqlProblem).to.equal(undefined);
    await passes(bench, program, 99);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain(
      "moco-test-2 can't be read (no answer within 1 s; waiting for at most 120 s)",
    );
    await passes(bench, program, 7);
    expect(bench.steps).to.deep.equal(['evict 1']);
    expect(bench.status.mysqlProblem).to.equal('moco-test-2 does not answer: no answer within 1 s');
  });

  it('forgets nothing while the Secret is missing for a moment', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), behind);
    const program = bench.startAsking();
    await passes(bench, program, 20);
    bench.mysql.problem = 'there is no Secret default/moco-test';
    await passes(bench, program, 20);
    bench.mysql.problem = null;
    await passes(bench, program, 40);
    expect(bench.steps).to.deep.equal([]);
  });

  it('forgets no write because another hold has lasted for more than a minute', async () => {
    const bench = replaced(2, 1);
    bench.mysql.writes = [openWrite];
    const program = bench.startAsking({ longWritePolicy: 'Hold' });
    await passes(bench, program, 20);
    bench.setting({ paused: true });
    await passes(bench, program, 70);
    bench.setting({ paused: false });
    bench.mysql.says(member(0), silent);
    await passes(bench, program, 45);
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'LongWrite']);
  });

  it('waits without limit for one whose last answer was that it lacks something, and says how to continue', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), behind);
    const program = bench.startAsking();
    await passes(bench, program, 6);
    bench.mysql.says(member(2), silent);
    await passes(bench, program, 700);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain(
      'moco-test-2 has not received 145 transactions from the primary according to its last answer, and it could not be queried again (no answer within 1 s)',
    );
    expect(bench.status.conditions?.find(({ type }) => type === 'Stalled')?.status).to.equal('True');
    bench.mysql.says(member(2), caughtUp);
    await passes(bench, program, 6);
    expect(bench.steps).to.deep.equal(['evict 1']);
  });

  it('keeps what a replica lacked while the primary does not say what it has committed', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), behind);
    const program = bench.startAsking();
    await passes(bench, program, 6);
    bench.mysql.says(member(0), silent);
    bench.mysql.says(member(2), { ...caughtUp, missing: null });
    await passes(bench, program, 60);
    expect(bench.steps).to.deep.equal([]);
  });

  it('does not wait longer for a long write if the primary answers only now and then', async () => {
    const bench = replaced(2, 1);
    bench.mysql.writes = [openWrite];
    const program = bench.startAsking({ longWriteGraceSeconds: 20 });
    for (const isSilent of [false, true, false, true]) {
      bench.mysql.says(member(0), isSilent ? silent : leads);
      await passes(bench, program, 6);
    }
    expect(bench.steps).to.deep.equal(['demote 0']);
  });

  it('counts the age of answers from before they are asked for', async () => {
    const bench = replaced(2);
    const program = bench.startAsking();
    const ask = bench.mysql.ask.bind(bench.mysql);
    bench.mysql.ask = async (question) => {
      const answer = await ask(question);
      bench.world.freeze(5000);
      return answer;
    };
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal([]);
  });

  it('waits for a long write before a switchover, for the grace period and no longer', async () => {
    const bench = replaced(2, 1);
    bench.mysql.writes = [openWrite];
    const program = bench.startAsking({ longWriteGraceSeconds: 20 });
    await passes(bench, program, 19);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.include({ rule: 'LongWrite' });
    const { message = '' } = bench.status.hold ?? {};
    expect(message).to.contain('session 42 of app@10.0.0.7:51234');
    expect(bench.status.openWrites?.count).to.equal(1);
    expect(message, 'of the same write').to.contain(bench.status.openWrites?.since);
    await passes(bench, program, 7);
    expect(bench.steps).to.deep.equal(['demote 0']);
  });

  it('continues as soon as the write has ended', async () => {
    const bench = replaced(2, 1);
    bench.mysql.writes = [openWrite];
    const program = bench.startAsking({ longWritePolicy: 'Hold' });
    await passes(bench, program, 300);
    expect(bench.steps).to.deep.equal([]);
    bench.mysql.writes = [];
    await passes(bench, program, 6);
    expect(bench.steps).to.deep.equal(['demote 0']);
    expect(bench.status.openWrites).to.deep.equal({ count: 0 });
  });

  it('shows what replicas lack, by pod', async () => {
    const bench = replaced(2);
    bench.mysql.says(member(2), { ...behind, unapplied: 3 });
    const program = bench.startAsking();
    await program.work();
    const text = await program.registry.metrics();
    expect(text).to.contain(
      'moco_rollout_replica_transactions_not_received{namespace="default",name="test",pod="moco-test-2"} 145',
    );
    expect(text).to.contain(
      'moco_rollout_replica_transactions_not_applied{namespace="default",name="test",pod="moco-test-2"} 3',
    );
    expect(text).to.contain('moco_rollout_mysql_readings_total{result="Replica"}');
    bench.setting({ paused: true });
    await passes(bench, program, 75);
    expect(await program.registry.metrics()).not.to.contain('not_received{');
    expect(bench.status.members?.some(({ replication }) => replication !== undefined)).to.equal(false);
  });

  /** The version of the image in the template, and of the pods of a cluster `copy` beside it. */
  function replicated(from: string, copy: string): Bench {
    const bench = new Bench();
    const mysqldOf = (version: string) => ({ containers: [{ name: 'mysqld', image: `mysql:${version}` }] });
    bench.server.change(statefulSets, 'moco-test', { spec: { template: { spec: mysqldOf(from) } } });
    const labels = { ...recorded.pod.metadata.labels, 'app.kubernetes.io/instance': 'copy' };
    const { metadata, spec, status } = recorded.mysqlCluster;
    bench.server.create(clusterKind, {
      metadata: { ...metadata, name: 'copy' },
      spec: { ...spec, replicationSourceSecretName: 'source' },
      status,
    });
    bench.server.create(pods, {
      ...pod(0),
      metadata: { name: 'moco-copy-0', labels },
      spec: mysqldOf(copy),
      status: { podIP: '10.1.2.3' },
    });
    bench.mysql.server = { version: null, replicaAddresses: ['10.1.2.3', '10.9.9.9'] };
    return bench;
  }

  it('replaces no member while a connected replica cluster is of an older series, until that cluster is upgraded', async () => {
    const bench = replicated('8.4.8', '8.0.40');
    const program = bench.startAsking();
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.include({
      rule: 'ReplicaClusterOlder',
      message:
        'cluster default/copy replicates from this one and has mysqld 8.0.40: MySQL does not support a replica of an older series than its source (8.4.8), so upgrade default/copy first',
    });
    const asked = bench.mysql.asked.length;
    await passes(bench, program, 60);
    expect(bench.mysql.asked.length - asked).to.be.within(1, 3);
    bench.server.change(pods, 'moco-copy-0', {
      spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.8' }] },
    });
    await passes(bench, program, 40);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('waits for no cluster that replicates from another one', async () => {
    const bench = replicated('8.4.8', '8.0.40');
    bench.mysql.server = { version: null, replicaAddresses: ['10.9.9.9'] };
    await passes(bench, bench.startAsking(), 3);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('knows by MySQL which version has started on the data, whatever the tag says', async () => {
    const bench = replicated('8.0.40', '8.0.40');
    bench.mysql.server = { version: '8.4.8', replicaAddresses: [] };
    await passes(bench, bench.startAsking(), 3);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.include({ rule: 'VersionRefused' });
  });
});
