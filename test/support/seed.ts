import { randomInt } from 'node:crypto';
import * as fc from 'fast-check';

// Everything that tests draw follows from one seed, so that a run can be repeated. Whatever runs tests imports this file
// first. The test runner draws a seed unless SEED sets it; its workers inherit the seed in SEED.

process.env['SEED'] ??= String(randomInt(2 ** 31));

/** The seed of this run, a whole number. */
export const seed = Number(process.env['SEED']);
if (!Number.isSafeInteger(seed)) throw new Error(`Expected SEED to be a whole number, got ${process.env['SEED']}`);

fc.configureGlobal({ seed });
