import { expect } from 'chai';
import type { Exchange } from '../../src/base/world.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { pagesOf } from '../../src/kube/list-watch.ts';
import { pods } from '../../src/kube/resource.ts';
import { answer, FakeWorld } from './fake-world.ts';

const numberIn = (path: string, name: string): number => Number(new URLSearchParams(path.split('?')[1]).get(name) ?? 0);

/** Lists so many pods with the same content. Resolves to the number of listed pods, and the pages. */
async function listed(
  count: number,
  spec: object,
): Promise<{ readonly found: number; readonly limits: readonly number[] }> {
  const limits: number[] = [];
  const exchange: Exchange = async ({ path }) => {
    const [limit, from] = [numberIn(path, 'limit') || count, numberIn(path, 'continue')];
    limits.push(limit);
    const items = Array.from({ length: Math.min(limit, count - from) }, () => ({ spec }));
    const next = from + limit < count ? String(from + limit) : '';
    return answer(200, { kind: 'PodList', metadata: { resourceVersion: '1', continue: next }, items });
  };
  const client = new ApiClient({ world: new FakeWorld(exchange), qps: 1000, burst: 1000 });
  let found = 0;
  for await (const { items } of pagesOf(client, { kind: pods }, 50, { priority: 'read' })) found += items.length;
  return { found, limits };
}

describe('the pages of a list', () => {
  it('have the requested size while they are small', async () => {
    expect(await listed(120, { a: 1 })).to.deep.equal({ found: 120, limits: [50, 50, 50] });
  });

  it('get smaller once a page is too large, and no object is lost', async () => {
    const long = { long: 'x'.repeat(1_200_000) };
    expect(await listed(30, long)).to.deep.equal({ found: 30, limits: [50, 12, 12, 12] });
    const many = { many: Array.from({ length: 700_000 }, () => 0) };
    expect(await listed(3, many)).to.deep.equal({ found: 3, limits: [50, 12, 3, 1, 1, 1] });
  });

  it('have one object whose text looks like many values', async () => {
    const commas = { long: ','.repeat(1_200_000) };
    expect(await listed(2, commas)).to.deep.equal({ found: 2, limits: [50, 12, 3, 1, 1] });
  });

  it('grow again once some have fitted', async () => {
    const long = { long: 'x'.repeat(1_200_000) };
    expect((await listed(72, long)).limits).to.deep.equal([50, 12, 12, 12, 12, 48, 12, 12]);
  });
});
