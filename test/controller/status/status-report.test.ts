import { expect } from 'chai';
import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import { isShown } from '../../../src/controller/status/due.ts';
import type { Hold } from '../../../src/core/decision.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { atWork, Bench, begin } from '../bench.ts';
import { revisionAfter, revisionBefore, statefulSet } from '../moco-objects.ts';
import { heldByMoco } from '../object-server.ts';
import { rollOut, switchOver } from '../whole-rollout.ts';

const condition = ({ conditions }: RolloutStatus, type: string): string | undefined =>
  conditions?.find((candidate) => candidate.type === type)?.status;

describe('the status of a rollout', () => {
  it('follows it from its first stale member to its end', async () => {
    const [bench, program] = begin();
    const startedAt = bench.now;
    await program.reportAll();
    expect(bench.status).to.deep.include({ phase: 'Progressing', updatedReplicas: 0, updateRevision: revisionAfter });
    expect(bench.status.rollout).to.deep.include({
      revision: revisionAfter,
      startedAt,
      verified: false,
      takenDown: [],
      disruptions: 1,
      switchovers: 0,
    });
    expect(bench.status.lastStep).to.deep.include({
      step: 'evict',
      rule: 'ReplicaHealthy',
      pods: ['moco-test-2'],
      at: startedAt,
      result: 'done',
    });
    expect(condition(bench.status, 'Reconciling')).to.equal('True');

    bench.replace(2);
    await program.reportAll();
    expect(bench.status).to.deep.include({ updatedReplicas: 1, primary: 0 });
    expect(bench.status.rollout).to.deep.include({ verified: true, disruptions: 2 });

    bench.replace(1);
    const askedAt = bench.now;
    await program.reportAll();
    expect(bench.status.hold).to.deep.include({ rule: 'AwaitingSwitchover' });
    expect(bench.status.members?.[0]).to.deep.include({ role: 'primary', verdict: 'Next', rule: 'AwaitingSwitchover' });
    expect(bench.status.rollout).to.have.nested.property('tries.askedAt', askedAt);
    expect(bench.status.rollout).to.have.nested.property('tries.pod.name', 'moco-test-0');

    switchOver(bench, 0, 1);
    await program.reportAll();
    expect(bench.status.rollout).to.deep.include({ switchovers: 1, disruptions: 3, tries: { count: 0 } });

    bench.replace(0);
    const before = bench.now;
    await program.work();
    expect(bench.status.rollout).to.equal(undefined);
    expect(bench.status.hold).to.equal(undefined);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.history?.at(-1)).to.deep.include({
      revision: revisionAfter,
      startedAt,
      disruptions: 3,
      switchovers: 1,
      outcome: 'Complete',
    });
    expect(bench.status.history?.at(-1)?.finishedAt).to.equal(before);
    expect(bench.status).to.deep.include({ phase: 'UpToDate', updatedReplicas: 3, currentRevision: revisionAfter });
    expect(['Reconciling', 'Stalled', 'Ready'].map((type) => condition(bench.status, type))).to.deep.equal([
      'False',
      'False',
      'True',
    ]);
  });

  it('counts a switchover and a finished rollout in the metrics, once', async () => {
    const [bench, program] = begin();
    await rollOut(bench, program);
    const metric = (name: string): Promise<string> => program.registry.getSingleMetricAsString(name);
    expect(await metric('moco_rollout_switchovers_total')).to.match(/\{outcome="Done"\} 1$/m);
    expect(await metric('moco_rollout_finished_total')).to.match(/\{outcome="Complete"\} 1$/m);
    expect(await metric('moco_rollout_disruptions_total')).to.match(/\{verb="evict",rule="ReplicaHealthy"\} 3$/m);
    expect(await metric('moco_rollout_member_update_duration_seconds')).to.match(/_count 3$/m);
  });

  it('has nothing that changes by time alone, at any point of the rollout', async () => {
    const [bench, program] = begin();
    const stages: readonly (() => void)[] = [
      () => {},
      () => bench.replace(2, { ready: false }),
      () => bench.mysqld(2, 'CrashLoopBackOff'),
      () => bench.mysqld(2, 'ready'),
      () => bench.replace(1),
    ];
    for (const [stage, happens] of stages.entries()) {
      happens();
      await program.work();
      // Passing rules are shown by now, limits of a minute are over; that of a switchover is not.
      await program.workAfter(61_000);
      const said = JSON.stringify(bench.status);
      await program.workAfter(7_000);
      expect(JSON.stringify(bench.status), `stage ${stage}`).to.equal(said);
    }
  });

  it('keeps how long a rule has held, also while another one covers it, and restarts when it holds again', async () => {
    const [bench, program] = begin();
    bench.setting({ paused: true });
    const since = bench.now;
    await program.work();
    bench.world.freeze(60_000);
    bench.changePod(1, { metadata: { labels: { x: 'y' } } });
    await program.work();
    expect(bench.status.hold).to.deep.equal({
      rule: 'Paused',
      message: 'the rollout is paused by spec.paused of the MySQLRollout',
      since,
    });
    bench.changeCluster({ metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': 'true' } } });
    await program.work();
    expect(bench.status.hold?.rule).to.equal('ClusteringStopped');
    bench.changeCluster({ metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': null } } });
    await program.work();
    expect(bench.status.hold).to.deep.include({ rule: 'Paused', since });
    bench.changeCluster({ metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': 'true' } } });
    bench.setting({ paused: false });
    await program.work();
    bench.changeCluster({ metadata: { annotations: { 'moco.cybozu.com/clustering-stopped': null } } });
    bench.setting({ paused: true });
    const again = bench.now;
    await program.work();
    expect(bench.status.hold).to.deep.include({ rule: 'Paused', since: again });
  });

  it('restarts how long a rule has held after a step, although the same one holds again', async () => {
    const [bench, program] = await atWork({ minReadySeconds: 30 });
    bench.replace(2);
    await program.work();
    const first = bench.status.hold;
    expect(first?.rule).to.equal('UpdatedMemberNotParticipating');
    bench.world.freeze(30_000);
    // The pod is taken and replaced between two passes.
    await program.turn();
    bench.replace(1);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    expect(bench.status.hold?.rule).to.equal('UpdatedMemberNotParticipating');
    expect(bench.status.hold?.since).to.not.equal(first?.since);
  });

  it('remembers members that were down before they were disrupted, and does not count them as failed', async () => {
    const bench = new Bench();
    bench.mysqld(2, 'CrashLoopBackOff');
    const program = await bench.started();
    expect(bench.steps).to.deep.equal(['delete 2']);
    bench.replace(2);
    bench.mysqld(2, 'CrashLoopBackOff');
    await program.work();
    expect(bench.status.hold?.rule).to.not.equal('UpdateRevisionFailing');
    expect(bench.status.rollout?.takenDown).to.deep.equal([2]);
  });

  it('does not count a container that crashes now and then as progress', async () => {
    const [bench, program] = await atWork();
    bench.replace(2, { ready: false });
    await program.work();
    const progressAt = bench.status.rollout?.lastProgressAt;
    for (let restart = 0; restart < 3; restart += 1) {
      for (const does of ['CrashLoopBackOff', 'starting'] as const) {
        bench.world.freeze(20_000);
        bench.mysqld(2, does);
        await program.work();
      }
    }
    expect(bench.status.rollout?.lastProgressAt).to.equal(progressAt);
    bench.mysqld(2, 'ready');
    const readyAt = bench.now;
    await program.work();
    expect(Date.parse(bench.status.rollout?.lastProgressAt ?? '')).to.be.at.least(Date.parse(readyAt));
  });

  it('counts a cancelled demotion, waits for its retry, and keeps counting', async () => {
    const bench = new Bench();
    bench.replace(2);
    bench.replace(1);
    const program = await bench.started();
    expect(bench.steps).to.deep.equal(['demote 0']);
    await program.workAfter(90_000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0']);
    const tries = bench.status.rollout?.tries;
    expect(tries).to.have.all.keys('count', 'lastEndedAt');
    expect(tries?.count).to.equal(1);
    expect(bench.status.rollout?.switchovers).to.equal(0);
    expect(bench.status.hold?.rule).to.equal('SwitchoverFailing');
    expect(condition(bench.status, 'Stalled'), 'it will be tried again').to.equal('False');
    await program.workAfter(280_000);
    expect(bench.steps).to.have.length(2);
    await program.workAfter(20_000);
    expect(bench.steps).to.deep.equal(['demote 0', 'undemote 0', 'demote 0']);
    await program.workAfter(90_000);
    expect(bench.status.rollout?.tries?.count).to.equal(2);
    expect(await program.registry.getSingleMetricAsString('moco_rollout_switchovers_total')).to.contain(
      '{outcome="TakenBack"} 2',
    );
  });

  it('starts over with another template, and records how the previous rollout ended', async () => {
    const [bench, program] = await atWork();
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    const changedAt = bench.now;
    await program.work();
    expect(bench.status.history?.at(-1)).to.deep.include({
      revision: revisionAfter,
      outcome: 'Superseded',
      finishedAt: changedAt,
      disruptions: 1,
    });
    expect(bench.status.rollout).to.deep.include({
      revision: 'moco-test-third',
      from: revisionBefore,
      startedAt: changedAt,
      verified: false,
      disruptions: 0,
    });
  });

  it('does not count a revision as verified because the previous one was', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    await program.work();
    expect(bench.status.rollout?.verified).to.equal(true);
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-third' } });
    bench.replace(1, { revision: 'moco-test-third' });
    bench.mysqld(1, 'ImagePullBackOff');
    await program.work();
    expect(bench.status.hold?.rule).to.equal('UpdateRevisionFailing');
    expect(bench.status.rollout).to.include({ revision: 'moco-test-third', verified: false });
  });

  it('is kept while MOCO re-creates the StatefulSet', async () => {
    const [bench, program] = await atWork();
    bench.replace(2);
    bench.setting({ paused: true });
    await program.work();
    const { rollout } = bench.status;
    expect(rollout?.verified).to.equal(true);
    bench.server.remove(statefulSets, 'moco-test');
    await program.work();
    await program.workAfter(10_000);
    expect(bench.status.hold?.rule).to.equal('StatefulSetMissing');
    expect({ ...bench.status.rollout, heldFor: undefined }).to.deep.equal({ ...rollout, heldFor: undefined });
    bench.server.create(statefulSets, { ...statefulSet(), status: {} });
    await program.work();
    bench.changeStatefulSet({ status: { observedGeneration: 6, updateRevision: revisionAfter } });
    await program.work();
    expect(bench.status.history).to.equal(undefined);
    expect(bench.status.rollout).to.deep.include({ startedAt: rollout?.startedAt, verified: true });
  });

  it('counts each update revision once, also if the status is written after the revision changed', async () => {
    const [bench, program] = await atWork();
    for (const updateRevision of ['moco-test-third', 'moco-test-fourth']) {
      bench.changeStatefulSet({ status: { updateRevision } });
      await program.work();
    }
    expect(bench.status.history?.map(({ outcome }) => outcome)).to.deep.equal(['Superseded', 'Superseded']);
    bench.replace(2, { revision: 'moco-test-fourth' });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
  });

  it('holds when update revisions come too fast', async () => {
    const [bench, program] = begin();
    bench.setting({ paused: true });
    const revisions = Array.from({ length: 10 }, (_, index) => `moco-test-${index}`);
    for (const updateRevision of revisions) {
      bench.changeStatefulSet({ status: { updateRevision } });
      await program.work();
      bench.world.freeze(1000);
    }
    bench.setting({ paused: false });
    await program.work();
    expect(bench.status.hold?.rule).to.equal('RevisionFlapping');
    expect(bench.steps).to.deep.equal([]);
    await program.workAfter(600_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('names the newest version of mysqld, and for each member the version and its source', async () => {
    const bench = new Bench();
    const spec = { containers: [{ name: 'mysqld', image: 'mysql:8.0.40' }] };
    bench.server.change(pods, 'moco-test-1', { spec });
    bench.mysql.server = { version: '8.4.9', replicaAddresses: [] };
    bench.mysql.says('moco-test-1', { kind: 'unknown', message: 'no' });
    const program = bench.startAsking();
    await program.work();
    await program.reportAll();
    expect(bench.status.mysqlVersion).to.equal('8.4.9');
    expect(bench.status.members?.map(({ mysqld }) => mysqld)).to.deep.equal([
      { version: '8.4.9', source: 'server' },
      { version: '8.0.40', source: 'tag' },
      { version: '8.4.9', source: 'server' },
    ]);
    expect(bench.status.rollout?.mysql).to.deep.equal({ from: '8.0.40', to: '8.4.8' });
  });

  it('describes each existing member', async () => {
    const bench = new Bench();
    bench.server.admit = heldByMoco;
    const program = bench.start();
    bench.mysqld(1, 'ImagePullBackOff');
    bench.setting({ paused: true });
    await program.work();
    bench.server.remove(pods, 'moco-test-2');
    await program.reportAll();
    expect(bench.status.members).to.deep.equal([
      {
        ordinal: 0,
        role: 'primary',
        revision: revisionBefore,
        updated: false,
        state: 'participating',
        verdict: 'Waiting',
        rule: 'Paused',
        mysqld: { version: '8.4.8', source: 'tag' },
        data: { revision: revisionBefore, version: '8.4.8' },
      },
      {
        ordinal: 1,
        role: 'replica',
        revision: revisionBefore,
        updated: false,
        state: 'down',
        verdict: 'Next',
        rule: 'Paused',
        message: 'container mysqld is waiting (ImagePullBackOff)',
        mysqld: { version: '8.4.8', source: 'tag' },
      },
      {
        ordinal: 2,
        role: 'replica',
        updated: false,
        state: 'missing',
        verdict: 'Missing',
        message: 'another client deleted its pod; it comes back at its previous revision: Paused holds',
      },
    ]);
    expect(bench.status).to.deep.include({
      replicas: 3,
      participatingReplicas: 1,
      readyReplicas: 1,
      currentReplicas: 2,
    });
  });
});

describe('a transient hold', () => {
  it('is shown nowhere before it has lasted for 10 s, and then everywhere', async () => {
    const [bench, program] = begin();
    bench.changeCluster({ metadata: { generation: 2 } });
    await program.work();
    expect(JSON.stringify(bench.status)).to.not.contain('NotReconciled');
    expect(program.events.map(({ reason }) => reason)).to.not.include('NotReconciled');
    await program.workAfter(10_000);
    expect(bench.status.hold?.rule).to.equal('NotReconciled');
    expect(bench.status.members?.[2]?.rule).to.equal('NotReconciled');
    const ofTheRollout = bench.status.conditions?.filter(({ type }) => type !== 'PolicyInForce');
    expect(ofTheRollout?.map(({ reason }) => reason)).to.deep.equal(Array(3).fill('NotReconciled'));
    expect(program.events.filter(({ reason }) => reason === 'NotReconciled')).to.have.length(1);
  });

  it('is requeued for the moment at which it is to be shown', async () => {
    const [bench, program] = begin();
    bench.changeCluster({ metadata: { generation: 2 } });
    await program.turn();
    bench.world.freeze(4000);
    expect(await program.turn()).to.deep.equal({ requeueAfterMilliseconds: 6000 });
  });

  const holds: Readonly<Record<string, readonly [hold: Hold, heldForSeconds: number, shown: boolean]>> = {
    'a transient one, at first': [{ rule: 'StatefulSetNotObserved' }, 9.9, false],
    'a transient one, after 10 s': [{ rule: 'StatefulSetNotObserved' }, 10, true],
    'one that a user requested': [{ rule: 'Paused' }, 0, true],
    'a budget closed by a backup': [budgetHold('closed'), 0, true],
    'several budgets': [budgetHold('several'), 0, true],
    'a budget that is used, at first': [budgetHold('used'), 0, false],
    'a budget that has refused, after 10 s': [budgetHold('refused'), 10, true],
  };
  for (const [what, [hold, heldForSeconds, shown]] of Object.entries(holds)) {
    it(`is distinguished from others: ${what} is ${shown ? 'shown' : 'not shown'}`, () => {
      expect(isShown(hold, heldForSeconds)).to.equal(shown);
    });
  }
});

function budgetHold(cause: Extract<Hold, { rule: 'BlockedByPDB' }>['cause']): Hold {
  return { rule: 'BlockedByPDB', budget: 'moco-test', cause, healthy: 3, needed: 2, message: null };
}
