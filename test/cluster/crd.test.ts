import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MySQLRollout, RolloutStatus } from '../../src/controller/rollout-resource.ts';
import { readOne } from '../config/manifests.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const testDeadlineMilliseconds = 30_000;
const at = '2026-01-02T03:04:05Z';

describe('the API server and MySQLRollout', function () {
  this.timeout(testDeadlineMilliseconds);
  const controlPlane = useControlPlane();
  let namespace: string;

  before(async () => {
    namespace = await freshNamespace(controlPlane(), 'crd');
  });

  it('finds nothing in the schema that isn’t structural', async () => {
    const definition = JSON.parse(await kubectl('get', 'crd', 'mysqlrollouts.moco-rollout.io', '-o', 'json'));
    const conditions = definition.status.conditions as { type: string; status: string }[];
    const holding = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
    expect(holding).to.have.members(['NamesAccepted', 'Established']);
  });

  it('take one without a spec, as the controller makes it, and the sample', async () => {
    expect(await create(rollout('bare'))).to.contain('bare created');
    const sample = await readOne('MySQLRollout', 'samples');
    expect(await create({ ...rollout(sample.metadata.name), spec: sample['spec'] })).to.contain('test created');
  });

  it('know it by its short name and show its columns', async () => {
    await create(rollout('columns'));
    const shown = await kubectl('get', 'mro', 'columns');
    expect(shown.split('\n')[0]?.trim().split(/\s+/)).to.deep.equal([
      'NAME',
      'PHASE',
      'UPDATED',
      'REPLICAS',
      'HOLD',
      'AGE',
    ]);
  });

  it('explain every field', async () => {
    expect(await kubectl('explain', 'mysqlrollout.spec.partition')).to.contain('keep their revision');
  });

  const refusedSpecs: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a partition below zero': [{ partition: -1 }, /spec\.partition.*greater than or equal to 0/],
    'a partition that is no number': [{ partition: '1' }, /spec\.partition.*must be of type integer/],
    'a partition beyond 32 bits': [{ partition: 2 ** 31 }, /spec\.partition/],
    'minReadySeconds above an hour': [{ minReadySeconds: 3601 }, /spec\.minReadySeconds.*less than or equal to 3600/],
    'paused as a text': [{ paused: 'yes' }, /spec\.paused.*must be of type boolean/],
    'a field that there is not': [{ pause: true }, /unknown field "spec\.pause"/],
  };
  for (const [what, [spec, reason]] of Object.entries(refusedSpecs)) {
    it(`refuse ${what}`, async () => {
      expect(await problem(create({ ...rollout('refused'), spec }))).to.match(reason);
    });
  }

  it('keep every field of a status as it was written', async () => {
    await create(rollout('whole'));
    expect(await putStatus('whole', wholeStatus)).to.deep.equal(wholeStatus);
  });

  const refusedStatuses: Readonly<Record<string, readonly [status: object, reason: RegExp]>> = {
    'a member that is no ordinal': [{ members: { 'moco-test-0': {} } }, /the keys must be ordinals/],
    'a member with a leading zero': [{ members: { '01': {} } }, /the keys must be ordinals/],
    'an eviction without a pod': [{ intent: { id: 'a', holder: 'b', step: 'evict', pods: [] } }, /must name the pods/],
    'a deletion without pods': [{ intent: { id: 'a', holder: 'b', step: 'delete' } }, /must name the pods/],
    'a pod without a uid': [
      { intent: { id: 'a', holder: 'b', step: 'evict', pods: [{ name: 'p' }] } },
      /uid: Required/,
    ],
    'setPartition without a partition': [
      { intent: { id: 'a', holder: 'b', step: 'setPartition' } },
      /must name the partition/,
    ],
    'a hold without a rule': [{ hold: { message: 'why' } }, /status\.hold\.rule: Required/],
    'a condition without a reason': [
      { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: at, message: '' }] },
      /reason: Required/,
    ],
    'two conditions of one type': [{ conditions: [condition('Stalled'), condition('Stalled')] }, /Duplicate value/],
    'a time that is none': [{ hold: { rule: 'Paused', since: 'now' } }, /status\.hold\.since/],
  };
  for (const [what, [status, reason]] of Object.entries(refusedStatuses)) {
    it(`refuse a status with ${what}`, async () => {
      await kubectl('delete', 'mro', 'status', '--ignore-not-found');
      await create(rollout('status'));
      expect(await problem(putStatus('status', status))).to.match(reason);
    });
  }

  it('take intents that name what they are about', async () => {
    await create(rollout('intents'));
    for (const intent of [
      { id: 'a', holder: 'b', step: 'setPartition', partition: 0 },
      { id: 'a', holder: 'b', step: 'promoteRevision' },
      { id: 'a', holder: 'b', step: 'undemote', pods: [{ name: 'p', uid: 'u' }] },
    ]) {
      expect(await putStatus('intents', { intent })).to.deep.equal({ intent });
    }
  });

  it('keep spec and status apart', async () => {
    await create({ ...rollout('apart'), spec: { paused: true }, status: { phase: 'Complete' } });
    expect(await read('apart')).to.not.have.property('status');
    await putStatus('apart', { phase: 'Complete' });
    const object = await read('apart');
    expect(object).to.deep.include({ spec: { paused: true }, status: { phase: 'Complete' } });
    expect(object.metadata.generation).to.equal(1);
  });

  function kubectl(...flags: readonly string[]): Promise<string> {
    return controlPlane().kubectl('--namespace', namespace, ...flags);
  }

  async function create(object: object): Promise<string> {
    return kubectl('create', '--validate=strict', '-f', await fileOf(object));
  }

  async function read(name: string): Promise<MySQLRollout> {
    return JSON.parse(await kubectl('get', 'mro', name, '-o', 'json'));
  }

  async function putStatus(name: string, status: object): Promise<RolloutStatus | undefined> {
    const file = await fileOf({ ...(await read(name)), status });
    const replaced = await kubectl('replace', '--subresource=status', '-f', file, '-o', 'json');
    return (JSON.parse(replaced) as MySQLRollout).status;
  }

  async function fileOf(object: object): Promise<string> {
    const file = join(controlPlane().directory, `${namespace}.json`);
    await writeFile(file, JSON.stringify(object));
    return file;
  }
});

function rollout(name: string): object {
  return { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRollout', metadata: { name } };
}

function condition(type: string) {
  return {
    type,
    status: 'True',
    lastTransitionTime: at,
    reason: 'UpToDate',
    message: '',
    observedGeneration: 1,
  } as const;
}

async function problem(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).to.be.instanceOf(Error);
  return (thrown as Error).message;
}

/** Every field that the controller may write; a field that is missing in the schema would be pruned. */
const wholeStatus: Required<RolloutStatus> = {
  observedGeneration: 1,
  observedClusterGeneration: 2,
  phase: 'Progressing',
  strategy: 'OnDelete',
  updateRevision: 'moco-test-7966559688',
  currentRevision: 'moco-test-5897fd84f8',
  replicas: 3,
  updatedReplicas: 2,
  participatingReplicas: 3,
  readyReplicas: 3,
  currentReplicas: 1,
  primary: 0,
  hold: { rule: 'AwaitingSwitchover', message: 'MOCO was asked to move the primary.', since: at },
  members: {
    '0': {
      role: 'primary',
      revision: 'moco-test-5897fd84f8',
      updated: false,
      state: 'participating',
      verdict: 'Next',
      rule: 'AwaitingSwitchover',
      message: 'once another member is primary',
    },
    '2': { role: 'replica', updated: true, state: 'participating', verdict: 'Updated', updatedAt: at },
  },
  intent: {
    id: 'a1',
    holder: 'moco-rollout-controller-x',
    step: 'demote',
    rule: 'PrimaryLast',
    revision: 'moco-test-7966559688',
    at,
    pods: [{ name: 'moco-test-0', uid: 'd1f5', resourceVersion: '123' }],
  },
  lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: ['moco-test-1'], at, result: 'done' },
  rollout: {
    revision: 'moco-test-7966559688',
    startedAt: at,
    lastProgressAt: at,
    proven: true,
    takenDown: [1, 2],
    disruptions: 2,
    switchovers: 0,
    tries: { count: 1, lastEndedAt: at, askedAt: at, pod: { name: 'moco-test-0', uid: 'd1f5' } },
    memberSeconds: { '1': 38, '2': 41.5 },
  },
  recentRevisions: [{ revision: 'moco-test-7966559688', firstSeenAt: at }],
  lastCompleted: {
    revision: 'moco-test-5897fd84f8',
    startedAt: at,
    finishedAt: at,
    disruptions: 3,
    switchovers: 1,
    outcome: 'Complete',
  },
  history: [
    {
      revision: 'moco-test-5897fd84f8',
      startedAt: at,
      finishedAt: at,
      disruptions: 3,
      switchovers: 1,
      outcome: 'Complete',
      changes: [
        { path: 'spec.containers[mysqld].image', from: 'mysql:8.4.1', to: 'mysql:8.4.2' },
        { path: 'spec.containers[agent].env[TOKEN].value' },
      ],
    },
  ],
  effectivePolicy: {
    minReadySeconds: { value: '5', source: 'default' },
    strategy: { value: 'OnDelete', source: 'MySQLRolloutPolicy/production' },
  },
  handedBack: { generation: 3, at, from: 'moco-rollout hand-back', revision: 'moco-test-7966559688' },
  conditions: [condition('Reconciling'), condition('Stalled'), condition('Complete')],
};
