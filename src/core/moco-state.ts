/**
 * The states of a cluster as MOCO names them: the reasons of the conditions `Initialized`, `Available` and `Healthy`
 * (MOCO 0.36, clustering/status.go, ClusterState.String). `Offline`, `Cloning` and `Restoring` follow from the
 * settings, the others from what the databases answer.
 */
export const mocoStates = [
  'Healthy',
  /** The primary serves with enough replicas, but not with all of them. */
  'Degraded',
  /** MOCO can reach the primary, but it does not serve with enough replicas yet. */
  'Incomplete',
  /** MOCO cannot reach the primary, or the primary has lost its data. Enough replicas remain for a failover. */
  'Failed',
  /** Like `Failed`, but too few replicas remain for a failover. */
  'Lost',
  'Cloning',
  'Restoring',
  'Offline',
] as const;

export type MocoState = (typeof mocoStates)[number];

/** MOCO's state if MOCO cannot reach the primary, even if the primary's pod looks ready; otherwise `null`. */
export const unreachedPrimary = ({ mocoState: state }: { readonly mocoState: MocoState | null }) =>
  state === 'Failed' || state === 'Lost' ? state : null;
