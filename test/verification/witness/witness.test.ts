import { expect } from 'chai';
import { cluster, Scene } from './scene.ts';

describe('the witness', () => {
  it('accepts the eviction of a healthy replica and the deletion of one that is down', () => {
    const scene = new Scene();
    scene.take('evict', 2);
    scene.pod(2, { terminating: true });
    const other = new Scene();
    other.pod(1, { mysqld: 'CrashLoopBackOff' });
    other.take('delete', 1);
    expect([...scene.found, ...other.found]).to.deep.equal([]);
    expect(scene.witness.measures(cluster, 0)).to.include({ disruptions: 1, needless: 0, mostUnavailable: 3 });
  });

  it('accepts the deletion of a member that has long been behind, if a configured one remains', () => {
    const scene = new Scene();
    scene.pod(1, { mysqld: 'running' });
    scene.pod(2, { mysqld: 'running' });
    scene.wait(180_000);
    scene.take('delete', 2);
    expect(scene.found).to.deep.equal([]);
  });

  it('accepts in partition mode the deletion of a member that is down if it starts at the update revision or if no member participates', () => {
    const updated = new Scene();
    updated.inPartitionMode('new');
    updated.pod(1, { mysqld: 'CrashLoopBackOff' });
    updated.take('delete', 1);
    const unserved = new Scene();
    unserved.inPartitionMode('old');
    for (const ordinal of [0, 1, 2]) unserved.pod(ordinal, { mysqld: 'CrashLoopBackOff' });
    unserved.take('delete', 1);
    expect([...updated.found, ...unserved.found]).to.deep.equal([]);
  });

  it('accepts that containers of one member at work restart in place, and those of a primary that may stay', () => {
    const scene = new Scene();
    scene.restartInPlace(2, 'agent');
    const primary = new Scene();
    primary.settings({ inPlace: { primary: 'InPlace' } });
    primary.restartInPlace(0, 'slow-log');
    const alone = new Scene(1);
    alone.cluster({}, 1);
    alone.restartInPlace(0, 'slow-log');
    const asked = new Scene();
    asked.settings({ inPlace: { primary: 'InPlace' } });
    asked.restartInPlace(0, 'agent');
    expect([...scene.found, ...primary.found, ...alone.found, ...asked.found]).to.deep.equal([]);
  });

  it('accepts, outside of the maintenance windows, what repairs, and anything while one is open', () => {
    const maintenanceWindows = [{ schedule: '0 1 * * *', duration: 3600 }];
    const repairs = new Scene();
    repairs.settings({ maintenanceWindows });
    repairs.pod(1, { mysqld: 'CrashLoopBackOff' });
    repairs.take('delete', 1);
    const open = new Scene();
    open.settings({ maintenanceWindows });
    open.wait(3_600_000);
    open.take('evict', 2);
    const asksTooMuch = new Scene();
    asksTooMuch.adopted().settings({ maintenanceWindows });
    asksTooMuch.pod(1, { mysqld: 'CrashLoopBackOff', noNode: '3 Insufficient cpu' }).take('delete', 1);
    expect([...repairs.found, ...open.found, ...asksTooMuch.found]).to.deep.equal([]);
  });

  const broken: Readonly<Record<string, readonly [law: string, act: (scene: Scene) => unknown]>> = {
    'a healthy member is deleted': ['I4', (scene) => scene.take('delete', 2)],
    'a healthy primary is evicted': ['I3', (scene) => scene.take('evict', 0)],
    'an updated member is disrupted': [
      'I5',
      (scene) => scene.pod(2, { revision: 'new', mysqld: 'CrashLoopBackOff' }).take('delete', 2),
    ],
    'a member is deleted in partition mode that may start stale, while another one participates': [
      'I10',
      (scene) => scene.inPartitionMode('old').pod(1, { mysqld: 'CrashLoopBackOff' }).take('delete', 1),
    ],
    'a member is evicted whose claim is being deleted': [
      'I25',
      (scene) =>
        scene
          .put('PersistentVolumeClaim', 'mysql-data-moco-test-2', {}, { deletionTimestamp: '2026-07-01T12:00:00Z' })
          .take('evict', 2),
    ],
    'mysqld restarts in place': ['I17', (scene) => scene.restartInPlace(2, 'mysqld')],
    'a container of a primary restarts in place, unasked': ['I21', (scene) => scene.restartInPlace(0, 'slow-log')],
    'a member is resized before the kubelet has resized another one': [
      'I17',
      (scene) => scene.pod(2, { cpu: ['2', '1'] }).take('resize', 1),
    ],
    'a member is resized right after another one': [
      'I17',
      (scene) =>
        scene
          .pod(2, { cpu: ['2', '1'] })
          .pod(2, { cpu: ['2', '2'] })
          .wait(3_000)
          .take('resize', 1),
    ],
    'a member that waits for its node is deleted outside of the maintenance windows': [
      'awaited',
      (scene) =>
        scene
          .adopted()
          .settings({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: 3600 }] })
          .pod(1, { mysqld: 'CrashLoopBackOff', noNode: '1 node(s) had volume node affinity conflict' })
          .take('delete', 1),
    ],
    'a member is resized outside of the maintenance windows': [
      'maintenance',
      (scene) => scene.settings({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: 3600 }] }).take('resize', 2),
    ],
    'a running replica is deleted while no member serves as primary, however long that lasts': [
      'I20',
      (scene) =>
        scene
          .pod(0, { mysqld: 'CrashLoopBackOff' })
          .pod(1, { mysqld: 'running' })
          .pod(2, { mysqld: 'running' })
          .wait(3_600_000)
          .take('delete', 2),
    ],
    'a primary is disrupted without approval': [
      'I22',
      (scene) => scene.settings({ primaryUpdatePolicy: 'Manual', approvedRevision: 'other' }).take('setPartition', 0),
    ],
    'a primary is disrupted beside a stale replica that is pinned': [
      'I22',
      (scene) => scene.settings({ pinnedMembers: [{ ordinal: 2, reason: 'mine' }] }).take('setPartition', 0),
    ],
    'a container restarts in place while mysqld of that member is down': [
      'I17',
      (scene) => scene.pod(2, { mysqld: 'CrashLoopBackOff' }).restartInPlace(2, 'slow-log'),
    ],
    'one is disrupted that the quorum of those that acknowledge needs': [
      'I2b',
      (scene) => scene.pod(1, { mysqld: 'CrashLoopBackOff' }).pod(2, { mysqld: 'running' }).take('delete', 2),
    ],
    'one is disrupted that acknowledges, and the other behind may not': [
      'I2b',
      (scene) => scene.pod(1, { mysqld: 'running' }).pod(2, { mysqld: 'running' }).wait(170_000).take('delete', 2),
    ],
    'one is disrupted that acknowledges, and the other behind was never given a role': [
      'I2b',
      (scene) =>
        scene.pod(1, { mysqld: 'running', role: null }).pod(2, { mysqld: 'running' }).wait(600_000).take('delete', 2),
    ],
    'one is disrupted while MOCO is not done with another': [
      'settled',
      (scene) => scene.pod(1, { role: null }).take('evict', 2),
    ],
    'a healthy replica is evicted before a maintenance window opens': [
      'maintenance',
      (scene) => scene.settings({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: 3600 }] }).take('evict', 2),
    ],
    'a healthy replica is evicted after the maintenance window has closed': [
      'maintenance',
      (scene) =>
        scene
          .settings({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: 3600 }] })
          .wait(7_200_000)
          .take('evict', 2),
    ],
    'a healthy replica is evicted while a backup runs': [
      'backup',
      (scene) =>
        scene
          .put('Job', 'over', { status: { conditions: [{ type: 'Complete', status: 'True' }] } })
          .put('Job', 'emergency', {})
          .take('evict', 2),
    ],
    'one is disrupted that terminates anyway': [
      'terminating',
      (scene) => scene.pod(2, { terminating: true }).take('delete', 2),
    ],
    'a primary is disrupted that MOCO protects': [
      'protected',
      (scene) =>
        scene
          .pod(0, { mysqld: 'CrashLoopBackOff', annotations: { 'moco.cybozu.com/prevent-delete': 'true' } })
          .take('delete', 0),
    ],
    'a replica is disrupted that MOCO protects': [
      'protected',
      (scene) => scene.pod(2, { annotations: { 'moco.cybozu.com/prevent-delete': 'true' } }).take('evict', 2),
    ],
    'the user has paused': ['setting', (scene) => scene.settings({ paused: true }).take('evict', 2)],
    'the user keeps that member': [
      'setting',
      (scene) => scene.settings({ pinnedMembers: [{ ordinal: 2, reason: 'mine' }] }).take('evict', 2),
    ],
    "the user has stopped MOCO's clustering": [
      'stopped',
      (scene) =>
        scene.cluster({}, 3, { annotations: { 'moco.cybozu.com/clustering-stopped': 'true' } }).take('evict', 2),
    ],
  };
  for (const [sentence, [law, act]] of Object.entries(broken)) {
    it(`objects by ${law} when ${sentence}`, () => {
      const scene = new Scene();
      act(scene);
      expect(scene.found).to.deep.equal([`violation ${law}`]);
    });
  }

  it('objects by I2 if no majority would remain, and by the budget', () => {
    const scene = new Scene();
    scene.pod(1, { mysqld: 'CrashLoopBackOff' });
    scene.take('evict', 2);
    expect(scene.found).to.deep.equal(['violation I2', 'violation budget']);
  });

  it('accepts as many unavailable members as the user and the majority allow, and no more', () => {
    const allowed = (maxUnavailable: number | string, replicas: number, unavailable: number): readonly string[] => {
      const scene = new Scene(replicas);
      scene.settings({ maxUnavailable });
      for (let ordinal = 1; ordinal <= unavailable; ordinal++) scene.pod(ordinal, { terminating: true, role: null });
      scene.take('evict', replicas - 1);
      return scene.found;
    };
    expect([...allowed(2, 5, 1), ...allowed('40%', 5, 1), ...allowed(9, 7, 2)]).to.deep.equal([]);
    expect(allowed('39%', 5, 1)).to.deep.equal(['violation budget', 'violation settled']);
    expect(allowed(2, 5, 2)).to.deep.equal(['violation I2', 'violation budget']);
    expect(allowed(2, 3, 1)).to.deep.equal(['violation I2', 'violation budget', 'violation settled']);
  });

  it('requires no role that MOCO has not set for as long as a failover takes while it calls the cluster Healthy', () => {
    const judged = (seconds: number, healthy: 'True' | 'False', meanwhile: (scene: Scene) => void = () => {}) => {
      const scene = new Scene();
      scene.cluster({ conditions: [{ type: 'Healthy', status: healthy }] });
      scene.pod(1, { role: null });
      meanwhile(scene);
      scene.wait(seconds * 1000);
      scene.take('evict', 2);
      return scene.found;
    };
    const [none, tooEarly] = [[], ['violation settled']];
    expect(judged(180, 'True')).to.deep.equal(none);
    expect(judged(178, 'True')).to.deep.equal(tooEarly);
    expect(judged(3600, 'False'), 'MOCO has something to put right').to.deep.equal(tooEarly);
    const back = (scene: Scene): void => {
      scene.pod(1, { role: null, mysqld: 'running' });
      scene.wait(60_000);
      scene.pod(1, { role: null });
    };
    expect(judged(178, 'True', back), 'it has not been at work all the time').to.deep.equal(tooEarly);
    const moved = (scene: Scene): Scene =>
      scene.cluster({ currentPrimaryIndex: 1, conditions: [{ type: 'Healthy', status: 'True' }] });
    expect(judged(3600, 'True', moved), 'it has become primary').to.include('violation settled');
  });

  it('counts an unreachable member as unavailable, whatever its containers reported last', () => {
    const scene = new Scene();
    scene.pod(1, { ready: false });
    scene.take('evict', 2);
    expect(scene.found).to.deep.equal(['violation I2', 'violation budget']);
  });

  it('reports a race if a law held after the confirmation began, and a violation if it never did', () => {
    const scene = new Scene();
    const before = scene.now;
    scene.wait(30);
    scene.pod(1, { mysqld: 'CrashLoopBackOff' });
    scene.wait(10);
    scene.take('evict', 2, before);
    expect(scene.found).to.deep.equal(['race I2', 'race budget']);
    expect(scene.witness.findings[0]?.windowMilliseconds).to.equal(40);
  });

  it('accepts without a primary the deletion of that primary and of members that are down, and of replicas once a member serves', () => {
    const scene = new Scene();
    for (const ordinal of [0, 1]) scene.pod(ordinal, { mysqld: 'running' });
    scene.pod(2, { mysqld: 'CrashLoopBackOff' });
    scene.wait(181_000);
    scene.take('delete', 2);
    scene.take('delete', 0);
    for (const ordinal of [0, 2]) scene.pod(ordinal, { revision: 'new' });
    scene.take('delete', 1);
    expect(scene.found).to.deep.equal([]);
  });

  it('objects by I17 and I21 to the restart of the agent of a primary in place', () => {
    const scene = new Scene();
    scene.restartInPlace(0, 'agent');
    expect(scene.found).to.deep.equal(['violation I17', 'violation I21']);
  });

  it('accepts a resize after another one that has had its time', () => {
    const scene = new Scene();
    scene.pod(2, { cpu: ['2', '1'] });
    scene.pod(2, { cpu: ['2', '2'] });
    scene.wait(5_000);
    scene.take('resize', 1);
    expect(scene.found).to.deep.equal([]);
    expect(scene.witness.disruptions).to.deep.equal([]);
  });

  it('accepts the approved primary', () => {
    const scene = new Scene();
    scene.settings({ primaryUpdatePolicy: 'Manual', approvedRevision: 'new' });
    scene.take('setPartition', 0);
    expect(scene.found).to.deep.equal([]);
  });

  it('objects by I1 to a second member that was confirmed together with the first, by any process', () => {
    const scene = new Scene(5);
    const before = scene.now;
    scene.take('evict', 4, before, 'one');
    scene.pod(4, { terminating: true });
    scene.take('evict', 3, before, 'another');
    expect(scene.found).to.include('violation I1');
  });

  it('accepts one step for several members that are down', () => {
    const scene = new Scene();
    scene.pod(1, { mysqld: 'CrashLoopBackOff' });
    scene.pod(2, { mysqld: 'CrashLoopBackOff' });
    const before = scene.now;
    scene.take('delete', 2, before);
    scene.pod(2, { mysqld: 'CrashLoopBackOff', terminating: true });
    scene.take('delete', 1, before);
    expect(scene.found).to.deep.equal([]);
  });

  it('objects by I7 to a second healthy member for an unverified revision', () => {
    const scene = new Scene(5);
    scene.take('evict', 4);
    scene.pod(4, { revision: 'new', mysqld: 'CrashLoopBackOff' });
    scene.take('evict', 3);
    expect(scene.found).to.include('violation I7');
    const verified = new Scene(5);
    verified.take('evict', 4);
    verified.pod(4, { revision: 'new' });
    verified.take('evict', 3);
    expect(verified.found).to.deep.equal([]);
  });

  it('counts a member once if its partition is lowered again after the StatefulSet was re-created', () => {
    const scene = new Scene(5);
    scene.settings({ maxUnavailable: 2 });
    scene.take('setPartition', 4);
    scene.pod(4, { revision: 'new', mysqld: 'running' });
    scene.take('setPartition', 3);
    scene.take('setPartition', 3);
    expect(scene.found).to.not.include('violation I7');
  });

  it('does not count a member as tried if its pod came back unchanged', () => {
    const scene = new Scene(5);
    scene.settings({ maxUnavailable: 2 });
    scene.take('setPartition', 2);
    scene.pod(2, { terminating: true });
    scene.pod(2, { uid: 'another' });
    scene.take('setPartition', 4);
    scene.pod(4, { revision: 'new', mysqld: 'running' });
    scene.take('setPartition', 3);
    expect(scene.found).to.not.include('violation I7');
    scene.pod(3, { revision: 'new', mysqld: 'running' });
    scene.take('setPartition', 1);
    expect(scene.found).to.include('violation I7');
  });

  it('objects to a rollout that is reported complete while a member runs another image', () => {
    const scene = new Scene();
    const type = 'moco-rollout.io/RolloutComplete';
    scene.cluster({ conditions: [{ type, status: 'True', observedGeneration: 2 }] });
    expect(scene.found).to.deep.equal(['violation complete']);
    expect(scene.witness.findings[0]?.text).to.contain('0, 1, 2');
  });

  it('counts the end of a member as needless only if it has the label and the resources of the update revision', () => {
    const needless = (cpu: string): number => {
      const scene = new Scene();
      const template = {
        spec: { containers: [{ name: 'mysqld', image: 'new', resources: { limits: { cpu: '1' } } }] },
      };
      const status = { updateRevision: 'new' };
      scene.put('StatefulSet', 'moco-test', { spec: { replicas: 3, template }, status });
      scene.pod(2, { revision: 'new', cpu: [cpu, cpu] });
      scene.take('evict', 2);
      return scene.witness.measures(cluster, 0).needless;
    };
    expect([needless('1'), needless('2')]).to.deep.equal([1, 0]);
  });

  it('objects to a rollout that is reported complete while a member has other resources', () => {
    const scene = new Scene();
    for (const ordinal of [0, 1, 2]) scene.pod(ordinal, { revision: 'new', cpu: [ordinal === 1 ? '2' : '1', '1'] });
    const conditions = [{ type: 'moco-rollout.io/RolloutComplete', status: 'True', observedGeneration: 2 }];
    scene.cluster({ conditions }, 3, {}, { resources: { limits: { cpu: '1' } } });
    expect(scene.witness.findings.map(({ law, text }) => [law, text])).to.deep.equal([
      ['complete', 'RolloutComplete was True with other images or resources in 1'],
    ]);
  });

  it('measures time without a writable primary, unavailable members and switchovers', () => {
    const scene = new Scene();
    scene.wait(1_000);
    scene.cluster({ currentPrimaryIndex: 1 });
    scene.wait(2_000);
    scene.pod(1, { role: 'primary' });
    scene.pod(2, { terminating: true });
    scene.wait(1_000);
    scene.pod(0, { role: 'replica' });
    expect(scene.witness.measures(cluster, 500)).to.deep.equal({
      secondsWithoutWritablePrimary: 2,
      mostUnavailable: 1,
      switchovers: 1,
      disruptions: 0,
      needless: 0,
    });
  });
});
