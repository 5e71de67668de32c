import { expect } from 'chai';
import { undeclared } from './observed-effects.ts';
import { cluster, Scene } from './scene.ts';

/** The program has written down that it is about to do this to that member. */
function intend(scene: Scene, ordinal: number, effects?: readonly string[]): void {
  const pods = [{ name: `moco-test-${ordinal}`, uid: `moco-test-${ordinal}-uid` }];
  const intent = { id: 'one', step: 'evict', revision: 'new', pods, ...(effects && { effects }) };
  scene.put('MySQLRollout', 'test', { status: { intent } });
}

/** The pod goes, and another one comes. */
function replaced(scene: Scene, ordinal: number): void {
  scene.pod(ordinal, { terminating: true });
  scene.wait(20_000);
  scene.gone(ordinal);
  scene.wait(5_000);
  scene.pod(ordinal, { uid: 'successor', revision: 'new' });
}

const effectsIn = (scene: Scene): readonly string[] => scene.witness.effects(cluster).toSorted();

describe('the effects of a step that the objects show:', () => {
  it('a replica that works is evicted', () => {
    const scene = new Scene();
    scene.take('evict', 2);
    replaced(scene, 2);
    expect(effectsIn(scene)).to.deep.equal(['brings', 'leavesService', 'stops']);
  });

  it('a member that is down is deleted: it only comes back with the revision', () => {
    const scene = new Scene();
    scene.pod(2, { mysqld: 'CrashLoopBackOff' });
    scene.take('delete', 2);
    scene.pod(2, { mysqld: 'CrashLoopBackOff', terminating: true });
    scene.gone(2);
    scene.pod(2, { uid: 'successor', revision: 'new' });
    expect(effectsIn(scene)).to.deep.equal(['brings']);
  });

  it('a running replica is deleted while no member serves: its relay log is lost', () => {
    const scene = new Scene();
    scene.pod(0, { mysqld: 'CrashLoopBackOff' });
    scene.pod(2, { mysqld: 'running' });
    scene.take('delete', 2);
    replaced(scene, 2);
    expect(effectsIn(scene)).to.deep.equal(['brings', 'losesRelayLog', 'stops']);
  });

  it('a primary that works is deleted: MOCO moves its index', () => {
    const scene = new Scene();
    scene.take('delete', 0);
    scene.pod(0, { terminating: true });
    scene.cluster({ currentPrimaryIndex: 1 });
    expect(effectsIn(scene)).to.deep.equal(['leavesService', 'movesPrimary']);
  });

  it('a primary is demoted', () => {
    const scene = new Scene();
    scene.take('demote', 0);
    scene.pod(0, { annotations: { 'moco.cybozu.com/demote': 'true' } });
    scene.cluster({ currentPrimaryIndex: 1 });
    scene.pod(0, { role: null });
    expect(effectsIn(scene)).to.deep.equal(['leavesService', 'movesPrimary']);
  });

  it('a container restarts in place, with the member out of its Service for that time', () => {
    const scene = new Scene();
    scene.restartInPlace(2, 'slow-log');
    scene.pod(2, { ready: false, restarts: 1 });
    scene.pod(2, { restarts: 1 });
    expect(effectsIn(scene)).to.deep.equal(['brings', 'leavesService']);
  });

  it('a member is resized', () => {
    const scene = new Scene();
    scene.take('resize', 2);
    scene.pod(2, { cpu: ['2', '1'] });
    scene.pod(2, { cpu: ['2', '2'] });
    expect(effectsIn(scene)).to.deep.equal(['brings']);
  });

  it('a member is restored: a later update of its next pod in place is another step', () => {
    const scene = new Scene();
    scene.pod(2, { revision: 'new', mysqld: 'CrashLoopBackOff' });
    scene.take('restore', 2);
    scene.gone(2);
    scene.pod(2, { uid: 'successor', mysqld: 'running' });
    scene.pod(2, { uid: 'successor', mysqld: 'running', revision: 'new' });
    expect(effectsIn(scene)).to.not.include('brings');
  });

  it('nothing of what others do to the member meanwhile', () => {
    const scene = new Scene();
    scene.take('evict', 2);
    scene.pod(2, { mysqld: 'CrashLoopBackOff' });
    scene.cluster({ currentPrimaryIndex: 1 });
    expect(effectsIn(scene)).to.deep.equal([]);
  });

  it('nothing that was not so during the whole confirmation', () => {
    const scene = new Scene();
    scene.pod(2, { mysqld: 'CrashLoopBackOff' });
    const before = scene.now;
    scene.pod(2, { mysqld: 'ready' });
    scene.take('evict', 2, before);
    scene.pod(2, { terminating: true });
    scene.gone(2);
    expect(effectsIn(scene)).to.deep.equal([]);
  });
});

describe('the witness of declared effects', () => {
  it('objects once to each effect that a step was not declared with', () => {
    const scene = new Scene();
    intend(scene, 2, ['brings', 'stops']);
    scene.take('evict', 2);
    replaced(scene, 2);
    const texts = scene.witness.findings.map(({ law, text }) => `${law}: ${text}`);
    expect(texts).to.deep.equal(['effects: evict 2 by one: leavesService, which was not declared']);
  });

  it('accepts more than was seen, and a step of which nothing is declared', () => {
    const declared = new Scene();
    intend(declared, 2, ['acts', 'brings', 'stops', 'leavesService', 'movesPrimary', 'losesRelayLog']);
    declared.take('evict', 2);
    replaced(declared, 2);
    const silent = new Scene();
    intend(silent, 2);
    silent.take('evict', 2);
    replaced(silent, 2);
    const another = new Scene();
    intend(another, 1, []);
    another.take('evict', 2);
    replaced(another, 2);
    expect([...declared.found, ...silent.found, ...another.found]).to.deep.equal([]);
    expect(undeclared(['stops'], [])).to.deep.equal(['stops']);
  });
});
