import { expect } from 'chai';
import { plainCircumstances } from './circumstances.ts';
import { draw, drawNamed, type Scenario } from './draw.ts';
import { type Played, play } from './play.ts';
import { playSeeds, seedsFrom } from './play-seeds.ts';
import { run } from './run.ts';
import { type Situation, situationsOfLosses } from './situations.ts';
import { Tally } from './tally.ts';

/** `make soak` plays many more, until every fault has struck. */
const rolloutsWanted = 100;
/** More only where fewer have not met with every situation. */
const mostRollouts = 5 * rolloutsWanted;
/** The themes that bring about rare situations. Once only these are missing, other themes would show nothing new. */
const themesOfRare: Readonly<Partial<Record<Situation, string>>> = {
  offlineInMidRollout: 'burdens',
  protectedReplica: 'burdens',
  upstreamUnavailable: 'burdens',
  diesInsideAnUpdate: 'inPlace',
  mysqldRestartedInPlace: 'inPlace',
  imageUnavailable: 'preflight',
  slowPull: 'refusals',
  evictionRefused: 'refusals',
  copiedRollout: 'refusals',
  terminatingRollout: 'refusals',
  restsOutsideMaintenance: 'maintenance',
};
/** After so many the rest would show nothing new. */
const mostFailures = 10;

describe('the simulation', () => {
  it('finds no violation in a hundred rollouts, and each that can end ends', async () => {
    const tally = new Tally();
    const failures: string[] = [];
    // Those of losses have histories of their own (losses.test.ts).
    const missing = () => tally.missing.filter((one) => !situationsOfLosses.some((other) => other === one));
    const isEnough = (): boolean =>
      tally.rollouts >= mostRollouts || (tally.rollouts >= rolloutsWanted && missing().length === 0);
    for (let seed = 1; !isEnough() && failures.length < mostFailures; seed++) {
      const rare = tally.rollouts < rolloutsWanted ? undefined : missing()[0];
      const theme = rare === undefined ? undefined : themesOfRare[rare];
      const { outcome, failure } = await play(theme === undefined ? String(seed) : `${theme}:${seed}`);
      tally.add(outcome);
      if (failure !== null) failures.push(failure);
    }
    console.log(`      ${[...tally.situationLines, tally.lossLine, tally.closingLine].join('\n      ')}`);
    expect(failures.join('\n')).to.equal('');
    expect(tally.disruptions).to.be.greaterThan(rolloutsWanted);
    expect(tally.needless).to.equal(0);
    expect(missing(), 'situations that no history contained').to.deep.equal([]);
  });

  it('needs one switchover and one disruption a member without faults, one at a time', async () => {
    for (const [replicas, switchovers] of [
      [1, 0],
      [3, 1],
      [5, 1],
    ] as const) {
      const scenario: Scenario = {
        circumstances: { ...plainCircumstances, replicas },
        plan: [{ atMilliseconds: 0, what: { kind: 'rollOut', image: 'mysql:8.4.1' } }],
      };
      const { measures, violations, races, stuck } = await run(scenario);
      expect({ violations, races, stuck }).to.deep.equal({ violations: [], races: [], stuck: null });
      expect(measures).to.include({ disruptions: replicas, needless: 0, switchovers, mostUnavailable: 1 });
    }
  });

  it('gives the same history for the same seed, and another one for another', async () => {
    const hashes = new Set<string>();
    for (let seed = 1; seed <= 4; seed++) {
      const first = await run(draw(String(seed)));
      const again = await run(draw(String(seed)));
      expect(again.historyHash, `seed ${seed}`).to.equal(first.historyHash);
      hashes.add(first.historyHash);
    }
    expect(hashes.size).to.equal(4);
  });

  it('plays one theme alone where the seed names it', () => {
    expect(drawNamed('7')).to.deep.equal(draw('7'));
    expect(drawNamed('watches:7')).to.deep.equal(draw('7', ['watches']));
    expect(() => drawNamed('weather:7')).to.throw(
      RangeError,
      /expected a theme before the colon of SEED \(members, .*got weather/,
    );
  });

  it('has the same history for a seed on every thread', async () => {
    const hashes: string[] = [];
    const onPlayed = ({ outcome }: Played): void => void hashes.push(outcome?.historyHash ?? 'broken');
    let begun = 0;
    await playSeeds({ seeds: seedsFrom(1), jobs: 2, onPlayed, isEnough: () => begun++ >= 4 });
    const own = await Promise.all(['1', '2', '3', '4'].map(async (seed) => (await run(draw(seed))).historyHash));
    expect(hashes.toSorted()).to.deep.equal(own.toSorted());
  });
});
