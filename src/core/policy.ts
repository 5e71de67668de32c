/** The user's wishes for one cluster, each already taken from where it has precedence. */
export interface RolloutPolicy {
  /** Feature gate `UpdateStrategyOnDelete`. */
  readonly onDelete: boolean;
  readonly paused: boolean;
  /** Members with a lower ordinal keep their revision. */
  readonly partition: number;
  readonly minReadySeconds: number;
  readonly progressDeadlineSeconds: number;
  readonly switchoverTimeoutSeconds: number;
  readonly failoverGraceSeconds: number;
}

/** `minReadySeconds` is that of MOCO's own partition controller. */
export const defaultPolicy: RolloutPolicy = {
  onDelete: true,
  paused: false,
  partition: 0,
  minReadySeconds: 5,
  progressDeadlineSeconds: 600,
  switchoverTimeoutSeconds: 90,
  failoverGraceSeconds: 180,
};
