import { expect } from 'chai';
import * as fc from 'fast-check';
import { secondsOf } from '../../../src/api/schema.ts';
import { FleetHistory, faultsIn, type Plot, plots } from './history.ts';
import { isComplete, isRolling, sequence, soaks, tierOf, tiers } from './judge.ts';

describe('random histories of a fleet in stages', () => {
  it('never let a cluster begin before its turn, give every leader the same answer, and end once everything works', () => {
    fc.assert(
      fc.property(plots, (plot) => {
        expect(faultsIn(plot)).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('forget who has left a stage once the last one that had the change to come has left as well', () => {
    const acts: Plot['acts'] = [
      { does: 'template', tiers: ['rest'], which: 255 },
      { does: 'wait', seconds: 60 },
      { does: 'fail', which: 0 },
      { does: 'offline', which: 2 },
      { does: 'template', tiers: ['canary'], which: 1 },
      { does: 'offline', which: 0 },
      { does: 'leader' },
    ];
    expect(faultsIn({ others: ['canary', 'canary'], acts })).to.deep.equal([]);
  });

  it('give a slot to one of two clusters that decide at the same time', () => {
    const acts: Plot['acts'] = [
      { does: 'template', tiers, which: 255 },
      { does: 'pause', which: 0 },
      { does: 'wait', seconds: 600 },
      { does: 'fail', which: 0 },
      // The failing canary leaves its stage, and two others may begin as soon as its absence is accepted.
      { does: 'relabel', which: 3 },
    ];
    expect(faultsIn({ others: ['canary', 'canary'], acts })).to.deep.equal([]);
  });

  it('never let a failure of one stage reach the next one', () => {
    fc.assert(
      fc.property(plots, ({ others, acts }) => {
        const history = new FleetHistory(others);
        const { fleet } = history;
        for (const cluster of fleet.clusters.values()) cluster.revision = 'bad';
        for (const cluster of fleet.clusters.values()) fleet.changed(cluster);
        const bad = fleet.clusters.get('db/1');
        // One canary at a time, and the bad one may be the last.
        for (let times = 0; times < 3; times += 1) {
          fleet.wait(60);
          history.settle((cluster) => (cluster === bad ? 'failing' : 'complete'));
        }
        expect(bad?.status.rollout?.failing).to.not.equal(undefined);
        for (const one of acts) {
          if (!['leader', 'crash', 'wait', 'sequence'].includes(one.does)) continue;
          history.do(one);
          history.settle(() => 'complete');
        }
        const reached = [...fleet.clusters.values()].filter(
          (cluster) => tierOf(cluster) !== 'canary' && (isRolling(cluster) || isComplete(cluster)),
        );
        expect([history.faults, reached.map(({ key }) => key)]).to.deep.equal([[], []]);
      }),
      { numRuns: 100 },
    );
  });

  it('are judged by the specification that the test has: the durations are those of the sequence', () => {
    expect(sequence.stages.map(({ soakDuration = 0 }) => secondsOf(soakDuration))).to.deep.equal(
      tiers.map((tier) => soaks[tier]),
    );
  });
});
