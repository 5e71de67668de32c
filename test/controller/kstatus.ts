import type { MySQLRollout } from '../../src/api/rollout.ts';

/**
 * What kstatus (sigs.k8s.io/cli-utils, `checkGenericProperties`) makes of a resource that it knows nothing about, and
 * with it Flux, Argo CD's health checks of that kind and kpt: the first of its rules that applies.
 */
export function kstatus({
  metadata: { deletionTimestamp, generation },
  status: { observedGeneration, conditions = [] } = {},
}: MySQLRollout): 'Terminating' | 'InProgress' | 'Failed' | 'Current' {
  if (deletionTimestamp) return 'Terminating';
  if (generation !== undefined && observedGeneration !== undefined && observedGeneration !== generation) {
    return 'InProgress';
  }
  for (const { type, status } of conditions) {
    if (type === 'Reconciling' && status === 'True') return 'InProgress';
    if (type === 'Stalled' && status === 'True') return 'Failed';
  }
  return 'Current';
}
