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
/** A theme that brings about each rare situation, and a seed with which it does. If the draws change, later seeds do. */
const rare: Readonly<Partial<Record<Situation, readonly [theme: string, seed: number]>>> = {
  offlineInMidRollout: ['burdens', 1],
  protectedReplica: ['burdens', 1],
  upstreamUnavailable: ['burdens', 24],
  diesInsideAnUpdate: ['inPlace', 5],
  mysqldRestartedInPlace: ['inPlace', 15],
  imageUnavailable: ['preflight', 6],
  slowPull: ['refusals', 16],
  evictionRefused: ['refusals', 1],
  copiedRollout: ['refusals', 7],
  terminatingRollout: ['refusals', 1],
  restsOutsideMaintenance: ['maintenance', 1],
};
/** As many histories of its theme are played to find a rare situation. */
const mostOfTheme = 100;
/** After so many the rest would show nothing new. */
const mostFailures = 10;

describe('the simulation', () => {
  it('finds no violation in a hundred rollouts, and each that can end ends', async () => {
    const tally = new Tally();
    const failures: string[] = [];
    // Those of losses have histories of their own (losses.test.ts).
    const missing = () => tally.missing.filter((one) => !situationsOfLosses.some((other) => other === one));
    const playNamed = async (name: string): Promise<void> => {
      const { outcome, failure } = await play(name);
      tally.add(outcome);
      if (failure !== null) failures.push(failure);
    };
    const goesOn = (): boolean => failures.length < mostFailures;
    for (let seed = 1; seed <= rolloutsWanted && goesOn(); seed++) await playNamed(String(seed));
    for (const [situation, [theme, first]] of Object.entries(rare)) {
      const isMissing = (): boolean => missing().some((one) => one === situation);
      for (let seed = first; seed < first + mostOfTheme && isMissing() && goesOn(); seed++) {
        await playNamed(`${theme}:${seed}`);
      }
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
