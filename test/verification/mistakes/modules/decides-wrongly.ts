import { decide as right } from '../../../../src/core/decide.ts';
import { mistakes } from '../catalogue.ts';
import { mistakeAt } from '../substitution.ts';

/** Decides with the mistake that this module was loaded for. */
export const decide: typeof right = mistakes[mistakeAt(import.meta.url)]?.decide ?? right;
