import { expect } from 'chai';
import { allOrAbort } from '../../src/base/delay.ts';

const untilAborted = (signal: AbortSignal, log: string[], name: string): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      log.push(name);
      reject(new Error(`${name} was aborted`));
    });
  });

describe('calls that are only useful together', () => {
  it('answer in their order', async () => {
    const { signal } = new AbortController();
    const answers = await allOrAbort(signal, () =>
      Promise.all([new Promise((resolve) => setImmediate(resolve, 1)), Promise.resolve(2)]),
    );
    expect(answers).to.deep.equal([1, 2]);
  });

  it('are aborted when one fails, and reject with its error', async () => {
    const aborted: string[] = [];
    const failure = new Error('the connection is broken');
    const { signal } = new AbortController();
    const calls = allOrAbort(signal, (one) =>
      Promise.all([untilAborted(one, aborted, 'read of a budget'), Promise.reject(failure)]),
    );
    const thrown = await calls.then(
      () => null,
      (error: unknown) => error,
    );
    expect(thrown).to.equal(failure);
    expect(aborted).to.deep.equal(['read of a budget']);
  });

  for (const when of ['before', 'after'] as const) {
    it(`are aborted with the caller, ${when} they begin`, async () => {
      const caller = new AbortController();
      if (when === 'before') caller.abort();
      const calls = allOrAbort(caller.signal, (signal) =>
        signal.aborted ? Promise.reject(new Error('not begun')) : untilAborted(signal, [], 'read'),
      );
      if (when === 'after') caller.abort();
      const thrown = await calls.then(
        () => null,
        (error: Error) => error.message,
      );
      expect(thrown).to.equal(when === 'before' ? 'not begun' : 'read was aborted');
    });
  }
});
