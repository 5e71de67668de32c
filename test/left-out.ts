import type { Context } from 'mocha';

const sentences: string[] = [];

/** Leaves tests out on a machine that can't run them. The run says so at its end; where CI is `true` it fails. */
export function leaveOut(test: Context, sentence: string): never {
  sentences.push(sentence);
  return test.skip();
}

/** Why tests of this process have been left out since the last call. */
export function takeLeftOut(): readonly string[] {
  return sentences.splice(0);
}
