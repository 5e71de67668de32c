import { expect } from 'chai';
import { usual } from './scenario.ts';
import { turnsOf } from './turns.ts';

const small = { ...usual, slug: 'small', title: 'small' };
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
});
