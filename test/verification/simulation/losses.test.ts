import { expect } from 'chai';
import { draw } from './draw.ts';
import { run } from './run.ts';
import { isFailure } from './shrink.ts';
import { situationsOfLosses } from './situations.ts';
import { storyOf } from './story.ts';
import { Tally } from './tally.ts';

const historiesWanted = 20;
/** With these seeds the rarest situations come up. If the draws change, later seeds are played until they do. */
const seedsOfRare = [56, 59];
const mostHistories = 120;
const mostFailures = 3;

describe('members whose pods another client deletes in the simulation', () => {
  it('keep the revision that they have while the rollout is held, as far as there is time', async () => {
    const tally = new Tally();
    const failures: string[] = [];
    const missing = () => situationsOfLosses.filter((one) => (tally.situations[one] ?? 0) === 0);
    const all = Array.from({ length: mostHistories }, (_, index) => index + 1);
    const seeds = new Set([...all.slice(0, historiesWanted), ...seedsOfRare, ...all]);
    for (const [played, seed] of [...seeds].entries()) {
      if (failures.length === mostFailures || (played >= historiesWanted && missing().length === 0)) break;
      const scenario = draw(String(seed), ['losses', 'losses', 'lossesHalfway']);
      const outcome = await run(scenario);
      tally.add(outcome);
      if (isFailure(outcome)) failures.push(`seed ${seed}\n${storyOf(scenario, outcome)}`);
    }
    console.log(`      ${tally.lossLine}`);
    expect(failures.join('\n')).to.equal('');
    expect(tally.kept).to.be.greaterThan(historiesWanted);
    expect(missing(), 'situations that no history contained').to.deep.equal([]);
  });
});
