import type { Situation } from '../situation.ts';
import type { Step } from '../step.ts';

/** A line of a procedure: who is next, and how. It asks no gate. */
export interface Line {
  /** Whom the line takes, for SPEC.md. */
  readonly takes: string;
  /** Steps in the order of preference. The first that no gate holds is done. */
  readonly candidates: (situation: Situation) => readonly Step[];
  /**
   * If none of its candidates may go, and none waits for another try of its write, the next line is asked. Otherwise
   * the first one's hold ends the procedure.
   */
  readonly yields?: true;
}

/** Lines by name, in order. */
export type Procedure = Readonly<Record<string, Line>>;
