import { expect } from 'chai';
import { Chance } from '../../verification/simulation/chance.ts';
import { usual } from './scenario.ts';
import { randomTurnsOf, roundsOf, turnsOf } from './turns.ts';

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

  it('are as many as asked for at random, and the same for the same seed', () => {
    const drawn = (seed: string): readonly string[] =>
      randomTurnsOf([small, large, other], 20, new Chance(seed)).map(({ name }) => name);
    expect(drawn('1')).to.have.length(20).and.to.deep.equal(drawn('1'));
    expect(drawn('1')).not.to.deep.equal(drawn('2'));
    expect(new Set(drawn('1').map((name) => name.replace(/^\d+-/, '')))).to.deep.equal(
      new Set(['small', 'large', 'other']),
    );
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
