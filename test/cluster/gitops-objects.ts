import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { Bench, type Process } from '../controller/bench.ts';
import { rollOut } from '../controller/whole-rollout.ts';
import { mergePatch } from '../support/merge-patch.ts';
import { recordedObjects } from '../support/moco/recorded-objects.ts';

/** What Argo CD and Flux are to make of an object. */
export interface Expected {
  readonly argo: 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
  /** `waiting` where no expression says anything: Flux goes on waiting. */
  readonly flux: 'Current' | 'InProgress' | 'Failed' | 'waiting';
}

export interface Checked extends Expected {
  readonly object: object;
}

interface Written {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

const complete = 'moco-rollout.io/RolloutComplete';

/** The recorded MySQLCluster, healthy and up to date, with some of its conditions written anew. */
function cluster(written: readonly Written[] = [], generation = 1): object {
  const { status } = recordedObjects.cluster;
  const kept = (status?.conditions ?? []).filter(({ type }) => written.every((one) => one.type !== type));
  const lastTransitionTime = '2026-11-21T07:33:00Z';
  const conditions = [...kept, ...written.map((one) => ({ lastTransitionTime, reason: 'Test', message: '', ...one }))];
  return mergePatch(recordedObjects.cluster, { metadata: { generation }, status: { conditions } }) as object;
}

const { status: _, ...withoutStatus } = recordedObjects.cluster;

/** What MOCO 0.36 wrote, and what it writes of other states. */
export const clusters: Readonly<Record<string, Checked>> = {
  'one without a status': { object: withoutStatus, argo: 'Progressing', flux: 'InProgress' },
  'one that moco-rollout does not manage': { object: cluster(), argo: 'Healthy', flux: 'Current' },
  'the same whose StatefulSet is not ready': {
    object: cluster([{ type: 'StatefulSetReady', status: 'False' }]),
    argo: 'Progressing',
    flux: 'waiting',
  },
  'one that is rolled out, whatever MOCO reports of its StatefulSet': {
    object: cluster([
      { type: complete, status: 'True', observedGeneration: 1 },
      { type: 'StatefulSetReady', status: 'False' },
    ]),
    argo: 'Healthy',
    flux: 'Current',
  },
  'one that is being rolled out': {
    object: cluster([{ type: complete, status: 'False', message: 'waiting for moco-test-2' }]),
    argo: 'Progressing',
    flux: 'waiting',
  },
  'one whose rollout waits for a person': {
    object: cluster([{ type: complete, status: 'False', reason: 'UpdateRevisionFailing' }]),
    argo: 'Degraded',
    flux: 'waiting',
  },
  'one whose rollout waits for what ends by itself': {
    object: cluster([{ type: complete, status: 'False', reason: 'BackupRunning' }]),
    argo: 'Progressing',
    flux: 'waiting',
  },
  'the same in the middle of a switchover': {
    object: cluster([
      { type: complete, status: 'False' },
      { type: 'Available', status: 'False' },
      { type: 'Healthy', status: 'False' },
    ]),
    argo: 'Progressing',
    flux: 'waiting',
  },
  'a new generation that MOCO has not applied': {
    object: cluster([{ type: complete, status: 'True', observedGeneration: 1 }], 2),
    argo: 'Progressing',
    flux: 'InProgress',
  },
  'a new generation that MOCO has applied and moco-rollout not seen': {
    object: mergePatch(cluster([{ type: complete, status: 'True', observedGeneration: 1 }], 2), {
      status: { reconcileInfo: { generation: 2 } },
    }) as object,
    argo: 'Progressing',
    flux: 'waiting',
  },
  'one that MOCO could not apply': {
    object: cluster([{ type: 'ReconcileSuccess', status: 'False', observedGeneration: 1, message: 'no such class' }]),
    argo: 'Degraded',
    flux: 'waiting',
  },
  'one with a lost replica, without a rollout': {
    object: cluster([
      { type: complete, status: 'True', observedGeneration: 1 },
      { type: 'Healthy', status: 'False', message: 'the current state is Degraded' },
    ]),
    argo: 'Degraded',
    flux: 'waiting',
  },
  'one that is cloning': {
    object: cluster([
      { type: 'Initialized', status: 'False' },
      { type: 'Available', status: 'False' },
    ]),
    argo: 'Progressing',
    flux: 'waiting',
  },
  'one whose reconciliation is stopped': {
    object: cluster([{ type: 'ReconciliationActive', status: 'False', message: 'stopped by annotation' }]),
    argo: 'Suspended',
    flux: 'Current',
  },
};

type Happening = (bench: Bench, program: Process) => void | Promise<void>;

const happenings: Readonly<Record<string, readonly [Happening, Expected]>> = {
  'a rollout in progress': [() => {}, { argo: 'Progressing', flux: 'InProgress' }],
  'a complete rollout': [rollOut, { argo: 'Healthy', flux: 'Current' }],
  'a paused one': [(bench) => bench.setting({ paused: true }), { argo: 'Suspended', flux: 'Current' }],
  'one whose revision fails': [
    async (bench, program) => {
      await program.work();
      bench.replace(2);
      bench.mysqld(2, 'ImagePullBackOff');
    },
    { argo: 'Degraded', flux: 'Failed' },
  ],
  'one whose settings contradict each other': [
    (bench) => bench.setting({ minReadySeconds: 60, progressDeadlineSeconds: 30 }),
    { argo: 'Degraded', flux: 'Failed' },
  ],
};

/** MySQLRollouts, and the MySQLCluster of a rollout, as the controller itself writes them. */
export async function writtenByController(): Promise<{
  readonly rollouts: Readonly<Record<string, Checked>>;
  readonly conditions: readonly Written[];
}> {
  const rollouts: Record<string, Checked> = {};
  let conditions: readonly Written[] = [];
  for (const [what, [happens, expected]] of Object.entries(happenings)) {
    const bench = new Bench();
    const program = bench.start();
    await happens(bench, program);
    await program.work();
    const object = bench.server.get(rolloutKind, 'test') as unknown as MySQLRollout;
    rollouts[what] = { object, ...expected };
    if (happens === rollOut) {
      const { metadata, status } = object;
      const later = { ...object, metadata: { ...metadata, generation: (status?.observedGeneration ?? 0) + 1 } };
      rollouts['one that was just changed'] = { object: later, argo: 'Progressing', flux: 'InProgress' };
      const { status: __, ...bare } = object;
      rollouts['one that was just made'] = { object: bare, argo: 'Progressing', flux: 'InProgress' };
      conditions = (bench.server.get(clusterKind, 'test')['status'] as { conditions: readonly Written[] }).conditions;
    }
  }
  return { rollouts, conditions: conditions.filter(({ type }) => type === complete) };
}
