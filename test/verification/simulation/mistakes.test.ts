import { expect } from 'chai';
import { mistakes } from '../mistakes/catalogue.ts';
import { shrink, withOnly } from './shrink.ts';
import { runsUntilFound, simulatorOf } from './simulator.ts';
import { replayLine, storyOf } from './story.ts';

/** Within so many runs each mistake has to show. */
const mostRuns = 200;

describe('mistakes in the simulation', () => {
  // `make soak` plays the others too, which a lower layer finds in `make test`.
  for (const [name, { simulation, explorer, snapshots, wrong }] of Object.entries(mistakes)) {
    if (simulation === undefined || explorer !== undefined || snapshots !== undefined) continue;
    it(`finds a controller that ${name}: ${wrong}`, async () => {
      const result = await runsUntilFound(name, mostRuns);
      const [finding] = result?.outcome.violations ?? [];
      console.log(`      ${result?.runs ?? 'not found'} runs, ${finding?.law}: ${finding?.text}`);
      expect(result).not.to.equal(null);
    });
  }

  it('shortens a failure, and replays it from one line', async () => {
    const mistaken = await simulatorOf('deletes instead of evicting');
    const seed = '1';
    const scenario = mistaken.draw(seed, ['watches']);
    const kept = await shrink(scenario, mistaken.run);
    const short = withOnly(scenario, kept);
    const outcome = await mistaken.run(short);
    expect(kept).to.have.lengthOf(1);
    expect(replayLine(seed, kept)).to.equal(`SEED=1 REPLAY=${kept.join()} make simulate`);
    expect(storyOf(short, outcome)).to.match(
      /the user asks for an image: \{ kind: 'rollOut', image: 'mysql:8\.4\.\d' \}[\s\S]*I4: delete \d by controller-0/,
    );
  });
});
