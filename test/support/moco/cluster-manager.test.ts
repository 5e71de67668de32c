import { expect } from 'chai';
import { ClusterManager } from './cluster-manager.ts';

describe('test/support/moco: the clusters that a process manages', () => {
  it('are none at first', () => {
    expect(new ClusterManager().isClustering('a')).to.equal(false);
  });

  it('are those that were reconciled, and each reconciliation triggers clustering', () => {
    const manager = new ClusterManager();
    expect([manager.change('a', 'update'), manager.change('a', 'update')]).to.deep.equal([true, true]);
    expect([manager.isClustering('a'), manager.isClustering('b')]).to.deep.equal([true, false]);
  });

  it('stay managed if a later reconciliation changes nothing', () => {
    const manager = new ClusterManager();
    manager.change('a', 'update');
    expect(manager.change('a', 'none')).to.equal(false);
    expect(manager.isClustering('a')).to.equal(true);
  });

  it('are no longer managed after the cluster is deleted or the process ends', () => {
    const manager = new ClusterManager();
    manager.change('a', 'update');
    manager.change('b', 'update');
    manager.change('a', 'stop');
    expect([manager.isClustering('a'), manager.isClustering('b')]).to.deep.equal([false, true]);
    manager.stopAll();
    expect(manager.isClustering('b')).to.equal(false);
  });
});
