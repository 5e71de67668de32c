import type { SettingInForce } from '../../api/rollout-status.ts';
import type { Strategy } from '../../api/settings.ts';
import { neverInPlace } from '../../core/in-place-changes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../core/policy.ts';

/** Who lowers partitions: MOCO's own controller or this program. */
export const partitionDrivers = ['moco', 'own'] as const;
export type PartitionDriver = (typeof partitionDrivers)[number];

export interface StrategySettings {
  readonly onDeleteEnabled: boolean;
  readonly partitionDriver: PartitionDriver;
  readonly inPlaceEnabled: boolean;
}

/** The mode in which a cluster is updated. If `setting` is `null` because it is unknown, the mode does not change. */
export function modeOf(
  { onDeleteEnabled, partitionDriver }: Omit<StrategySettings, 'inPlaceEnabled'>,
  setting: Strategy | null,
  labelled: boolean,
): RolloutPolicy['mode'] {
  if (onDeleteEnabled && (setting === null ? labelled : setting === 'OnDelete')) return 'OnDelete';
  return partitionDriver === 'own' ? 'Partition' : 'MOCO';
}

/**
 * The strategy that currently replaces pods, as the status shows it. It is OnDelete from the adoption of the
 * StatefulSet to its release, even while a pause delays either.
 */
export function strategyShown(
  { partitionDriver }: Pick<StrategySettings, 'partitionDriver'>,
  isAdopted: boolean,
): string {
  if (isAdopted) return 'OnDelete';
  return partitionDriver === 'own' ? 'Partition' : 'MOCO';
}

/** Settings that change when this program considers something late. MOCO's partition controller has no others. */
const knownToMoco: readonly string[] = ['strategy', 'progressDeadlineSeconds', 'failoverGraceSeconds'];

/** Settings that only one of this program's modes supports. */
const onDeleteAlone: readonly string[] = [
  'maxUnavailable',
  'repairWhilePaused',
  'switchoverTimeoutSeconds',
  'lostMembers',
  'restore',
  'inPlace',
];

/** Settings that need the feature gate ReplicationFacts. */
const ofMysqlAlone: readonly string[] = ['longWriteGraceSeconds', 'longWritePolicy'];

/** The names of the fields of `spec` that are set but have no effect. */
export function settingsWithoutEffect(
  mode: RolloutPolicy['mode'],
  { onDeleteEnabled, partitionDriver, inPlaceEnabled }: StrategySettings,
  sources: Readonly<Record<string, SettingInForce>>,
  isAdopted: boolean,
  asksMysql: boolean,
): readonly string[] {
  const fields = Object.entries(sources).filter(([, { source }]) => !source.startsWith('flag') && source !== 'default');
  const awaitsAdoption = mode === 'OnDelete' && !isAdopted && sources['paused']?.value === true;
  const mocoDrives = partitionDriver === 'moco' && (mode === 'MOCO' || awaitsAdoption);
  const isWithout = (field: string, value: unknown): boolean => {
    if (field === 'strategy') return value === 'OnDelete' && (!onDeleteEnabled || awaitsAdoption);
    if (field === 'inPlace' && !inPlaceEnabled) return true;
    if (ofMysqlAlone.includes(field) && !asksMysql) return true;
    // A pause delays the release of a StatefulSet that is still adopted.
    if (mocoDrives) return !knownToMoco.includes(field) && !(field === 'paused' && isAdopted);
    return mode === 'Partition' && onDeleteAlone.includes(field);
  };
  return fields.flatMap(([field, { value }]) => (isWithout(field, value) ? [field] : [])).toSorted();
}

/** The feature gate that is off and without which a field has no effect, whatever else; `null` if there is none. */
export function gateWithout(
  field: string,
  { onDeleteEnabled, inPlaceEnabled }: StrategySettings,
  asksMysql: boolean,
): 'UpdateStrategyOnDelete' | 'InPlaceUpdate' | 'ReplicationFacts' | null {
  if (ofMysqlAlone.includes(field) && !asksMysql) return 'ReplicationFacts';
  if (field === 'strategy' && !onDeleteEnabled) return 'UpdateStrategyOnDelete';
  return field === 'inPlace' && !inPlaceEnabled ? 'InPlaceUpdate' : null;
}

/**
 * The policy for `decide`. In mode MOCO it has none of the settings that MOCO does not support, except a pause that
 * delays a release.
 */
export function policyForMode(
  policy: RolloutPolicy,
  mode: RolloutPolicy['mode'],
  isAdopted: boolean,
  inPlaceEnabled: boolean,
): RolloutPolicy {
  if (mode === 'OnDelete') return { ...policy, mode, ...(!inPlaceEnabled && { inPlaceUpdates: neverInPlace }) };
  if (mode === 'Partition') return { ...policy, mode, restore: null, inPlaceUpdates: neverInPlace };
  const { progressDeadlineSeconds, failoverGraceSeconds, paused } = policy;
  return { ...defaultPolicy, mode, progressDeadlineSeconds, failoverGraceSeconds, paused: paused && isAdopted };
}
