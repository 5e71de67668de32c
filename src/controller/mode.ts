import type { RolloutPolicy } from '../core/policy.ts';
import type { EffectiveWish, Strategy } from './rollout-resource.ts';

/** Who lowers partitions: MOCO's own controller, or this program. */
export const partitionDrivers = ['moco', 'own'] as const;
export type PartitionDriver = (typeof partitionDrivers)[number];

/** What the operator has said of strategies, by flags. */
export interface StrategySettings {
  /** Feature gate `UpdateStrategyOnDelete`. */
  readonly onDeleteEnabled: boolean;
  readonly partitionDriver: PartitionDriver;
}

/** How a cluster is updated. `wish` is `null` where it can't be known: then nothing changes hands. */
export function modeOf(
  { onDeleteEnabled, partitionDriver }: StrategySettings,
  wish: Strategy | null,
  labelled: boolean,
): RolloutPolicy['mode'] {
  if (onDeleteEnabled && (wish === null ? labelled : wish === 'OnDelete')) return 'OnDelete';
  return partitionDriver === 'own' ? 'Partition' : 'Observe';
}

/** The strategy in force, as the status shows it. */
export const strategyShown: Readonly<Record<RolloutPolicy['mode'], string>> = {
  OnDelete: 'OnDelete',
  Partition: 'Partition',
  Observe: 'MOCO',
};

/** Wishes that MOCO's partition controller does not know. The rest only says when this program calls something late. */
const unknownToMoco: readonly (keyof RolloutPolicy | 'heldMembers')[] = [
  'paused',
  'repairWhilePaused',
  'maxUnavailable',
  'partition',
  'minReadySeconds',
  'primaryUpdatePolicy',
  'approvedRevision',
  'heldMembers',
  'overrides',
];

/** Wishes of one mode alone that have no meaning in the other in which this program works. */
const onDeleteAlone: readonly string[] = ['maxUnavailable', 'repairWhilePaused', 'switchoverTimeoutSeconds'];

/** The fields of `spec` that somebody has set and that change nothing, by name. */
export function wishesWithoutEffect(
  mode: RolloutPolicy['mode'],
  { onDeleteEnabled }: StrategySettings,
  sources: Readonly<Record<string, EffectiveWish>>,
): readonly string[] {
  const said = Object.entries(sources).filter(([, { source }]) => !source.startsWith('flag') && source !== 'default');
  const isWithout = (field: string, value: string): boolean => {
    if (field === 'strategy') return value === 'OnDelete' && !onDeleteEnabled;
    switch (mode) {
      case 'OnDelete':
        return false;
      case 'Partition':
        return onDeleteAlone.includes(field);
      case 'Observe':
        return (unknownToMoco as readonly string[]).includes(field) || field === 'switchoverTimeoutSeconds';
    }
  };
  return said.flatMap(([field, { value }]) => (isWithout(field, value) ? [field] : [])).toSorted();
}

/** What `decide` gets: where MOCO drives, none of the wishes that it does not know. */
export function inForce(policy: RolloutPolicy, mode: RolloutPolicy['mode'], builtIn: RolloutPolicy): RolloutPolicy {
  if (mode !== 'Observe') return { ...policy, mode };
  const { progressDeadlineSeconds, failoverGraceSeconds } = policy;
  return { ...builtIn, mode, progressDeadlineSeconds, failoverGraceSeconds };
}
