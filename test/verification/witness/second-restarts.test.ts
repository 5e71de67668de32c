import { expect } from 'chai';
import { Scene } from './scene.ts';

const minute = 60_000;
const wanted = { nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance: 'Wait' };

/** Members 1 and 2 are on nodes of their own, the node of member 2 is cordoned, and the program has seen that. */
function leaving(settings: object = wanted): Scene {
  const scene = new Scene().adopted({ keeps: true }).settings(settings);
  scene.ability.leads(true, 0);
  scene.pod(1, { node: 'n-1' }).pod(2, { node: 'n-2' });
  return cordon(scene, 'n-2', true).wait(5 * minute);
}

const cordon = (scene: Scene, node: string, isCordoned: boolean): Scene =>
  scene.put('Node', node, { spec: { unschedulable: isCordoned } });

/** Member 2 has its next pod on another node, which stays. */
function comesBack(scene: Scene, revision: 'old' | 'new'): Scene {
  scene.gone(2).pod(2, { revision, node: 'n-3' });
  return cordon(scene, 'n-2', false);
}

describe('what the witness says of members that restart twice for a maintenance of nodes and a rollout', () => {
  /** What it finds if a member is moved at its old revision and updated later. */
  function updatedAfterMove(settings: object = wanted, updateRevision = 'new'): readonly string[] {
    const scene = leaving(settings).take('evict', 2);
    return comesBack(scene, 'old')
      .wait(15 * minute)
      .adopted({ updateRevision })
      .take('evict', 2).found;
  }

  it('objects if a member is moved that could have been updated, and is updated later', () => {
    expect(updatedAfterMove()).to.deep.equal(['violation twice']);
  });

  it('accepts that if its update was held, by the user or by a member that fails, or if rollouts do not wait', () => {
    expect(updatedAfterMove({ ...wanted, lostMembers: 'KeepRevision' })).to.deep.equal([]);
    expect(updatedAfterMove({ ...wanted, rolloutsDuringMaintenance: 'Proceed' })).to.deep.equal([]);
    const failing = leaving().pod(1, { revision: 'new', node: 'n-1', mysqld: 'CrashLoopBackOff' });
    failing.take('evict', 2);
    comesBack(failing.pod(1, { revision: 'new', node: 'n-1' }), 'old').wait(15 * minute);
    expect(failing.adopted().take('evict', 2).found).not.to.include('violation twice');
  });

  it('accepts that if the template has changed in between', () => {
    expect(updatedAfterMove(wanted, 'newer')).to.deep.equal([]);
  });

  /** Member 2 is updated so long after its node was uncordoned, and its next node is cordoned later. */
  function movedAfterUpdate(afterMilliseconds: number): readonly string[] {
    const scene = leaving().adopted();
    cordon(scene, 'n-2', false).wait(afterMilliseconds).take('evict', 2);
    scene.gone(2).pod(2, { revision: 'new', node: 'n-3' }).wait(minute);
    return cordon(scene, 'n-3', true).wait(minute).take('evict', 2).found;
  }

  it('objects if one is updated between two nodes, and moved later', () => {
    expect(movedAfterUpdate(8 * minute)).to.deep.equal(['violation twice']);
  });

  it('accepts that once the maintenance is over', () => {
    expect(movedAfterUpdate(11 * minute)).to.deep.equal([]);
  });

  it('accepts that one is moved again whose update has taken it to another leaving node', () => {
    const scene = leaving().adopted().take('evict', 2);
    comesBack(scene, 'new');
    cordon(scene, 'n-3', true).wait(minute);
    expect(scene.take('evict', 2).found).to.deep.equal([]);
  });
});
