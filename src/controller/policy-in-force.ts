import type { Gathered } from './gather.ts';
import type { Condition } from './rollout-resource.ts';

/** Condition `PolicyInForce`: whether everything that people have asked for this cluster is done so. */
export function policyInForce({
  wishes,
  withoutEffect,
  policy,
}: Pick<Gathered, 'wishes' | 'withoutEffect' | 'policy'>): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (wishes.problem !== null) return { status: 'False', reason: 'PolicyUnknown', message: wishes.problem };
  if (withoutEffect.length === 0) return { status: 'True', reason: 'InForce', message: '' };
  const fields = withoutEffect.join(', ');
  const have = withoutEffect.length === 1 ? 'has' : 'have';
  switch (policy.mode) {
    case 'OnDelete':
      return { status: 'False', reason: 'WithoutEffect', message: `${fields} ${have} no effect` };
    case 'Partition':
      return {
        status: 'False',
        reason: 'PartitionMode',
        message: `${fields} ${have} no effect while the StatefulSet replaces its pods by partitions`,
      };
    case 'Observe':
      return {
        status: 'False',
        reason: 'MOCODrives',
        message: `${fields} ${have} no effect while MOCO's own partition controller lowers the partition`,
      };
  }
}
