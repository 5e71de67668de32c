import { expect } from 'chai';
import { findings } from './findings.ts';
import { run } from './run.ts';

describe('the simulation plays what has failed before: the program', () => {
  for (const [sentence, scenario] of Object.entries(findings)) {
    it(sentence, async () => {
      const { violations, races, stuck } = await run(scenario);
      expect({ violations, races, stuck }).to.deep.equal({ violations: [], races: [], stuck: null });
    });
  }
});
