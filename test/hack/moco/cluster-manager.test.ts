import { expect } from 'chai';
import { ClusterManager } from '../../../hack/moco/cluster-manager.ts';

describe('hack/moco: which clusters a process clusters', () => {
  it('clusters nobody at first', () => {
    expect(new ClusterManager().isClustering('a')).to.equal(false);
  });

  it('clusters whoever was reconciled, and has the clustering look each time', () => {
    const manager = new ClusterManager();
    expect([manager.change('a', 'update'), manager.change('a', 'update')]).to.deep.equal([true, true]);
    expect([manager.isClustering('a'), manager.isClustering('b')]).to.deep.equal([true, false]);
  });

  it('goes on where a later reconciliation changes nothing about it', () => {
    const manager = new ClusterManager();
    manager.change('a', 'update');
    expect(manager.change('a', 'none')).to.equal(false);
    expect(manager.isClustering('a')).to.equal(true);
  });

  it('ends with the cluster, and with the process', () => {
    const manager = new ClusterManager();
    manager.change('a', 'update');
    manager.change('b', 'update');
    manager.change('a', 'stop');
    expect([manager.isClustering('a'), manager.isClustering('b')]).to.deep.equal([false, true]);
    manager.stopAll();
    expect(manager.isClustering('b')).to.equal(false);
  });
});
