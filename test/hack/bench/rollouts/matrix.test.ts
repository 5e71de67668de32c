import { expect } from 'chai';
import { cellsOf, rows } from '../../../../hack/bench/rollouts/matrix.ts';

describe('hack/bench/rollouts: the matrix', () => {
  it('has healthy clusters of every size and restart time, and failures of three members', () => {
    const healthy = rows.filter(
      ({ scenario, minReadySeconds }) => scenario.slug === 'healthy' && minReadySeconds === 0,
    );
    expect(healthy).to.have.length(4 * 2);
    expect(rows.filter(({ scenario }) => scenario.slug !== 'healthy').map(({ members }) => members)).to.deep.equal([
      3, 5, 3, 3, 3, 3,
    ]);
    expect(rows.filter(({ minReadySeconds }) => minReadySeconds === 5)).to.have.length(2);
  });

  it('gives every rollout its own valid namespace', () => {
    const namespaces = cellsOf(2, '').map(({ namespace }) => namespace);
    expect(new Set(namespaces)).to.have.property('size', namespaces.length);
    for (const namespace of namespaces) expect(namespace).to.match(/^[a-z0-9][-a-z0-9]{0,61}[a-z0-9]$/);
  });

  it('measures nothing twice, such as equal cases of small clusters, or minReadySeconds without support', () => {
    const cells = cellsOf(1, '');
    expect(cells.filter(({ way, members }) => way.slug === 'on-delete-2' && members < 5)).to.deep.equal([]);
    expect(cells.filter(({ way, minReadySeconds }) => way.slug === 'native' && minReadySeconds > 0)).to.deep.equal([]);
  });

  it('begins with the slowest rollouts, and then alternates between the ways', () => {
    const order = cellsOf(2, 'healthy-3-of').filter(({ way }) => ['moco', 'native', 'on-delete'].includes(way.slug));
    const slugs = order.map(({ way }) => way.slug);
    expect(slugs.slice(0, 4)).to.deep.equal(Array(4).fill('moco'));
    // Members of 10 s, those that wait 5 s after 2, and those of 2 s.
    expect(slugs.slice(4, 9)).to.deep.equal(['native', 'on-delete', 'on-delete', 'native', 'on-delete']);
  });

  it('keeps a requested selection', () => {
    expect(cellsOf(1, 'own-low-3').map(({ namespace }) => namespace)).to.deep.equal(['own-low-3-of-2000-and-0-1']);
  });
});
