import { expect } from 'chai';
import * as fc from 'fast-check';
import { escaped, printable } from '../../src/base/text.ts';

describe('a text for a terminal', () => {
  const hostile: Readonly<Record<string, readonly [text: string, shown: string, escaped: string]>> = {
    'clears the screen': ['a\u001B[2Jb', 'ab', String.raw`a\u001b[2Jb`],
    'sets the title of the window': ['a\u001B]0;x\u0007b', 'ab', String.raw`a\u001b]0;x\u0007b`],
    'goes back to the begin of the line': ['safe\rrm -rf', 'safe rm -rf', String.raw`safe\u000drm -rf`],
    'uses the one-character form of an escape': ['a\u009B2Jb', 'a 2Jb', String.raw`a\u009b2Jb`],
    'turns the direction of what follows': ['a\u202Etxt.exe\u202C', 'a txt.exe ', String.raw`a\u202etxt.exe\u202c`],
    'isolates a direction': ['a\u2066b\u2069', 'a b ', String.raw`a\u2066b\u2069`],
    'contains invisible characters': ['a\u200Bb\uFEFFc\u00ADd', 'a b c d', String.raw`a\u200bb\ufeffc\u00add`],
    'has tags': ['a\u{E0041}b', 'a b', String.raw`a\udb40\udc41b`],
    'is plain, of several lines': ['日本語\tα\nécole 🐬', '日本語\tα\nécole 🐬', '日本語\tα\nécole 🐬'],
  };
  for (const [what, [text, shown, inJson]] of Object.entries(hostile)) {
    it(`that ${what} shows as it is`, () => {
      expect(printable(text)).to.equal(shown);
      expect(escaped(text)).to.equal(inJson);
    });
  }

  it('is the same for a program that reads it as JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(JSON.parse(escaped(JSON.stringify(text)))).to.equal(text);
      }),
    );
  });
});
