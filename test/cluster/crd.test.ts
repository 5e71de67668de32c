import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  Intent,
  MySQLRollout,
  RolloutProgress,
  RolloutSpec,
  RolloutStatus,
} from '../../src/controller/rollout-resource.ts';
import { checkRollout } from '../../src/controller/wishes/checks.ts';
import { builtInStrategy, wishesOf } from '../../src/controller/wishes.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { readOne } from '../config/manifests.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const testDeadlineMilliseconds = 90_000;
const at = '2026-01-02T03:04:05Z';
const ofOneCluster: readonly string[] = ['approvedRevision', 'heldMembers', 'overrides'];

const held = (ordinal: number) => ({ ordinal, reason: 'a debugger is attached' });
const override = (rule: string, until = at) => ({ rule, until, reason: 'the backup of tonight may be lost' });

describe('the API server and MySQLRollout', function () {
  this.timeout(testDeadlineMilliseconds);
  const controlPlane = useControlPlane();
  let namespace: string;

  before(async () => {
    namespace = await freshNamespace(controlPlane(), 'crd');
  });

  for (const plural of ['mysqlrollouts', 'mysqlrolloutpolicies']) {
    it(`finds nothing in the schema of ${plural} that isn’t structural`, async () => {
      const definition = JSON.parse(await kubectl('get', 'crd', `${plural}.moco-rollout.io`, '-o', 'json'));
      const conditions = definition.status.conditions as { type: string; status: string }[];
      const holding = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
      expect(holding).to.have.members(['NamesAccepted', 'Established']);
    });
  }

  it('take one without a spec, as the controller makes it, and the samples', async () => {
    expect(await create(rollout('bare'))).to.contain('bare created');
    const sample = await readOne('MySQLRollout', 'samples');
    expect(await create({ ...rollout(sample.metadata.name), spec: sample['spec'] })).to.contain('test created');
    const policySample = await readOne('MySQLRolloutPolicy', 'samples');
    expect(await tryOut(policy(policySample['spec'] as object))).to.contain('created');
  });

  it('know a policy by its short name, in no namespace, and show its columns', async () => {
    await create(policy({ weight: 7, strategy: 'Partition', paused: true }));
    const shown = await controlPlane().kubectl('get', 'mrop', 'some');
    await kubectl('delete', 'mrop', 'some');
    const [head, row] = shown.split('\n').map((line) => line.trim().split(/\s+/));
    expect(head).to.deep.equal(['NAME', 'WEIGHT', 'STRATEGY', 'PAUSED', 'AGE']);
    expect(row?.slice(0, -1)).to.deep.equal(['some', '7', 'Partition', 'true']);
  });

  it('know it by its short name and show its columns', async () => {
    await create(rollout('columns'));
    const shown = await kubectl('get', 'mro', 'columns');
    expect(shown.split('\n')[0]?.trim().split(/\s+/)).to.deep.equal([
      'NAME',
      'PHASE',
      'STRATEGY',
      'UPDATED',
      'REPLICAS',
      'PARTICIPATING',
      'PRIMARY',
      'HOLD',
      'SINCE',
      'AGE',
    ]);
  });

  it('explain every field', async () => {
    expect(await kubectl('explain', 'mysqlrollout.spec.partition')).to.contain('keep their revision');
    expect(await kubectl('explain', 'mysqlrollout.spec.overrides.until')).to.contain('on again');
    expect(await kubectl('explain', 'mysqlrolloutpolicy.spec.selector')).to.contain('admission policies');
  });

  const taken: Readonly<Record<keyof RolloutSpec, readonly unknown[]>> = {
    strategy: ['OnDelete', 'Partition'],
    paused: [true, false],
    repairWhilePaused: [true, false],
    maxUnavailable: [1, 1000, '1%', '9%', '10%', '99%', '100%'],
    partition: [0, 2 ** 31 - 1],
    minReadySeconds: [0, 3600],
    progressDeadlineSeconds: [1, 86_400],
    switchoverTimeoutSeconds: [1, 3600],
    failoverGraceSeconds: [60, 3600],
    primaryUpdatePolicy: ['Automatic', 'Manual'],
    approvedRevision: ['moco-test-7966559688'],
    heldMembers: [[], [held(0), held(999)]],
    overrides: [[], [override('BackupRunning'), override('RevisionFlapping', '2026-01-02T03:04:05.678+09:00')]],
  };
  for (const [field, values] of Object.entries(taken)) {
    it(`take each ${field} that there is a meaning for`, async () => {
      for (const value of values) {
        expect(await tryOut({ ...rollout('taken'), spec: { [field]: value } })).to.be.a('string');
        expect(checkRollout({ [field]: value }, 'spec'), 'what the program makes of it').to.equal(null);
      }
      if (ofOneCluster.includes(field)) return;
      for (const value of values) expect(await tryOut(policy({ [field]: value }))).to.be.a('string');
    });
  }

  const refused: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a strategy that there is not': [{ strategy: 'RollingUpdate' }, /spec\.strategy: Unsupported value/],
    'a partition below zero': [{ partition: -1 }, /spec\.partition.*greater than or equal to 0/],
    'a partition that is no number': [{ partition: '1' }, /spec\.partition.*must be of type integer/],
    'a partition beyond 32 bits': [{ partition: 2 ** 31 }, /spec\.partition/],
    'minReadySeconds above an hour': [{ minReadySeconds: 3601 }, /spec\.minReadySeconds.*less than or equal to 3600/],
    'paused as a text': [{ paused: 'yes' }, /spec\.paused.*must be of type boolean/],
    'repairWhilePaused as a number': [{ repairWhilePaused: 1 }, /spec\.repairWhilePaused.*must be of type boolean/],
    'no member that may be away': [{ maxUnavailable: 0 }, /spec\.maxUnavailable.*from 1 to 1000/],
    'no per cent that may be away': [{ maxUnavailable: '0%' }, /spec\.maxUnavailable.*from 1 to 1000/],
    'more than all of them': [{ maxUnavailable: '101%' }, /spec\.maxUnavailable.*"100%"/],
    'a number as a text': [{ maxUnavailable: '2' }, /spec\.maxUnavailable.*from 1 to 1000/],
    'half a member': [{ maxUnavailable: 1.5 }, /spec\.maxUnavailable/],
    'no time to make progress': [{ progressDeadlineSeconds: 0 }, /spec\.progressDeadlineSeconds.*equal to 1/],
    'no time for a switchover': [{ switchoverTimeoutSeconds: 0 }, /spec\.switchoverTimeoutSeconds.*equal to 1/],
    'less time for a failover than MOCO needs': [
      { failoverGraceSeconds: 59 },
      /spec\.failoverGraceSeconds.*greater than or equal to 60/,
    ],
    'another way with the primary': [{ primaryUpdatePolicy: 'Never' }, /spec\.primaryUpdatePolicy: Unsupported value/],
    'a deadline that comes before a member may count as ready': [
      { minReadySeconds: 10, progressDeadlineSeconds: 10 },
      /progressDeadlineSeconds must be more than minReadySeconds/,
    ],
    'a field that there is not': [{ pause: true }, /unknown field "spec\.pause"/],
  };
  for (const [what, [spec, reason]] of Object.entries(refused)) {
    it(`refuse ${what}`, async () => {
      expect(await problem(tryOut({ ...rollout('refused'), spec }))).to.match(reason);
      expect(await problem(tryOut(policy(spec)))).to.match(reason);
      expectUnreadable(reason, spec, {});
      expectUnreadable(reason, {}, spec);
    });
  }

  const refusedOfOne: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'an approval of nothing': [{ approvedRevision: '' }, /spec\.approvedRevision.*at least 1/],
    'a held member without a reason': [{ heldMembers: [{ ordinal: 1 }] }, /heldMembers\[0\]\.reason: Required/],
    'a held member with an empty reason': [{ heldMembers: [{ ordinal: 1, reason: '' }] }, /reason.*at least 1/],
    'a held member that there can’t be': [{ heldMembers: [held(-1)] }, /heldMembers\[0\]\.ordinal/],
    'a member that is held twice': [{ heldMembers: [held(1), held(1)] }, /heldMembers\[1\]: Duplicate value/],
    'an override of a rule that guards the data': [
      { overrides: [override('NotEnoughAcknowledging')] },
      /overrides\[0\]\.rule: Unsupported value/,
    ],
    'an override without an end': [
      { overrides: [{ rule: 'BackupRunning', reason: 'tonight' }] },
      /overrides\[0\]\.until: Required/,
    ],
    'an override until a moment that is none': [
      { overrides: [override('BackupRunning', 'tomorrow')] },
      /overrides\[0\]\.until.*date-time/,
    ],
    'an override without a reason': [{ overrides: [{ rule: 'BackupRunning', until: at }] }, /reason: Required/],
    'two overrides of one rule': [
      { overrides: [override('BackupRunning'), override('BackupRunning')] },
      /overrides\[1\]: Duplicate value/,
    ],
  };
  for (const [what, [spec, reason]] of Object.entries(refusedOfOne)) {
    it(`refuse ${what}`, async () => {
      expect(await problem(tryOut({ ...rollout('refused'), spec }))).to.match(reason);
      expectUnreadable(reason, spec, {});
    });
  }

  const refusedOfMany: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a policy that approves': [{ approvedRevision: 'a' }, /unknown field "spec\.approvedRevision"/],
    'a policy that holds members': [{ heldMembers: [held(1)] }, /unknown field "spec\.heldMembers"/],
    'a policy that overrides': [{ overrides: [override('BackupRunning')] }, /unknown field "spec\.overrides"/],
    'a weight beyond 32 bits': [{ weight: 2 ** 31 }, /spec\.weight/],
    'a weight as a text': [{ weight: 'heavy' }, /spec\.weight.*must be of type integer/],
    'a label that is no text': [
      { selector: { matchLabels: { tier: 1 } } },
      /matchLabels\.tier.*must be of type string/,
    ],
    'an operator that there is not': [
      { namespaceSelector: { matchExpressions: [{ key: 'tier', operator: 'Like', values: ['d'] }] } },
      /matchExpressions\[0\]\.operator: Unsupported value/,
    ],
    'In without a value': [
      { selector: { matchExpressions: [{ key: 'tier', operator: 'In' }] } },
      /In and NotIn need at least one value/,
    ],
    'Exists with a value': [
      { selector: { matchExpressions: [{ key: 'tier', operator: 'Exists', values: ['db'] }] } },
      /Exists and DoesNotExist take none/,
    ],
  };
  for (const [what, [spec, reason]] of Object.entries(refusedOfMany)) {
    it(`refuse ${what}`, async () => {
      expect(await problem(tryOut(policy(spec)))).to.match(reason);
      expectUnreadable(reason, {}, spec);
    });
  }

  it('take selectors of every operator, and weights of either sign', async () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['db'] },
      { key: 'tier', operator: 'NotIn', values: ['web'] },
      { key: 'team', operator: 'Exists' },
      { key: 'example.com/scratch', operator: 'DoesNotExist', values: [] },
    ];
    const selector = { matchLabels: { app: 'mysql' }, matchExpressions };
    for (const weight of [-(2 ** 31), 0, 2 ** 31 - 1]) {
      expect(await tryOut(policy({ weight, selector, namespaceSelector: selector }))).to.contain('created');
    }
    expect(await tryOut(policy({ selector: {}, namespaceSelector: {} }))).to.contain('created');
  });

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
    'setPartition without a StatefulSet': [
      { intent: { id: 'a', holder: 'b', step: 'setPartition', partition: 1 } },
      /must name the partition/,
    ],
    'setPartition without a partition': [
      { intent: { id: 'a', holder: 'b', step: 'setPartition', statefulSet: { name: 's', uid: 'u' } } },
      /must name the partition/,
    ],
    'a hold without a rule': [{ hold: { message: 'why' } }, /status\.hold\.rule: Required/],
    'a condition without a reason': [
      { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: at, message: '' }] },
      /reason: Required/,
    ],
    'two conditions of one type': [{ conditions: [condition('Stalled'), condition('Stalled')] }, /Duplicate value/],
    'a value in force without its source': [{ effectivePolicy: { paused: { value: 'true' } } }, /source: Required/],
    'a cluster handed back at no generation': [{ handedBack: { at } }, /handedBack\.generation: Required/],
    'more history than it keeps': [{ history: Array.from({ length: 11 }, () => ({ revision: 'r' })) }, /at most 10/],
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
      { id: 'a', holder: 'b', step: 'setPartition', partition: 0, statefulSet: { name: 's', uid: 'u' } },
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

  it('keep everything but the status by a PUT of the status without it, such as labels and annotations', async () => {
    const { apiVersion, kind, metadata } = rollout('annotated') as MySQLRollout;
    const more = { labels: { team: 'a' }, annotations: { note: 'b' }, finalizers: ['example.com/keep'] };
    await create({ ...rollout('annotated'), metadata: { ...metadata, ...more }, spec: { paused: true } });
    const before = await read('annotated');
    const { name, namespace: place, uid, resourceVersion } = before.metadata;
    const slim = { apiVersion, kind, metadata: { name, namespace: place, uid, resourceVersion } };
    const file = await fileOf({ ...slim, status: { phase: 'Complete' } });
    await kubectl('replace', '--subresource=status', '-f', file);
    const after = await read('annotated');
    expect(after.status).to.deep.equal({ phase: 'Complete' });
    expect(after.spec).to.deep.equal({ paused: true });
    expect(after.metadata).to.deep.include(more);
    expect(after.metadata.generation).to.equal(before.metadata.generation);
    await kubectl('patch', 'mro', 'annotated', '--type=merge', '-p', '{"metadata":{"finalizers":null}}');
  });

  function kubectl(...flags: readonly string[]): Promise<string> {
    return controlPlane().kubectl('--namespace', namespace, ...flags);
  }

  async function create(object: object): Promise<string> {
    return kubectl('create', '--validate=strict', '-f', await fileOf(object));
  }

  /** Everything that a creation does but the object. */
  async function tryOut(object: object): Promise<string> {
    return kubectl('create', '--dry-run=server', '--validate=strict', '-f', await fileOf(object));
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

function policy(spec: object): object {
  return {
    apiVersion: 'moco-rollout.io/v1alpha1',
    kind: 'MySQLRolloutPolicy',
    metadata: { name: 'some' },
    spec,
  };
}

/**
 * What the schema refuses the program refuses as well, should it come all the same, but for fields that there are not:
 * those would have been left out.
 */
function expectUnreadable(reason: RegExp, own: object, many: object): void {
  if (reason.source.startsWith('unknown field')) return;
  const record = { namespace: '', name: 'some', uid: 'u', resourceVersion: '1', generation: 1, spec: many };
  const cluster = { namespace: 'default', labels: {}, namespaceLabels: {} };
  const defaults = { policy: defaultPolicy, strategy: builtInStrategy };
  const { problem } = wishesOf({ rollout: own, policies: [record], cluster }, defaults, 0);
  expect(problem, 'what the program makes of it').to.match(/^(MySQLRolloutPolicy\/some: )?expected /);
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
const wholeStatus: Required<RolloutStatus> & { rollout: Required<RolloutProgress>; intent: Required<Intent> } = {
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
    partition: 1,
    statefulSet: { name: 'moco-test', uid: 'e2a6', resourceVersion: '122' },
  },
  lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: ['moco-test-1'], at, result: 'done' },
  rollout: {
    revision: 'moco-test-7966559688',
    startedAt: at,
    lastProgressAt: at,
    begunAt: at,
    proven: true,
    takenDown: [1, 2],
    disruptions: 2,
    switchovers: 0,
    tries: { count: 1, lastEndedAt: at, askedAt: at, pod: { name: 'moco-test-0', uid: 'd1f5' } },
    waiting: [0],
    updatedOutOfTurn: [2],
    takenAt: { '1': at },
    memberSeconds: { '1': 38, '2': 41.5 },
    from: 'moco-test-5897fd84f8',
    changes: [{ path: 'spec.containers[mysqld].image', from: 'mysql:8.4.1', to: 'mysql:8.4.2' }],
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
      memberSeconds: { '0': 20, '2': 41.5 },
      updatedOutOfTurn: [1],
      from: 'moco-test-6c8d9f7b5d',
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
  promotion: { from: 'moco-test-5897fd84f8', to: 'moco-test-7966559688' },
  conditions: [condition('Reconciling'), condition('Stalled'), condition('Complete')],
};
