/** What the runner sends to a worker. */
export type Order = { readonly kind: 'run'; readonly file: string } | { readonly kind: 'end' };

/** What a worker sends to the runner. */
export type Answer =
  | ({ readonly kind: 'ran' } & FileResult)
  | { readonly kind: 'ended'; readonly failures: readonly Failure[] };

export interface FileResult {
  readonly passed: number;
  readonly skipped: number;
  /** Why tests were skipped, one sentence each. */
  readonly leftOut: readonly string[];
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly title: string;
  /** The error with its stack. */
  readonly text: string;
}

/** The settings with which the runner starts a worker. */
export interface WorkerSettings {
  readonly grep?: string;
  /** Absent if the output is not a terminal. */
  readonly color?: boolean;
}
