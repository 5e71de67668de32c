import type { RolloutSpec } from '../../../src/api/rollout.ts';
import { annotationOn, forceRollingUpdateAnnotation } from '../../../src/moco/names.ts';
import type { BenchStageSettings } from './bench-stage.ts';

/** A way to update a StatefulSet that is measured: a column of every table. */
export interface Way {
  readonly slug: string;
  readonly title: string;
  readonly explanation: string;
  readonly setting: Setting;
  /** `spec` of the MySQLRollout; absent if our program does not run. */
  readonly settings?: RolloutSpec;
  /** Of the MySQLCluster. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** `updateStrategy.rollingUpdate.maxUnavailable` of the StatefulSet, patched once it exists. */
  readonly nativeMaxUnavailable?: number;
  /** `minReadySeconds` means something to it. */
  readonly knowsMinReady: boolean;
  /** How many members it may disrupt at once. */
  readonly atOnce: number;
  /** With fewer members it equals the previous way. */
  readonly leastMembers: number;
  /** The way's own delay between two members. */
  readonly waitsSeconds: number;
  /**
   * The longest time that it lets pass before it looks again or changes its mind: one that has done nothing for longer
   * waits for ever.
   */
  readonly longestWaitSeconds: { readonly usually: number; readonly withoutPrimary: number };
}

/** A control plane that several ways use one after the other. */
export interface Setting {
  readonly name: string;
  readonly stage: Pick<BenchStageSettings, 'partitionDriver' | 'flags' | 'featureGates'>;
}

const withMoco: Setting = {
  name: "with MOCO's webhook and partition controller",
  stage: { partitionDriver: 'moco', flags: ['--default-strategy=Partition'] },
};
const withOwnPartitions: Setting = {
  name: 'without them',
  stage: { partitionDriver: 'own', flags: ['--default-strategy=Partition'] },
};
const withNativeGate: Setting = {
  name: 'without any of them, feature gate MaxUnavailableStatefulSet on',
  stage: { partitionDriver: 'own', flags: null, featureGates: { MaxUnavailableStatefulSet: true } },
};

/** The defaults of `failoverGraceSeconds`, and after which a container that doesn't run counts as down. */
const ownWaits = { usually: 60, withoutPrimary: 180 };
const native = { knowsMinReady: false, waitsSeconds: 0, longestWaitSeconds: { usually: 0, withoutPrimary: 0 } };
const one = { atOnce: 1, leastMembers: 1 };

/** In the order of the columns. */
export const ways: readonly Way[] = [
  {
    ...native,
    ...one,
    slug: 'native',
    title: 'native',
    explanation: "the StatefulSet's own RollingUpdate, MOCO's partition out of the way (force-rolling-update)",
    setting: withMoco,
    settings: { strategy: 'Partition' },
    annotations: { [forceRollingUpdateAnnotation]: annotationOn },
  },
  {
    ...native,
    slug: 'native-2',
    title: 'native, 2',
    explanation: 'the same with maxUnavailable 2, which takes a feature gate and no webhook that takes it out again',
    setting: withNativeGate,
    nativeMaxUnavailable: 2,
    atOnce: 2,
    leastMembers: 3,
  },
  {
    ...one,
    slug: 'moco',
    title: "MOCO's",
    explanation: "MOCO's partition controller with the intervals of MOCO 0.36: 10 s, 30 s, and 5 s of being ready",
    setting: withMoco,
    settings: { strategy: 'Partition' },
    knowsMinReady: false,
    waitsSeconds: 25,
    longestWaitSeconds: { usually: 35, withoutPrimary: 35 },
  },
  {
    ...one,
    slug: 'own',
    title: 'own partitions',
    explanation: "this program's partition mode, where MOCO has no partition controller",
    setting: withOwnPartitions,
    settings: { strategy: 'Partition' },
    knowsMinReady: true,
    waitsSeconds: 0,
    longestWaitSeconds: ownWaits,
  },
  {
    ...one,
    slug: 'on-delete',
    title: 'OnDelete',
    explanation: "this program's other mode: it deletes and evicts the pods itself",
    setting: withMoco,
    settings: { strategy: 'OnDelete' },
    knowsMinReady: true,
    waitsSeconds: 0,
    longestWaitSeconds: ownWaits,
  },
  {
    slug: 'on-delete-2',
    title: 'OnDelete, 2',
    explanation: 'the same with maxUnavailable 2, which is no more than 1 of three members',
    setting: withMoco,
    settings: { strategy: 'OnDelete', maxUnavailable: 2 },
    knowsMinReady: true,
    atOnce: 2,
    leastMembers: 5,
    waitsSeconds: 0,
    longestWaitSeconds: ownWaits,
  },
];

/** What the limit is measured by, and what the figures to reach are asked of. */
export const judgedWay = 'on-delete';
