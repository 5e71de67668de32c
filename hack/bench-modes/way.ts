import { annotationOn, forceRollingUpdateAnnotation } from '../../src/moco/names.ts';
import type { ClusterWishes } from '../demo/rollout.ts';
import type { StageOptions } from '../stage/stage.ts';

/** A way to update a StatefulSet that is measured. */
export interface Way {
  readonly name: string;
  /** For namespaces. */
  readonly slug: string;
  readonly wishes: ClusterWishes;
  /** Its time is made of waits, so that its repetitions go on side by side without being in each other's way. */
  readonly waits?: boolean;
}

/** Ways that are measured on one control plane, the first of which is what the others are held against. */
export interface Setting {
  readonly name: string;
  readonly partitionDriver: NonNullable<StageOptions['partitionDriver']>;
  readonly ways: readonly [native: Way, ...others: readonly Way[]];
}

const native: Way = {
  name: 'native RollingUpdate',
  slug: 'native',
  wishes: { strategy: 'Partition', annotations: { [forceRollingUpdateAnnotation]: annotationOn } },
};

/** A control plane has one partition driver, so there are two; the native way is measured beside either. */
export const settings: readonly Setting[] = [
  {
    name: "with MOCO's partition controller",
    partitionDriver: 'moco',
    ways: [
      native,
      { name: 'OnDelete', slug: 'on-delete', wishes: { strategy: 'OnDelete' } },
      {
        name: "MOCO's partitions",
        slug: 'moco',
        wishes: { strategy: 'Partition', idleMilliseconds: 5 * 60_000 },
        waits: true,
      },
    ],
  },
  {
    name: 'without it',
    partitionDriver: 'own',
    ways: [native, { name: 'own partitions', slug: 'own', wishes: { strategy: 'Partition' } }],
  },
];
