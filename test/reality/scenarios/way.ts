import type { RolloutSpec } from '../../../src/api/rollout.ts';
import { annotationOn, forceRollingUpdateAnnotation } from '../../../src/moco/names.ts';

/** Who takes the members of a cluster away, one after the other. */
export interface Way {
  readonly slug: string;
  readonly title: string;
  /** Of the MySQLRollout. */
  readonly settings: RolloutSpec;
  /** Of the MySQLCluster. */
  readonly annotations: Readonly<Record<string, string>>;
}

export const onDelete: Way = {
  slug: 'on-delete',
  title: 'moco-rollout',
  settings: { strategy: 'OnDelete' },
  annotations: {},
};

/** The same, for what no pod has to be replaced for. */
export const inPlace = (settings: RolloutSpec['inPlace'] = { mode: 'IfPossible' }): Way => ({
  ...onDelete,
  slug: 'in-place',
  title: 'moco-rollout in place',
  settings: { ...onDelete.settings, inPlace: settings },
});

/** This program only reports. */
export const partitions: Way = {
  slug: 'moco',
  title: "MOCO's partitions",
  settings: { strategy: 'Partition' },
  annotations: {},
};

export const native: Way = {
  slug: 'native',
  title: 'native RollingUpdate',
  settings: { strategy: 'Partition' },
  annotations: { [forceRollingUpdateAnnotation]: annotationOn },
};

export const ways: readonly Way[] = [onDelete, partitions, native];
