/** One small change of the source that a test ought to notice. */
export interface Mutant {
  /** What was done, such as `boundary` or `early exit removed`. */
  readonly kind: string;
  /** From the root of the project. */
  readonly file: string;
  readonly line: number;
  /** What was there, and what is there now. */
  readonly before: string;
  readonly after: string;
  /** Offsets of `before` in the file, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** `killed`: a test failed, or nothing could be loaded. `timeout`: the tests never came to an end. */
export type Verdict = 'killed' | 'survived' | 'timeout';

export interface Result {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The test that failed first. */
  readonly by: string | null;
}

export function mutated(source: string, { start, end, after }: Mutant): string {
  return source.slice(0, start) + after + source.slice(end);
}
