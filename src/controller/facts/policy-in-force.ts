import type { Condition } from '../../api/rollout-status.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { WithoutEffect } from './mode.ts';
import type { Settings } from './settings-in-force.ts';

/** The condition `PolicyInForce`: whether every setting of this cluster has an effect. */
export function policyInForce({
  settings,
  withoutEffect,
  policy,
}: {
  readonly settings: Settings;
  readonly withoutEffect: readonly WithoutEffect[];
  readonly policy: Pick<RolloutPolicy, 'mode'>;
}): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (settings.problem !== null) return { status: 'False', reason: 'SettingsInvalid', message: settings.problem };
  if (withoutEffect.length === 0) {
    if (settings.overriddenTooLong.length === 0) return { status: 'True', reason: 'InForce', message: '' };
    return {
      status: 'False',
      reason: 'OverrideTooLong',
      message: `the override of ${settings.overriddenTooLong.join(', ')} has no effect yet: it ends later than --max-override-duration allows`,
    };
  }
  const gated = withoutEffect.flatMap(({ field, gate }) =>
    gate === null ? [] : [`${field} has no effect while the feature gate ${gate} is off`],
  );
  const others = withoutEffect.filter(({ gate }) => gate === null).map(({ field }) => field);
  const [reason, because] = others.length === 0 ? (['FeatureGateOff', null] as const) : becauseOf(policy.mode);
  const rest = `${others.join(', ')} ${others.length === 1 ? 'has' : 'have'} no effect ${because}`;
  return { status: 'False', reason, message: [...gated, ...(because === null ? [] : [rest])].join('; ') };
}

function becauseOf(mode: RolloutPolicy['mode']): readonly [reason: string, because: string] {
  switch (mode) {
    case 'OnDelete':
      return [
        'AwaitingAdoption',
        'until the pause ends, since the StatefulSet has not been adopted and MOCO replaces its pods',
      ];
    case 'Partition':
      return ['PartitionMode', 'while the StatefulSet replaces its pods by partitions'];
    case 'MOCO':
      return ['MOCODrives', "while MOCO's own partition controller lowers the partition"];
  }
}

/**
 * Builds the conditions of an object from its current ones. If the status of a condition does not change, its
 * transition time does not change either.
 */
export const conditionsAfter =
  (before: readonly Condition[] | undefined, observedGeneration: number, nowTimestamp: string) =>
  (type: string, values: Pick<Condition, 'status' | 'reason' | 'message'>): Condition => {
    const known = before?.find((one) => one.type === type);
    const lastTransitionTime = known?.status === values.status ? known.lastTransitionTime : nowTimestamp;
    return { type, ...values, lastTransitionTime, observedGeneration };
  };
