import type { Condition } from '../../api/rollout-status.ts';
import type { ObservedFacts } from './collect-facts.ts';

/** Condition `PolicyInForce`: whether every setting of this cluster has an effect. */
export function policyInForce({
  settings,
  withoutEffect,
  policy,
}: Pick<ObservedFacts, 'settings' | 'withoutEffect' | 'policy'>): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (settings.problem !== null) return { status: 'False', reason: 'SettingsInvalid', message: settings.problem };
  if (withoutEffect.length === 0) {
    if (settings.overriddenTooLong.length === 0) return { status: 'True', reason: 'InForce', message: '' };
    return {
      status: 'False',
      reason: 'OverrideTooLong',
      message: `the override of ${settings.overriddenTooLong.join(', ')} has no effect yet: it ends later than --max-override-duration allows`,
    };
  }
  const fields = withoutEffect.join(', ');
  const have = withoutEffect.length === 1 ? 'has' : 'have';
  switch (policy.mode) {
    case 'OnDelete':
      return {
        status: 'False',
        reason: 'AwaitingAdoption',
        message: `${fields} ${have} no effect until the pause ends, since the StatefulSet has not been adopted and MOCO replaces its pods`,
      };
    case 'Partition':
      return {
        status: 'False',
        reason: 'PartitionMode',
        message: `${fields} ${have} no effect while the StatefulSet replaces its pods by partitions`,
      };
    case 'MOCO':
      return {
        status: 'False',
        reason: 'MOCODrives',
        message: `${fields} ${have} no effect while MOCO's own partition controller lowers the partition`,
      };
  }
}
