import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import { atWork, Bench, begin, member } from '../bench.ts';
import { rollOut } from '../whole-rollout.ts';

describe('the events of a rollout', () => {
  it('report each step once, in order, with its pod and its rule, on the MySQLCluster and the MySQLRollout, without the waits that every step has', async () => {
    const [bench, program] = begin();
    const pod = bench.server.get(pods, member(2)).metadata.uid;
    await rollOut(bench, program);
    expect(program.events[0]).to.deep.include({
      related: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: member(2), uid: pod },
      type: 'Normal',
      action: 'ReplicaHealthy',
    });
    expect(program.events.map(({ reason }) => reason)).to.deep.equal([
      'Evicted',
      'Evicted',
      'Demoted',
      'Evicted',
      'RevisionPromoted',
    ]);
    const { uid } = bench.server.get(clusterKind, 'test').metadata;
    const rollout = bench.server.get(rolloutKind, 'test').metadata.uid;
    for (const { regarding, alsoRegarding } of program.events) {
      expect(alsoRegarding).to.deep.equal({
        apiVersion: 'moco-rollout.io/v1alpha1',
        kind: 'MySQLRollout',
        namespace: 'default',
        name: 'test',
        uid: rollout,
      });
      expect(regarding).to.deep.equal({
        apiVersion: 'moco.cybozu.com/v1beta2',
        kind: 'MySQLCluster',
        namespace: 'default',
        name: 'test',
        uid,
      });
    }
  });

  it('warn of a cancelled demotion', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1);
    const program = await bench.started();
    await program.workAfter(90_000);
    expect(program.events.find(({ reason }) => reason === 'DemotionTakenBack')).to.include({
      type: 'Warning',
      action: 'TimedOut',
    });
  });

  it('report a routine wait once it has lasted for a minute', async () => {
    const [bench, program] = await atWork();
    bench.replace(2, { ready: false });
    await program.work();
    await program.workAfter(30_000);
    expect(program.events.map(({ reason }) => reason)).to.deep.equal(['Evicted']);
    bench.world.freeze(30_000);
    for (let passes = 0; passes < 3; passes += 1) await program.work();
    expect(program.events.map(({ reason }) => reason)).to.deep.equal(['Evicted', 'UpdatedMemberNotParticipating']);
  });

  it('warn of a hold that needs attention, and do not repeat that while it lasts', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    bench.mysqld(2, 'ImagePullBackOff');
    for (let passes = 0; passes < 3; passes += 1) {
      await program.work();
      bench.world.freeze(60_000);
    }
    expect(program.events.filter(({ reason }) => reason === 'UpdateRevisionFailing')).to.have.length(1);
    expect(program.events.at(-1)).to.include({ type: 'Warning', action: 'Waiting' });
  });

  it('do not report a step that did not happen', async () => {
    const [bench, program] = begin();
    bench.server.refuse('POST', /\/eviction$/, 403, 'Forbidden');
    await program.turn().catch(() => {});
    expect(program.events).to.deep.equal([]);
    expect(program.log.of('warn')).to.include('Step failed: evicting moco-test-2');
  });
});

describe('the log of a rollout', () => {
  it('has cluster, step and rule as fields, with one line for each step and each change of the rule', async () => {
    const [, program] = await atWork();
    const of = (level: string) => program.log.lines.filter((line) => line.level === level).map(({ fields }) => fields);
    const [step, ...others] = of('info');
    const waits = of('debug').filter((fields) => 'rule' in fields && 'stale' in fields);
    expect(step).to.deep.equal({
      cluster: 'default/test',
      step: 'evict',
      rule: 'ReplicaHealthy',
      result: 'done',
      member: member(2),
    });
    expect(others).to.deep.equal([]);
    expect(waits).to.deep.equal([{ cluster: 'default/test', rule: 'MemberTerminating', stale: 3, member: member(2) }]);
  });

  it('warns of a hold that needs a person, and of a brief one only once it has lasted', async () => {
    const [bench, program] = begin();
    bench.setting({ maxUnavailable: 'many' } as never);
    await program.work();
    await program.workAfter(60_000);
    const warned = () =>
      program.log.lines.flatMap(({ level, fields }) => (level === 'warn' && 'stale' in fields ? [fields] : []));
    expect(warned()).to.deep.equal([{ cluster: 'default/test', rule: 'SettingsInvalid', stale: 3 }]);
    bench.setting({});
    bench.changeRollout({ spec: { maxUnavailable: 1 } });
    await program.work();
    bench.replace(2);
    bench.mysqld(2, 'CrashLoopBackOff');
    await program.work();
    expect(warned().map((fields) => (fields as { rule?: string }).rule)).to.deep.equal([
      'SettingsInvalid',
      'UpdateRevisionFailing',
    ]);
  });

  it('has a line if the same rule holds because of another member', async () => {
    const [bench, program] = await atWork({ minReadySeconds: 60 });
    bench.replace(2);
    await program.work();
    bench.world.freeze(60_000);
    // The next one is taken and replaced between two passes.
    await program.turn();
    bench.replace(1);
    await program.work();
    const waited = program.log.lines.map(({ fields }) => fields as { rule?: string; member?: string });
    const settling = waited.filter(({ rule }) => rule === 'UpdatedMemberNotParticipating');
    expect(settling.map(({ member: about }) => about)).to.deep.equal([member(2), member(1)]);
  });
});
