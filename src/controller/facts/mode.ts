import type { Strategy } from '../../api/settings.ts';
import type { SettingInForce } from '../../api/settings-in-force.ts';
import { neverInPlace } from '../../core/in-place-changes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../core/policy.ts';

// The mode of a cluster, and which settings have an effect in it.

/** Who lowers partitions: MOCO's own controller or this program. */
export const partitionDrivers = ['moco', 'own'] as const;
export type PartitionDriver = (typeof partitionDrivers)[number];

export interface StrategySettings {
  readonly onDeleteEnabled: boolean;
  readonly partitionDriver: PartitionDriver;
  readonly inPlaceEnabled: boolean;
  readonly nodeMaintenanceEnabled: boolean;
}

/** The mode in which a cluster is updated. If `setting` is `null` because it is unknown, the mode does not change. */
export function modeOf(
  { onDeleteEnabled, partitionDriver }: Pick<StrategySettings, 'onDeleteEnabled' | 'partitionDriver'>,
  setting: Strategy | null,
  labelled: boolean,
): RolloutPolicy['mode'] {
  return onDeleteEnabled && (setting === null ? labelled : setting === 'OnDelete')
    ? 'OnDelete'
    : modeByPartition(partitionDriver);
}

export const modeByPartition = (driver: PartitionDriver): RolloutPolicy['mode'] =>
  driver === 'own' ? 'Partition' : 'MOCO';

/**
 * The settings that still have an effect while MOCO's partition controller updates the cluster. They determine when
 * this program considers something late.
 */
const knownToMoco: readonly string[] = ['strategy', 'progressDeadlineSeconds', 'failoverGraceSeconds'];

/** Settings that need the feature gate NodeMaintenance. */
const ofNodes: readonly string[] = ['nodeMaintenance', 'rolloutsDuringMaintenance'];

/** Settings that only one of this program's modes supports. */
const onDeleteAlone: readonly string[] = [
  'maxUnavailable',
  'repairWhilePaused',
  'switchoverTimeoutSeconds',
  'lostMembers',
  'restore',
  'inPlace',
  ...ofNodes,
];

/** Settings that require the feature gate ReplicationFacts. */
const ofMysqlAlone: readonly string[] = ['longWriteGraceSeconds', 'longWritePolicy'];

/**
 * A field of `spec` that is set but requires a feature gate that is off, with the name of the gate. Otherwise `null`.
 */
export interface WithoutEffect {
  readonly field: string;
  readonly gate: 'UpdateStrategyOnDelete' | 'InPlaceUpdate' | 'ReplicationFacts' | 'NodeMaintenance' | null;
}

/** The fields of `spec` that are set but have no effect, by name. */
export function settingsWithoutEffect(
  mode: RolloutPolicy['mode'],
  { onDeleteEnabled, partitionDriver, inPlaceEnabled, nodeMaintenanceEnabled }: StrategySettings,
  sources: Readonly<Record<string, SettingInForce>>,
  isAdopted: boolean,
  asksMysql: boolean,
): readonly WithoutEffect[] {
  const awaitsAdoption = mode === 'OnDelete' && !isAdopted && sources['paused']?.value === true;
  const mocoDrives = partitionDriver === 'moco' && (mode === 'MOCO' || awaitsAdoption);
  const gateOf = (field: string): WithoutEffect['gate'] => {
    if (field === 'strategy') return onDeleteEnabled ? null : 'UpdateStrategyOnDelete';
    if (ofNodes.includes(field)) return nodeMaintenanceEnabled ? null : 'NodeMaintenance';
    if (field === 'inPlace') return inPlaceEnabled ? null : 'InPlaceUpdate';
    return ofMysqlAlone.includes(field) && !asksMysql ? 'ReplicationFacts' : null;
  };
  const isWithout = (field: string, value: unknown): boolean => {
    // A `pause` belongs to `paused`, which is checked separately.
    if (field === 'pause') return false;
    if (field === 'strategy') return value === 'OnDelete' && (!onDeleteEnabled || awaitsAdoption);
    if (gateOf(field) !== null) return true;
    // A pause has an effect while the StatefulSet is still adopted: it delays the release.
    if (mocoDrives) return !knownToMoco.includes(field) && !(field === 'paused' && isAdopted);
    return mode === 'Partition' && onDeleteAlone.includes(field);
  };
  return Object.entries(sources)
    .filter(([, { source }]) => !source.startsWith('flag') && source !== 'default')
    .filter(([field, { value }]) => isWithout(field, value))
    .map(([field]) => ({ field, gate: gateOf(field) }))
    .toSorted((one, other) => (one.field < other.field ? -1 : 1));
}

/**
 * The policy for `decide`. In mode MOCO it lacks the settings that MOCO does not support, except a pause that delays a
 * release.
 */
export function policyForMode(
  policy: RolloutPolicy,
  mode: RolloutPolicy['mode'],
  isAdopted: boolean,
  { inPlaceEnabled, nodeMaintenanceEnabled }: Pick<StrategySettings, 'inPlaceEnabled' | 'nodeMaintenanceEnabled'>,
): RolloutPolicy {
  const { nodeMaintenance, rolloutsDuringMaintenance } = defaultPolicy;
  const onNodes = { nodeMaintenance, rolloutsDuringMaintenance };
  if (mode === 'OnDelete') {
    return {
      ...policy,
      mode,
      ...(!inPlaceEnabled && { inPlaceUpdates: neverInPlace }),
      ...(!nodeMaintenanceEnabled && onNodes),
    };
  }
  if (mode === 'Partition') return { ...policy, mode, ...onNodes, restore: null, inPlaceUpdates: neverInPlace };
  const { progressDeadlineSeconds, failoverGraceSeconds, paused } = policy;
  return { ...defaultPolicy, mode, progressDeadlineSeconds, failoverGraceSeconds, paused: paused && isAdopted };
}
