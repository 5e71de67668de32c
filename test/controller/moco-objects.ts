import { readFileSync } from 'node:fs';
import { revisionHashLabel, roleLabel, strategyLabel, strategyOnDelete } from '../../src/moco/names.ts';
import { revisionOwner } from '../support/label-owner.ts';
import { jobLabels } from '../support/moco/names.ts';
import type { Patch } from './object-server.ts';

export const revisionBefore = 'moco-test-5897fd84f8';
export const revisionAfter = 'moco-test-7966559688';

interface Recorded {
  readonly statefulSet: Named;
  readonly podDisruptionBudget: Named;
  readonly mysqlCluster: Named;
  readonly pod: RecordedPod;
}

interface Named {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>>; readonly [field: string]: unknown };
  readonly spec: Patch;
  readonly status: Patch;
  readonly [field: string]: unknown;
}

interface RecordedPod extends Named {
  readonly status: {
    readonly conditions: readonly { readonly type: string }[];
    readonly containerStatuses: readonly { readonly name: string }[];
    readonly [field: string]: unknown;
  };
}

const file = new URL('../fixtures/moco-recorded/objects.json', import.meta.url);

/** Whole objects of one healthy cluster of three, as the real API server had them; without uids. */
export const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded;

/** The recorded MySQLCluster at a generation that MOCO has applied. */
export function mysqlCluster({ replicas = 3, generation = 1 } = {}): object {
  const { metadata, spec, status } = recorded.mysqlCluster;
  return {
    ...recorded.mysqlCluster,
    metadata: { ...metadata, generation },
    spec: { ...spec, replicas },
    status: appliedBy(status, generation, replicas),
  };
}

/** What MOCO writes once it has applied a generation. */
export function appliedBy(status: Patch, generation: number, replicas = 3): Patch {
  const conditions = status['conditions'] as readonly { readonly type: string }[];
  return {
    ...status,
    syncedReplicas: replicas,
    reconcileInfo: { generation, reconcileVersion: 1 },
    conditions: conditions.map((condition) =>
      condition.type === 'ReconcileSuccess' ? { ...condition, observedGeneration: generation } : condition,
    ),
  };
}

const statefulSetUid = 'uid-of-moco-test';

/** The recorded StatefulSet, taken over by this program. */
export function statefulSet({ replicas = 3, current = revisionBefore, update = revisionAfter } = {}): object {
  const { metadata, spec, status } = recorded.statefulSet;
  return {
    ...recorded.statefulSet,
    metadata: {
      ...metadata,
      uid: statefulSetUid,
      labels: { ...metadata.labels, [strategyLabel]: strategyOnDelete },
    },
    spec: { ...spec, replicas, updateStrategy: { type: 'OnDelete' } },
    status: { ...status, currentRevision: current, updateRevision: update },
  };
}

/** The Job of a backup that a person has created from MOCO's CronJob. */
export const emergencyBackup: object = {
  metadata: { name: 'emergency-backup', labels: jobLabels('test') },
  status: { active: 1, startTime: '2026-07-01T12:00:00Z' },
};

export const budget = (): object => recorded.podDisruptionBudget;

export interface PodOptions {
  readonly revision?: string;
  readonly role?: 'primary' | 'replica' | null;
  readonly ready?: boolean;
  /** When everything about it began. */
  readonly at?: string;
  /** The name of its node. */
  readonly node?: string;
}

/** The recorded pod as another member of its cluster. */
export function pod(
  ordinal: number,
  { revision = revisionBefore, role = 'replica', ready = true, at = '2026-07-01T11:00:00Z', node }: PodOptions = {},
): object {
  const { metadata, status } = recorded.pod;
  return {
    ...recorded.pod,
    metadata: {
      ...metadata,
      name: `moco-test-${ordinal}`,
      ownerReferences: [{ kind: 'StatefulSet', name: 'moco-test', uid: statefulSetUid, controller: true }],
      creationTimestamp: at,
      managedFields: [revisionOwner('kube-controller-manager', at)],
      labels: { ...metadata.labels, [revisionHashLabel]: revision, ...(role !== null && { [roleLabel]: role }) },
    },
    spec: {
      ...recorded.pod.spec,
      ...(node !== undefined && { nodeName: node }),
      volumes: [{ name: 'mysql-data', persistentVolumeClaim: { claimName: claimOf(ordinal) } }],
    },
    status: { ...status, ...containersOf(ready ? 'ready' : 'starting', at) },
  };
}

export const claimOf = (ordinal: number): string => `mysql-data-moco-test-${ordinal}`;

/** The status of a pod whose mysqld does this since then. */
export function containersOf(
  mysqld: 'ready' | 'starting' | 'CrashLoopBackOff' | 'ImagePullBackOff',
  at: string,
): Patch {
  const ready = mysqld === 'ready';
  const runs = ready || mysqld === 'starting';
  const { status } = recorded.pod;
  return {
    conditions: status.conditions.map((condition) => ({
      ...condition,
      lastTransitionTime: at,
      ...(['Ready', 'ContainersReady'].includes(condition.type) && { status: ready ? 'True' : 'False' }),
    })),
    containerStatuses: status.containerStatuses.map((container) =>
      container.name === 'mysqld'
        ? {
            ...container,
            ready,
            started: runs,
            restartCount: mysqld === 'CrashLoopBackOff' ? 4 : 0,
            state: runs ? { running: { startedAt: at } } : { waiting: { reason: mysqld } },
          }
        : container,
    ),
  };
}
