import type { HoldRule } from '../../../src/core/decision.ts';
import { cloning } from './cloning.ts';
import type { Example, Examples } from './example.ts';
import { answers, step } from './not-done.ts';
import { notParticipating, recreatable, roles } from './not-participating.ts';
import { participating, partition } from './participating.ts';
import { failing, fleet, refused, turn, unfinished } from './unfinished.ts';
import { everything, untouchable } from './untouchable.ts';
import { versions } from './versions.ts';

const examples: Examples<HoldRule> = {
  ...untouchable,
  ...everything,
  ...failing,
  ...unfinished,
  ...refused,
  ...versions,
  ...cloning,
  ...fleet,
  ...roles,
  ...recreatable,
  ...notParticipating,
  ...participating,
  ...partition,
  ...step,
  ...turn,
  ...answers,
};

/** An example of each rule: facts to which it applies, and facts to which it just does not. */
export const everyExample = Object.entries<Example>(examples) as readonly (readonly [HoldRule, Example])[];
