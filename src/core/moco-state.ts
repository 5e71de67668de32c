/**
 * MOCO's word for the state of a cluster, the reason of the conditions `Initialized`, `Available` and `Healthy` (MOCO
 * 0.36, clustering/status.go, ClusterState.String). `Offline`, `Cloning` and `Restoring` follow from the settings, the
 * others from what the databases answer.
 */
export const mocoStates = [
  'Healthy',
  /** The primary serves with enough replicas, but not with all of them. */
  'Degraded',
  /** MOCO reaches the primary, and it does not serve with enough replicas yet. */
  'Incomplete',
  /** MOCO does not reach the primary, or the primary has lost its data, and enough replicas are left for a failover. */
  'Failed',
  /** The same, but too few replicas are left. */
  'Lost',
  'Cloning',
  'Restoring',
  'Offline',
] as const;

export type MocoState = (typeof mocoStates)[number];

/** The state if MOCO does not reach the primary, whatever the primary's pod says; else `null`. */
export const unreachedPrimary = ({ mocoState: state }: { readonly mocoState: MocoState | null }) =>
  state === 'Failed' || state === 'Lost' ? state : null;
