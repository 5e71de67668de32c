import { expect } from 'chai';
import * as fc from 'fast-check';
import { mistakes } from '../mistakes/catalogue.ts';
import { loadWith } from '../mistakes/load.ts';
import type * as history from './history.ts';

/** The rarest mistake shows in one of about two hundred. */
const mostHistories = 6_000;

describe('mistakes in histories of a fleet', () => {
  for (const [name, { fleet, wrong }] of Object.entries(mistakes)) {
    if (fleet === undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, async () => {
      const { plots, faultsIn } = await loadWith<typeof history>(name, import.meta.resolve('./history.ts'));
      const found = fc.sample(plots, mostHistories).findIndex((plot) => fleet.test(faultsIn(plot).join('\n')));
      expect(found, 'the history that shows it').to.be.at.least(0);
      console.log(`      in history ${found + 1}`);
    });
  }
});
