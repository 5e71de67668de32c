/**
 * MOCO's word for the state of a cluster, the reason of the conditions `Initialized`, `Available` and `Healthy` (MOCO
 * 0.36, clustering/status.go, ClusterState.String). `Offline`, `Cloning` and `Restoring` follow from the settings, the
 * others from what the databases answer.
 */
export const mocoStates = [
  'Healthy',
  /** The primary serves with enough replicas, but not with all of them. */
  'Degraded',
  /** MOCO can reach the primary, but it does not serve with enough replicas yet. */
  'Incomplete',
  /** MOCO cannot reach the primary, or the primary has lost its data. Enough replicas are left for a failover. */
  'Failed',
  /** The same, but with too few replicas left. */
  'Lost',
  'Cloning',
  'Restoring',
  'Offline',
] as const;

export type MocoState = (typeof mocoStates)[number];

/** MOCO's state if MOCO does not reach the primary, whatever the primary's pod shows; otherwise `null`. */
export const unreachedPrimary = ({ mocoState: state }: { readonly mocoState: MocoState | null }) =>
  state === 'Failed' || state === 'Lost' ? state : null;
