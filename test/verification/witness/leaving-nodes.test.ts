import { expect } from 'chai';
import { Scene } from './scene.ts';

const node = 'n-2';
/** Member 2 is on a node that is being taken out of service. */
function leaving(settings: object, revision = 'new'): Scene {
  const scene = new Scene();
  scene.settings(settings);
  scene.pod(2, { revision, node });
  return scene.put('Node', node, { spec: { unschedulable: true } });
}

describe('what the witness says of members on nodes that are being taken out of service', () => {
  const evacuate = { nodeMaintenance: 'Evacuate' };

  it('accepts that an updated replica is evicted from one', () => {
    const scene = leaving(evacuate);
    scene.take('evict', 2);
    expect(scene.found).to.deep.equal([]);
  });

  it('objects if the node stays, if the user did not ask for that, and if the replica is deleted', () => {
    const stays = leaving(evacuate).put('Node', node, { spec: {} });
    stays.take('evict', 2);
    const switchover = leaving({ nodeMaintenance: 'Switchover' });
    switchover.take('evict', 2);
    const deleted = leaving(evacuate);
    deleted.take('delete', 2);
    expect([stays.found, switchover.found]).to.deep.equal([['violation I5'], ['violation I5']]);
    expect(deleted.found).to.include('violation I5');
  });

  it('objects if a pinned member would come back updated', () => {
    const scene = leaving({ ...evacuate, pinnedMembers: [{ ordinal: 2 }] }, 'old');
    scene.take('evict', 2);
    expect(scene.found).to.deep.equal(['violation setting']);
  });

  it('objects if an updated primary is moved off a node that stays', () => {
    const moved = (isLeaving: boolean) => {
      const scene = new Scene();
      scene.settings({ nodeMaintenance: 'Switchover' });
      scene.pod(0, { revision: 'new', node });
      scene.put('Node', node, { spec: { unschedulable: isLeaving } });
      scene.take('demote', 0);
      return scene.found;
    };
    expect([moved(true), moved(false)]).to.deep.equal([[], ['violation I29']]);
  });

  it('objects if a member on a node that stays is updated while the rollout is to wait', () => {
    const updated = (ordinal: number) => {
      const scene = leaving({ rolloutsDuringMaintenance: 'Wait' }, 'old');
      scene.take('evict', ordinal);
      return scene.found;
    };
    expect([updated(1), updated(2)]).to.deep.equal([['violation nodes'], []]);
  });
});
