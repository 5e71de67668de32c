import { createHash } from 'node:crypto';
import { keyOf } from './explained.ts';
import type { Mutant } from './mutant.ts';

interface Choice {
  readonly sample: number;
  readonly seed: number;
  /** Mutants that are tried first, in addition to the sample. */
  readonly isListed: (mutant: Mutant) => boolean;
}

/** The listed mutants, plus `sample` others. The seed alone determines which ones, and their order. */
export function sampleOf(all: readonly Mutant[], { sample, seed, isListed }: Choice): readonly Mutant[] {
  const placed = all.map((mutant) => ({ mutant, place: placeOf(mutant, seed) }));
  const others = placed.filter(({ mutant }) => !isListed(mutant)).toSorted((a, b) => a.place.localeCompare(b.place));
  return [...all.filter(isListed), ...others.slice(0, sample).map(({ mutant }) => mutant)];
}

const placeOf = (mutant: Mutant, seed: number): string =>
  createHash('sha256')
    .update(`${seed} ${mutant.start} ${keyOf(mutant)}`)
    .digest('hex');
