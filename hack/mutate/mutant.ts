/** One small change of the source that a test should detect. */
export interface Mutant {
  /** The kind of change, such as `boundary` or `early exit removed`. */
  readonly kind: string;
  /** The path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The text before and after. */
  readonly before: string;
  readonly after: string;
  /** Offsets of `before` in the file, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/**
 * `killed`: a test failed, or nothing could be loaded. `timeout`: the tests did not end in time. `refused`: no test
 * failed, but the code does not compile.
 */
export type Verdict = 'killed' | 'survived' | 'timeout' | 'refused';

export interface Result {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The test that failed first. */
  readonly by: string | null;
}

export function mutated(source: string, { start, end, after }: Mutant): string {
  return source.slice(0, start) + after + source.slice(end);
}
