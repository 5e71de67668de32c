import { expect } from 'chai';
import * as fc from 'fast-check';
import { mistakes } from '../mistakes/catalogue.ts';
import { loadWith } from '../mistakes/load.ts';
import type * as history from './history.ts';

const histories = { seed: 1, numRuns: 300 };

describe('mistakes in histories of a fleet', () => {
  for (const [name, { fleet, wrong }] of Object.entries(mistakes)) {
    if (fleet === undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, async () => {
      const { plots, faultsIn } = await loadWith<typeof history>(name, import.meta.resolve('./history.ts'));
      const found = fc.sample(plots, histories).map(faultsIn);
      expect(found.flat().join('\n')).to.match(fleet);
    });
  }
});
