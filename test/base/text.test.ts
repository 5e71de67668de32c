import { expect } from 'chai';
import * as fc from 'fast-check';
import { linesOf, textOf } from '../../src/base/text.ts';

async function* bytes(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const all = new TextEncoder().encode(text);
  let start = 0;
  for (const cut of [...cuts.map((cut) => cut % (all.length + 1)), all.length].sort((left, right) => left - right)) {
    yield all.slice(start, cut);
    start = cut;
  }
}

async function collect(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe('the lines of a stream', () => {
  it('are the same for any chunks', async () => {
    const line = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 20 })
      .filter((text) => /^[^\n]*\S[^\n]*$/.test(text));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 20 }), async (lines, cuts) => {
        const text = lines.map((each) => `${each}\n`).join('');
        const whole = await textOf(bytes(text, cuts));
        expect(await collect(linesOf(bytes(text, cuts)))).to.deep.equal(whole.split('\n').slice(0, -1));
      }),
      { numRuns: 50 },
    );
  });

  it('end with the last newline: an incomplete line is dropped', async () => {
    expect(await collect(linesOf(bytes('{"a":1}\n{"b":', [])))).to.deep.equal(['{"a":1}']);
  });

  it('are none for an empty stream', async () => {
    expect(await collect(linesOf(bytes('\n \n\r\n\n', [1, 2, 3])))).to.deep.equal([]);
  });

  it('are limited in length', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      const chunk = new TextEncoder().encode('x'.repeat(1024 * 1024));
      for (;;) yield chunk;
    }
    const error: unknown = await collect(linesOf(endless())).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(RangeError);
  });
});
