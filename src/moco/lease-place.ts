/** The Lease with which moco-controller elects its leader. */
export interface LeasePlace {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The defaults of MOCO 0.36: `--leader-election-id` is `moco`, and the namespace is that of its pod, `moco-system` in
 * MOCO's manifests (cmd/moco-controller/cmd/root.go, run.go).
 */
export const usualLease: LeasePlace = { namespace: 'moco-system', name: 'moco' };
