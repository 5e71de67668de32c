import { expect } from 'chai';
import { revisionAfter, revisionBefore } from '../../core/member-builder.ts';
import { type Circumstances, nodes, RollingNodes, soakSeconds } from './rolling-nodes.ts';

const kept: readonly Circumstances[] = [
  { keeper: 'policy', byForce: false },
  { keeper: 'policy', byForce: true },
  { keeper: 'webhook', byForce: false },
];

describe('a fleet whose nodes are drained one after the other while a stage soaks for a day', () => {
  for (const circumstances of kept) {
    const { keeper, byForce } = circumstances;
    it(`keeps the revision of every later stage until its turn, with the ${keeper}, pods deleted ${byForce ? 'by force' : 'as usual'}`, () => {
      const history = new RollingNodes(circumstances);
      const seconds = history.play();
      expect(seconds).to.be.greaterThan(2 * soakSeconds);
      const early = history.drained.filter(({ hadBegun }) => !hadBegun);
      expect(early.length).to.be.greaterThan(nodes * 20);
      expect(early.filter(({ after }) => after !== revisionBefore)).to.deep.equal([]);
      const late = history.drained.filter(({ hadBegun }) => hadBegun);
      expect(late.filter(({ after }) => after !== revisionAfter)).to.deep.equal([]);
      expect(new Set(late.map(({ tier }) => tier))).to.include.keys('canary', 'most');
    });
  }

  it('loses the revision of later stages where pods are deleted by force and only a webhook keeps the strategy', () => {
    const history = new RollingNodes({ keeper: 'webhook', byForce: true });
    history.play();
    const changed = history.drained.filter(({ hadBegun, before, after }) => !hadBegun && before !== after);
    const tiersOf = changed.map(({ tier }) => tier);
    // The canary has not settled when the first node is drained.
    expect(tiersOf.toSorted()).to.deep.equal(['canary', 'most', 'most', 'most', 'rest', 'rest', 'rest']);
  });
});
