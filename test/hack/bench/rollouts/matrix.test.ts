import { expect } from 'chai';
import { cellsOf, type Only, rowsOf, rowTitle, waysOf } from '../../../../hack/bench/rollouts/matrix.ts';

const all: Only = { way: [], scenario: [], members: [], restart: [], minready: [] };
const settings = [...new Set(waysOf(all).map(({ setting }) => setting))];
const cells = (full: boolean, only: Only, runs: number) =>
  settings.flatMap((setting) => cellsOf(setting, rowsOf(full, only), waysOf(only), runs));

describe('hack/bench/rollouts: the matrix', () => {
  it('has healthy clusters of every size and restart time, and failures at two sizes', () => {
    const rows = rowsOf(false, all);
    expect(
      rows.filter(({ scenario, minReadySeconds }) => scenario.slug === 'healthy' && minReadySeconds === 0),
    ).to.have.length(4 * 3);
    expect(rows.filter(({ scenario }) => scenario.slug !== 'healthy').map(({ members }) => members)).to.deep.equal([
      3, 5, 3, 5, 3, 5, 3, 5, 3, 5,
    ]);
    expect(rows.filter(({ minReadySeconds }) => minReadySeconds === 5)).to.have.length(2);
  });

  it('combines everything in full, except for what a size does not have', () => {
    const alone = 2;
    expect(rowsOf(true, all)).to.have.length((3 * 6 + alone) * 3 * 2);
    expect(new Set(rowsOf(true, all).map(rowTitle))).to.have.property('size', (3 * 6 + alone) * 3 * 2);
  });

  it('gives every rollout its own valid namespace', () => {
    const namespaces = cells(true, all, 2).map(({ namespace }) => namespace);
    expect(new Set(namespaces)).to.have.property('size', namespaces.length);
    for (const namespace of namespaces) expect(namespace).to.match(/^[a-z0-9][-a-z0-9]{0,61}[a-z0-9]$/);
  });

  it('measures nothing twice, such as equal cases of small clusters, or minReadySeconds without support', () => {
    const chosen = cells(true, all, 1);
    expect(chosen.filter(({ way, members }) => way.slug === 'on-delete-2' && members < 5)).to.deep.equal([]);
    expect(chosen.filter(({ way, minReadySeconds }) => way.slug === 'native' && minReadySeconds > 0)).to.deep.equal([]);
  });

  it('begins with the slowest rollouts, and then alternates between the ways', () => {
    const [first] = settings;
    if (first === undefined) throw new Error('Expected a setting, got none');
    const order = cellsOf(first, rowsOf(false, { ...all, scenario: ['healthy'], members: [3] }), waysOf(all), 2);
    const slugs = order.map(({ way }) => way.slug);
    expect(slugs.slice(0, 6)).to.deep.equal(Array(6).fill('moco'));
    // Members of 10 s, those that wait 5 s after 2, and those of 2 s.
    expect(slugs.slice(6, 11)).to.deep.equal(['native', 'on-delete', 'on-delete', 'native', 'on-delete']);
  });

  it('keeps a requested selection', () => {
    const only: Only = { ...all, way: ['own'], scenario: ['low'], members: [5] };
    expect(cells(false, only, 1).map(({ namespace }) => namespace)).to.deep.equal(['own-low-5-of-2000-and-0-1']);
  });
});
