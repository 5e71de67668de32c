import { createHash } from 'node:crypto';
import { keyOf } from './explained.ts';
import type { Mutant } from './mutant.ts';

interface Choice {
  readonly sample: number;
  readonly seed: number;
  /** Tried first, beside the sample. */
  readonly isListed: (mutant: Mutant) => boolean;
}

/** The listed mutants, and `sample` others: which ones, and in which order, follows from the seed alone. */
export function sampleOf(all: readonly Mutant[], { sample, seed, isListed }: Choice): readonly Mutant[] {
  const placed = all.map((mutant) => ({ mutant, place: placeOf(mutant, seed) }));
  const others = placed.filter(({ mutant }) => !isListed(mutant)).toSorted((a, b) => a.place.localeCompare(b.place));
  return [...all.filter(isListed), ...others.slice(0, sample).map(({ mutant }) => mutant)];
}

const placeOf = (mutant: Mutant, seed: number): string =>
  createHash('sha256')
    .update(`${seed} ${mutant.start} ${keyOf(mutant)}`)
    .digest('hex');
