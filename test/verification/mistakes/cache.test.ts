import { expect } from 'chai';
import * as right from './cached-objects.ts';
import { mistakes } from './catalogue.ts';
import { loadWith } from './load.ts';

describe('mistakes in the cache', () => {
  it('are not found without one', async () => {
    expect(await right.lostToPages()).to.deep.equal([]);
  });

  for (const [name, { cache, wrong }] of Object.entries(mistakes)) {
    if (cache === undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, async () => {
      const mistaken = await loadWith<typeof right>(name, import.meta.resolve('./cached-objects.ts'));
      expect(await mistaken.lostToPages()).to.deep.equal(cache);
    });
  }
});
