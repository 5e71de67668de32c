import { expect } from 'chai';
import { cluster, type PodOptions, Scene } from './scene.ts';

const long = 6_000;
const short = 3_000;

/** A program that could act all the time, and a paused rollout of three members, none of them updated. */
function paused(spec: object = { paused: true }): Scene {
  const scene = new Scene();
  scene.ability.leads(true, 0);
  scene.adopted();
  scene.settings(spec);
  scene.wait(60_000);
  return scene;
}

/** Somebody else takes a member, and its pod is there again after so long. */
function loses(scene: Scene, ordinal: number, milliseconds: number, revision: string): void {
  scene.pod(ordinal, { terminating: true });
  scene.wait(milliseconds);
  scene.gone(ordinal);
  scene.pod(ordinal, { uid: `${ordinal}-again`, revision, role: null, mysqld: 'running' });
}

const outcomes = (scene: Scene): readonly string[] =>
  scene.witness.lostMembers(cluster).lost.map(({ outcome }) => outcome);

/** Member 2 visibly works at the update revision. */
function halfDone(scene: Scene): void {
  scene.pod(2, { uid: 'two', revision: 'new' });
  scene.wait(20_000);
  scene.pod(2, { uid: 'two', revision: 'new' });
}

describe('the witness of lost members', () => {
  it('objects by I24 to a held member that comes back updated although there was time to keep it', () => {
    for (const spec of [
      { paused: true },
      { pinnedMembers: [{ ordinal: 1 }] },
      { partition: 2 },
      { lostMembers: 'KeepRevision' },
      { maintenanceWindows: [{ schedule: '0 1 * * *', duration: 3600 }] },
    ]) {
      const scene = paused(spec);
      halfDone(scene);
      loses(scene, 1, long, 'new');
      expect(scene.found, JSON.stringify(spec)).to.deep.equal(['violation I24']);
    }
  });

  it('accepts one that comes back updated after its grace period, beside a member that works at the update revision', () => {
    const image = 'mysql:8.4.0';
    const scene = paused();
    for (const ordinal of [0, 1]) scene.pod(ordinal, { image });
    scene.pod(2, { uid: 'two', revision: 'new', image });
    scene.pod(1, { image, terminating: true });
    scene.wait(301_000);
    scene.gone(1);
    scene.pod(1, { uid: 'again', revision: 'new', image });
    expect(scene.found).to.deep.equal([]);
  });

  it('holds a revision that no member has verified, from every member', () => {
    const scene = paused({});
    loses(scene, 1, long, 'new');
    expect(scene.found).to.deep.equal(['violation I24']);
  });

  it('accepts that it comes back at its previous revision, and counts it', () => {
    const scene = paused();
    scene.pod(1, { terminating: true });
    scene.wait(long);
    scene.adopted({ keeps: true });
    scene.gone(1);
    scene.pod(1, { uid: 'again', role: null });
    expect(scene.found).to.deep.equal([]);
    expect(outcomes(scene)).to.deep.equal(['kept']);
  });

  it('accepts one that comes back updated before the program could act', () => {
    const soon = paused();
    loses(soon, 1, short, 'new');
    const impeded = paused();
    impeded.ability.impede(0, 64_000);
    loses(impeded, 1, long, 'new');
    const away = paused();
    away.ability.leads(false, 0);
    loses(away, 1, long, 'new');
    const forced = paused();
    forced.gone(1);
    forced.pod(1, { uid: 'again', revision: 'new' });
    for (const scene of [soon, impeded, away, forced]) {
      expect([scene.found, outcomes(scene)]).to.deep.equal([[], ['late']]);
    }
  });

  it('notices that a failed pod is going', () => {
    const scene = paused();
    scene.pod(1, { phase: 'Failed', mysqld: 'running' });
    scene.wait(long);
    scene.gone(1);
    scene.pod(1, { uid: 'again', revision: 'new' });
    expect(scene.found).to.deep.equal(['violation I24']);
  });

  it('accepts one that the program has disrupted, or was about to disrupt', () => {
    const taken = paused({});
    taken.take('evict', 1);
    loses(taken, 1, long, 'new');
    const intended = paused({});
    const pods = [{ name: 'moco-test-1', uid: 'moco-test-1-uid' }];
    intended.settings({}, { intent: { id: '1', step: 'evict', revision: 'new', pods } });
    loses(intended, 1, long, 'new');
    expect([taken.found, intended.found, outcomes(taken), outcomes(intended)]).to.deep.equal([[], [], [], []]);
  });

  it('accepts one that nothing holds once the revision is verified', () => {
    const scene = paused({});
    halfDone(scene);
    loses(scene, 1, long, 'new');
    expect([scene.found, outcomes(scene)]).to.deep.equal([[], []]);
  });

  it('accepts it beside a member that works at the update revision and goes as well', () => {
    const scene = paused();
    halfDone(scene);
    scene.pod(2, { uid: 'two', revision: 'new', terminating: true });
    loses(scene, 1, long, 'new');
    expect(scene.found).to.deep.equal([]);
    expect(scene.witness.lostMembers(cluster).lost).to.deep.include.members([
      {
        ordinal: 1,
        because: 'paused',
        outcome: 'late',
        afterMilliseconds: long,
        atMilliseconds: 86_000,
        isBesideWorking: true,
      },
    ]);
  });

  it('accepts it where the StatefulSet is not the program’s to set', () => {
    const offline = paused();
    offline.put('MySQLCluster', 'test', {
      spec: { replicas: 3, offline: true, podTemplate: { spec: { containers: [] } } },
    });
    const unlabelled = paused();
    unlabelled.inPartitionMode('old');
    for (const scene of [offline, unlabelled]) {
      loses(scene, 1, long, 'new');
      expect(scene.found).to.deep.equal([]);
    }
  });

  it('accepts one whose cluster is offline after it began to go, and objects if that ended before', () => {
    const goesOffline = (scene: Scene, offline: boolean): void => {
      const spec = { replicas: 3, offline, podTemplate: { spec: { containers: [] } } };
      scene.put('MySQLCluster', 'test', { spec, status: { currentPrimaryIndex: 0 } });
    };
    const during = paused();
    goesOffline(during, true);
    during.pod(1, { terminating: true });
    during.wait(short);
    goesOffline(during, false);
    loses(during, 1, 10_000, 'new');
    const before = paused();
    before.pod(1, { terminating: true });
    before.wait(short);
    goesOffline(before, true);
    before.wait(short);
    goesOffline(before, false);
    loses(before, 1, 10_000, 'new');
    expect([during.found, before.found]).to.deep.equal([[], []]);
    const afterwards = paused();
    goesOffline(afterwards, true);
    afterwards.wait(short);
    goesOffline(afterwards, false);
    afterwards.wait(short);
    loses(afterwards, 1, 10_000, 'new');
    expect(afterwards.found).to.deep.equal(['violation I24']);
  });

  it('objects to a member that has worked at the verified update revision and comes back at an older one', () => {
    const scene = paused();
    halfDone(scene);
    scene.adopted({ keeps: true });
    scene.pod(2, { uid: 'two', revision: 'new', terminating: true });
    scene.wait(long);
    scene.gone(2, 'two');
    scene.pod(2, { uid: 'three', revision: 'old' });
    expect(scene.found).to.deep.equal(['violation I24']);
  });

  it('accepts that if it has never started, if no member has verified the revision, or if it was lost too soon before', () => {
    const unstarted = paused();
    halfDone(unstarted);
    unstarted.adopted({ keeps: true });
    unstarted.pod(1, { uid: 'one', revision: 'new', mysqld: 'CrashLoopBackOff' });
    unstarted.pod(1, { uid: 'one', revision: 'new', mysqld: 'CrashLoopBackOff', terminating: true });
    unstarted.wait(long);
    unstarted.gone(1, 'one');
    unstarted.pod(1, { uid: 'other' });
    const unverified = paused();
    unverified.adopted({ keeps: true });
    unverified.pod(2, { uid: 'two', revision: 'new' });
    unverified.pod(2, { uid: 'two', revision: 'new', terminating: true });
    unverified.wait(long);
    unverified.gone(2, 'two');
    unverified.pod(2, { uid: 'three' });
    const soon = paused();
    halfDone(soon);
    soon.adopted({ keeps: true });
    soon.pod(2, { uid: 'two', revision: 'new', terminating: true });
    soon.wait(short);
    soon.gone(2, 'two');
    soon.pod(2, { uid: 'three' });
    expect([unstarted.found, unverified.found, soon.found]).to.deep.equal([[], [], []]);
  });

  it('objects to a step that replaces a member while new pods start at the current revision', () => {
    const scene = paused({});
    scene.adopted({ keeps: true });
    scene.take('evict', 2);
    expect(scene.found).to.deep.equal(['violation I24']);
  });

  it('objects to a member that a step has replaced and that comes back at its previous revision, unless another one or the record is lost', () => {
    const takesTwo = (): Scene => {
      const scene = paused({});
      scene.take('evict', 2);
      scene.pod(2, { terminating: true });
      scene.adopted({ keeps: true });
      return scene;
    };
    const alone = takesTwo();
    alone.gone(2);
    alone.pod(2, { uid: 'again' });
    expect(alone.found).to.deep.equal(['violation I24']);
    const beside = takesTwo();
    beside.pod(1, { terminating: true });
    beside.gone(2);
    beside.pod(2, { uid: 'again' });
    expect(beside.found).to.deep.equal([]);
    const forgotten = takesTwo();
    forgotten.put('MySQLRollout', 'test', { spec: {}, status: {} }, { uid: 'another' });
    forgotten.gone(2);
    forgotten.pod(2, { uid: 'again' });
    expect(forgotten.found).to.deep.equal([]);
  });
});

describe('the witness of restored members', () => {
  /** The program deletes a member at the update revision that is to come back as what it was. */
  function restores(scene: Scene, ordinal: number, spec: object = { paused: true }): void {
    const pods = [{ name: `moco-test-${ordinal}`, uid: `moco-test-${ordinal}-uid` }];
    scene.settings(spec, { intent: { id: '1', step: 'restore', revision: 'new', pods } });
    scene.take('delete', ordinal);
  }
  const updated = { revision: 'new', role: null, mysqld: 'CrashLoopBackOff' } as const;
  function replaced(scene: Scene, ordinal: number, options: PodOptions): void {
    scene.gone(ordinal);
    scene.pod(ordinal, options);
  }

  it('accepts one that is held and whose mysqld has never started, and counts it once it is back', () => {
    const scene = paused();
    replaced(scene, 1, updated);
    scene.adopted({ keeps: true });
    restores(scene, 1);
    scene.gone(1);
    scene.pod(1, { uid: 'again', role: null });
    expect(scene.found).to.deep.equal([]);
    expect(scene.witness.lostMembers(cluster).restored).to.equal(1);
    expect(scene.witness.measures(cluster, 0)).to.include({ disruptions: 1, needless: 0 });
  });

  it('objects to one whose mysqld has started, unless a person has asked for it', () => {
    const scene = paused();
    replaced(scene, 1, { ...updated, mysqld: 'running' });
    scene.adopted({ keeps: true });
    restores(scene, 1);
    expect(scene.found).to.deep.equal(['violation I24']);
    const asked = paused();
    replaced(asked, 1, { ...updated, mysqld: 'running' });
    asked.adopted({ keeps: true });
    restores(asked, 1, { restore: { revision: 'new', ordinals: [1] } });
    expect(asked.found).to.deep.equal([]);
  });

  it('objects to one that is stale, or while new pods start at the update revision, or that nothing holds', () => {
    const stale = paused();
    replaced(stale, 1, { ...updated, revision: 'old' });
    stale.adopted({ keeps: true });
    restores(stale, 1);
    const early = paused();
    replaced(early, 1, updated);
    restores(early, 1);
    const free = paused({});
    halfDone(free);
    replaced(free, 1, updated);
    free.adopted({ keeps: true });
    restores(free, 1, {});
    for (const scene of [stale, early, free]) expect(scene.found).to.deep.equal(['violation I24']);
  });
});
