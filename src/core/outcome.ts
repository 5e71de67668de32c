import type { Hold } from './rules/catalogue.ts';
import type { Step } from './step.ts';

/** The step that is next, and what blocks it. */
export interface Outcome {
  readonly candidate: Step;
  readonly hold: Hold | null;
}
