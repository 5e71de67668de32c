import { expect } from 'chai';
import { Turns } from '../../../../hack/bench/rollouts/turns.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('hack/bench/rollouts: turns', () => {
  function play(capacity: number, weights: readonly number[]) {
    const turns = new Turns(capacity);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    const rests: (() => void)[] = [];
    for (const [index, weight] of weights.entries()) {
      void turns.take(weight, (rest) => {
        began.push(index);
        rests[index] = rest;
        return new Promise<void>((resolve) => {
          ends[index] = resolve;
        });
      });
    }
    return { turns, began, end: (index: number) => ends[index]?.(), rest: (index: number) => rests[index]?.() };
  }

  it('begin in order, as many as fit, and the next one when there is room', async () => {
    const { turns, began, end } = play(3, [2, 1, 1, 2]);
    await settled();
    expect(began).to.deep.equal([0, 1]);
    end(0);
    await settled();
    expect(began).to.deep.equal([0, 1, 2]);
    end(1);
    await settled();
    expect(began).to.deep.equal([0, 1, 2, 3]);
    expect(turns.running).to.equal(2);
  });

  it('run a task alone that is too heavy', async () => {
    const { began, end } = play(1, [5, 0.5]);
    await settled();
    expect(began).to.deep.equal([0]);
    end(0);
    await settled();
    expect(began).to.deep.equal([0, 1]);
  });

  it('run it after others whose weights do not sum up to exactly zero afterwards', async () => {
    const { began, end } = play(1, [0.1, 0.2, 0.3, 5]);
    await settled();
    for (const index of [0, 1, 2]) end(index);
    await settled();
    expect(began).to.deep.equal([0, 1, 2, 3]);
  });

  it('release their place once when they only wait', async () => {
    const { turns, began, rest, end } = play(2, [2, 2, 2]);
    await settled();
    rest(0);
    rest(0);
    await settled();
    expect(began).to.deep.equal([0, 1]);
    expect(turns.running).to.equal(2);
    end(0);
    await settled();
    expect(began).to.deep.equal([0, 1]);
  });

  it('continue after a failed task, whose caller gets the error', async () => {
    const turns = new Turns(1);
    const failing = turns.take(1, () => Promise.reject(new Error('broken')));
    const next = turns.take(1, () => Promise.resolve('done'));
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: broken');
    expect(await next).to.equal('done');
  });
});
