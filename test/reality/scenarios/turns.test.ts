import { expect } from 'chai';
import { usual } from './scenario.ts';
import { roundsOf, turnsOf } from './turns.ts';

const small = { ...usual, slug: 'small', title: 'small' };
const other = { ...usual, slug: 'other', title: 'other' };
const large = { ...usual, slug: 'large', title: 'large', members: 5 };

describe('the turns of scenarios', () => {
  it('have every scenario in each run, under a name of its own', () => {
    expect(turnsOf([small, large], 1).map(({ name }) => name)).to.deep.equal(['small', 'large']);
    expect(turnsOf([small, large], 2).map(({ name }) => name)).to.deep.equal([
      'small-run-1',
      'large-run-1',
      'small-run-2',
      'large-run-2',
    ]);
  });

  it('begin together with those of the same size', () => {
    const rounds = roundsOf([small, large, other], 2);
    expect(rounds.map((round) => round.map(({ name }) => name))).to.deep.equal([
      ['small-run-1', 'other-run-1'],
      ['large-run-1'],
      ['small-run-2', 'other-run-2'],
      ['large-run-2'],
    ]);
  });
});
