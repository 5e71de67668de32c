import { expect } from 'chai';
import { loadWith } from '../../mistakes/load.ts';
import type * as dayModule from './day.ts';
import { type Day, playDay, type Way, ways } from './day.ts';
import { tableOf, wrongWith } from './report.ts';

/** `make soak` plays 50 clusters on 30 nodes for 24 hours (main.ts). */
const short = { seed: '1', clusters: 5, nodes: 8, hours: 4, rounds: 1 };

describe('some hours of a fleet whose nodes are upgraded one after another', () => {
  const days = new Map<Way, Day>();
  const dayOf = (way: Way): Day => {
    const day = days.get(way);
    if (day === undefined) throw new Error(`expected a day with ${way}, there is none`);
    return day;
  };

  before(async () => {
    for (const way of Object.keys(ways) as Way[]) days.set(way, await playDay(way, short));
    console.log(tableOf([...days.values()]).replaceAll(/^/gm, '      '));
  });

  for (const way of Object.keys(ways) as Way[]) {
    it(`break no law and keep nobody waiting: ${way}`, () => {
      expect(wrongWith(dayOf(way))).to.deep.equal([]);
    });
  }

  it('restart the members of a cluster of three once where rollouts wait for nodes, and more often elsewhere', () => {
    const withoutPlaced = (way: Way): readonly number[] =>
      dayOf(way).ofThree.map(({ restarts, placed }) => restarts - placed);
    expect(withoutPlaced('Evacuate, Wait')).to.deep.equal([3]);
    expect(Math.min(...withoutPlaced('gate off'))).to.be.greaterThan(3);
  });

  it('show a controller that rolls out between two nodes', async () => {
    const url = import.meta.resolve('./day.ts');
    const mistaken = await loadWith<typeof dayModule>('rolls out between two nodes', url);
    const found = wrongWith(await mistaken.playDay('Evacuate, Wait', short));
    expect(found.join('\n')).to.match(/: \d+ second restarts that could have been avoided/);
  });

  it('take the primary by a drain only without the gate, and leave replicas to drains without Evacuate', () => {
    expect(dayOf('gate off').unplanned).to.be.greaterThan(0);
    expect(dayOf('Switchover, Proceed').drained).to.be.greaterThan(dayOf('Evacuate, Wait').drained);
  });
});
