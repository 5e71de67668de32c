/** The names under which log lines carry what they are about, so that every line of one cluster can be found. */
export interface LogFields {
  /** `namespace/name` of the MySQLCluster. */
  readonly cluster?: string;
  /** The kind of step, such as `evict`. */
  readonly step?: string;
  /** The rule behind a step or a hold. */
  readonly rule?: string;
  /** Name of a pod. */
  readonly member?: string;
  /** The update revision, as in the label `controller-revision-hash`. */
  readonly revision?: string;
  /** What was thrown. */
  readonly error?: unknown;
}

/** The order in which lines for people show them; whatever else a line carries comes after these. */
export const fieldOrder: readonly (keyof LogFields)[] = ['cluster', 'step', 'rule', 'member', 'revision', 'error'];
