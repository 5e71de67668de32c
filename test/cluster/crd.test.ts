import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type MySQLRollout, rolloutSpec } from '../../src/api/rollout.ts';
import { projectPolicy } from '../../src/api/rollout-policy.ts';
import { sequenceSpec } from '../../src/api/rollout-sequence.ts';
import type { Intent, RolloutProgress, RolloutStatus } from '../../src/api/rollout-status.ts';
import { problemOf } from '../../src/api/schema.ts';
import { builtInStrategy } from '../../src/api/settings.ts';
import { settingsOf } from '../../src/controller/facts/settings-in-force.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { refusedSettings } from '../api/refused-settings.ts';
import { readOne } from '../config/manifests.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

const testDeadlineMilliseconds = 90_000;
const at = '2026-01-02T03:04:05Z';

const override = (rule: string, until = at) => ({ rule, until, reason: 'the backup of tonight may be lost' });

const maintenanceWindow = (fields: Readonly<Record<string, string | number>>) => ({
  schedule: '0 1 * * TUE-THU',
  duration: '4h',
  ...fields,
});
const blackout = (until: string) => ({ from: '2026-12-20T00:00:00+09:00', until, reason: 'end of the year' });

/** Every field that the controller may write; a field that is missing in the schema would be pruned. */
const wholeStatus: Required<RolloutStatus> & { rollout: Required<RolloutProgress>; intent: Required<Intent> } = {
  observedGeneration: 1,
  observedClusterGeneration: 2,
  phase: 'Progressing',
  strategy: 'OnDelete',
  openWrites: { count: 2, since: '2026-01-02T03:04:05Z' },
  mysqlProblem: 'the controller may not read the Secret default/moco-test',
  preflight: {
    revision: 'moco-test-7966559688',
    nodes: [{ name: 'node-1', since: at, at, result: 'ImageUnavailable', message: 'not found', trying: true }],
  },
  updateRevision: 'moco-test-7966559688',
  currentRevision: 'moco-test-5897fd84f8',
  replicas: 3,
  updatedReplicas: 2,
  participatingReplicas: 3,
  readyReplicas: 3,
  currentReplicas: 1,
  primary: 0,
  hold: { rule: 'AwaitingSwitchover', message: 'MOCO was asked to move the primary.', since: at, opensAt: at },
  members: [
    {
      ordinal: 0,
      role: 'primary',
      revision: 'moco-test-5897fd84f8',
      updated: false,
      state: 'participating',
      verdict: 'Next',
      rule: 'AwaitingSwitchover',
      message: 'once another member is primary',
    },
    {
      ordinal: 2,
      role: 'replica',
      updated: true,
      state: 'participating',
      verdict: 'Updated',
      updatedAt: at,
      replication: { notReceived: 9, notApplied: 0 },
    },
  ],
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
    effects: ['risks', 'movesPrimary'],
  },
  lastStep: {
    step: 'evict',
    rule: 'ReplicaHealthy',
    pods: ['moco-test-1'],
    at,
    result: 'done',
    effects: ['stops', 'reduces'],
  },
  updatesInPlace: true,
  completeSince: at,
  rollout: {
    revision: 'moco-test-7966559688',
    startedAt: at,
    verifiedAt: '2026-07-01T12:02:00Z',
    lastProgressAt: at,
    begunAt: at,
    failing: { ordinal: 2, message: 'container mysqld waits: CrashLoopBackOff' },
    verified: true,
    takenDown: [1, 2],
    disruptions: 2,
    switchovers: 0,
    tries: { count: 1, lastEndedAt: at, askedAt: at, pod: { name: 'moco-test-0', uid: 'd1f5' } },
    waiting: [0],
    updatedOutOfBand: [2],
    updatedInPlace: [0, 1],
    resizedInPlace: [0],
    primaryInPlace: [0],
    mysqldRestarted: [1],
    createdWhileHeld: [{ ordinal: 2, started: true }],
    unavailableMembers: [{ ordinal: 1, since: at, uid: 'u', restores: true }],
    memberDurations: [{ ordinal: 2, seconds: 41 }],
    switchoverSeconds: 3,
    heldFor: [{ rule: 'BackupRunning', seconds: 600 }],
    from: 'moco-test-5897fd84f8',
    changes: [{ path: 'spec.containers[mysqld].image', from: 'mysql:8.4.1', to: 'mysql:8.4.2' }],
  },
  history: [
    {
      revision: 'moco-test-5897fd84f8',
      startedAt: at,
      finishedAt: at,
      disruptions: 3,
      switchovers: 1,
      outcome: 'Complete',
      memberDurations: [{ ordinal: 0, seconds: 20 }],
      switchoverSeconds: 4,
      heldFor: [{ rule: 'AwaitingApproval', seconds: 3600 }],
      updatedOutOfBand: [1],
      updatedInPlace: [0],
      resizedInPlace: [0],
      primaryInPlace: [0],
      mysqldRestarted: [0],
      from: 'moco-test-6c8d9f7b5d',
      changes: [
        { path: 'spec.containers[mysqld].image', from: 'mysql:8.4.1', to: 'mysql:8.4.2' },
        { path: 'spec.containers[agent].env[TOKEN].value' },
      ],
    },
  ],
  settings: {
    minReadySeconds: { value: 5, source: 'default' },
    strategy: { value: 'OnDelete', source: 'MySQLRolloutPolicy/production' },
    maxUnavailable: { value: '34%', source: 'MySQLRollout' },
    lostMembers: { value: 'KeepRevision', source: 'MySQLRolloutPolicy/production', enforced: true },
    restore: { value: { revision: 'moco-test-7966559688', members: [1, 2] }, source: 'MySQLRollout' },
    overrides: { value: [{ rule: 'BackupRunning', until: at }], source: 'MySQLRollout' },
    maintenanceWindows: { value: [maintenanceWindow({})], source: 'MySQLRollout' },
    blackouts: { value: [blackout('2027-01-04T00:00:00Z')], source: 'MySQLRollout' },
    checks: { value: [{ name: 'errant' }], source: 'MySQLRolloutPolicy/production', enforced: true },
    inPlace: {
      value: { mode: 'Only', containers: ['agent'], metadata: [], primary: 'InPlace' },
      source: 'MySQLRollout',
    },
  },
  promotion: { from: 'moco-test-5897fd84f8', to: 'moco-test-7966559688' },
  conditions: [condition('Reconciling'), condition('Stalled'), condition('Ready')],
};

describe('the API server and MySQLRollout', function () {
  this.timeout(testDeadlineMilliseconds);
  const controlPlane = useControlPlane();
  let namespace: string;

  before(async () => {
    namespace = await freshNamespace(controlPlane(), 'crd');
  });

  for (const plural of ['mysqlrollouts', 'mysqlrolloutpolicies', 'mysqlrolloutsequences']) {
    it(`find the schema of ${plural} structural`, async () => {
      const definition = JSON.parse(await kubectl('get', 'crd', `${plural}.moco-rollout.io`, '-o', 'json'));
      const conditions = definition.status.conditions as { type: string; status: string }[];
      const holding = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
      expect(holding).to.have.members(['NamesAccepted', 'Established']);
    });
  }

  it('accept a MySQLRollout without a spec, as the controller creates it, and the samples', async () => {
    expect(await create(rollout('bare'))).to.contain('bare created');
    const sample = await readOne('MySQLRollout', 'samples');
    expect(await create({ ...rollout(sample.metadata.name), spec: sample['spec'] })).to.contain('test created');
    const policySample = await readOne('MySQLRolloutPolicy', 'samples');
    expect(await tryOut(policy(policySample['spec'] as object))).to.contain('created');
  });

  it('know a policy by its short name, without a namespace, and show its columns', async () => {
    await create(
      policy({ priority: 7, settings: { strategy: 'Partition', paused: true }, enforced: { paused: true } }),
    );
    const shown = await controlPlane().kubectl('get', 'mrop', 'some');
    await kubectl('delete', 'mrop', 'some');
    const [head, row] = shown.split('\n').map((line) => line.trim().split(/\s+/));
    expect(head).to.deep.equal([
      'NAME',
      'PRIORITY',
      'STRATEGY',
      'ENFORCED-PAUSED',
      'CLUSTERS',
      'MEMBERS',
      'READABLE',
      'AGE',
    ]);
    expect(row?.slice(0, 4)).to.deep.equal(['some', '7', 'Partition', 'true']);
  });

  it('know a MySQLRollout by its short name and show its columns', async () => {
    await create(rollout('columns'));
    const shown = await kubectl('get', 'mro', 'columns');
    expect(shown.split('\n')[0]?.trim().split(/\s+/)).to.deep.equal([
      'NAME',
      'PHASE',
      'STRATEGY',
      'UPDATED',
      'REPLICAS',
      'PRIMARY',
      'HOLD',
      'AGE',
    ]);
  });

  it('explain every field', async () => {
    // kubectl wraps lines at a width of its own.
    const explained = async (field: string): Promise<string> =>
      (await kubectl('explain', field)).replaceAll(/\s+/g, ' ');
    expect(await explained('mysqlrollout.spec.partition'))
      .to.contain('keep their revision')
      .and.to.contain('Defaults to 0');
    expect(await explained('mysqlrollout.spec.overrides.until')).to.contain('in force again');
    expect(await explained('mysqlrolloutpolicy.spec.selector')).to.contain('by their labels');
  });

  const taken: Readonly<Record<string, readonly unknown[]>> = {
    maxUnavailable: [1, 1000, '1%', '9%', '10%', '99%', '100%'],
    lostMembers: ['UpdateOnceVerified', 'KeepRevision'],
    restore: [
      { revision: 'moco-test-7966559688', members: [0] },
      { revision: 'r', members: [999, 1] },
    ],
    overrides: [[], [override('BackupRunning'), override('RevisionFlapping', '2026-01-02T03:04:05.678+09:00')]],
    maintenanceWindows: [
      [],
      [maintenanceWindow({ timeZone: 'Asia/Tokyo' }), maintenanceWindow({ schedule: '30 1,13 1-7 */2 5#2' })],
      ['0 1 31 JAN,feb *', '0 1 31 2 MON', '0 23 L * *', '5 0 15W 1-12/3 ?'].map((schedule) =>
        maintenanceWindow({ schedule }),
      ),
      ['1m', '9999m', '1h30m', 5400].map((duration) => maintenanceWindow({ duration })),
    ],
    checks: [
      [],
      [check({}), check({ name: 'a-2', query: 'up{pod=~"moco-$name-[0-9]+$"}\n== 0' })],
      [check({ query: 'label_replace(up, "a", "${1}-$2", "pod", "(.*)-(.*)")' })],
      Array.from({ length: 16 }, (_, index) => check({ name: `check-${index}`, query: 'x'.repeat(1024) })),
    ],
    blackouts: [[], [blackout('2027-01-04T00:00:00Z'), blackout('2026-12-19T15:00:01Z')]],
    inPlace: [
      { metadata: [] },
      { metadata: ['team', 'example.com/team', 'example.com/*', 'e*', `${'a'.repeat(253)}/${'b'.repeat(63)}`] },
    ],
  };
  for (const [field, values] of Object.entries(taken)) {
    it(`accept what the program accepts as ${field}`, async () => {
      for (const value of values) {
        expect(await tryOut({ ...rollout('taken'), spec: { [field]: value } })).to.be.a('string');
        expect(problemOf(rolloutSpec, { [field]: value }, 'spec')).to.equal(null);
      }
    });
  }

  const refused: readonly (readonly [title: string, spec: object, answer: RegExp])[] = [
    ...refusedSettings.flatMap(({ title, spec, answer }) => (answer ? [[title, spec, answer] as const] : [])),
    [
      'a deadline shorter than minReadySeconds',
      { minReadySeconds: 10, progressDeadlineSeconds: 10 },
      /progressDeadlineSeconds must be more than minReadySeconds/,
    ],
    ['a field that does not exist', { pause: true }, /unknown field "spec\.pause"/],
  ];
  for (const [title, spec, answer] of refused) {
    it(`refuse ${title}`, async () => {
      expect(await problem(tryOut({ ...rollout('refused'), spec }))).to.match(answer);
    });
  }

  const refusedOfMany: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a policy that approves': [
      { settings: { approvedRevision: 'a' } },
      /unknown field "spec\.settings\.approvedRevision"/,
    ],
    'a priority beyond 32 bits': [{ priority: 2 ** 31 }, /spec\.priority/],
    'a deadline before ready in settings': [
      { settings: { minReadySeconds: 10, progressDeadlineSeconds: 10 } },
      /progressDeadlineSeconds must be more than minReadySeconds/,
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
    it(`refuse ${what}, and so does the program`, async () => {
      expect(await problem(tryOut(policy(spec)))).to.match(reason);
      expectUnreadable(reason, spec);
    });
  }

  const sequencesRefused: Readonly<Record<string, readonly [spec: object, reason: RegExp]>> = {
    'a sequence without stages': [{ stages: [] }, /spec\.stages.*at least 1/],
    'two stages of the same name': [
      { stages: [{ name: 'a', selector: {} }, { name: 'a' }] },
      /spec\.stages\[1\].*(Duplicate|different)/,
    ],
    'a stage without a selector before another one': [
      { stages: [{ name: 'a' }, { name: 'b' }] },
      /only the last stage can leave out the selector/,
    ],
    'a name that no stage may have': [{ stages: [{ name: '(others)' }] }, /spec\.stages\[0\]\.name/],
    'a percentage above all of them': [
      { stages: [{ name: 'a', maxConcurrent: '101%' }] },
      /maxConcurrent.*should match/,
    ],
    'no cluster at a time': [{ stages: [{ name: 'a', maxConcurrent: 0 }] }, /maxConcurrent/],
    'a duration in days': [{ stages: [{ name: 'a', soakDuration: '1d' }] }, /soakDuration.*should match/],
    'a negative duration': [
      { settleDuration: -1, stages: [{ name: 'a' }] },
      /settleDuration.*greater than or equal to 0/,
    ],
    'an empty duration': [{ settleDuration: '', stages: [{ name: 'a' }] }, /settleDuration.*(at least 1|should match)/],
  };
  for (const [what, [spec, reason]] of Object.entries(sequencesRefused)) {
    it(`refuse ${what}, and so does the program`, async () => {
      expect(await problem(tryOut(sequence(spec)))).to.match(reason);
      expect(problemOf(sequenceSpec, spec, 'spec')).to.match(/^expected spec\./);
    });
  }

  it('accept every kind of duration and concurrency in a sequence, and the sample', async () => {
    for (const settleDuration of [0, 90, '0s', '1h30m', '720h', 9_999_999]) {
      for (const maxConcurrent of [1, 10_000, '1%', '100%']) {
        const spec = { settleDuration, stages: [{ name: 'a', maxConcurrent, soakDuration: settleDuration }] };
        if (maxConcurrent === 1 || settleDuration === 0) expect(await tryOut(sequence(spec))).to.contain('created');
        expect(problemOf(sequenceSpec, spec, 'spec')).to.equal(null);
      }
    }
    const sample = await readOne('MySQLRolloutSequence', 'samples');
    expect(await tryOut(sequence(sample['spec'] as object))).to.contain('created');
  });

  it('accept selectors with every operator, and positive and negative priorities', async () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['db'] },
      { key: 'tier', operator: 'NotIn', values: ['web'] },
      { key: 'team', operator: 'Exists' },
      { key: 'example.com/scratch', operator: 'DoesNotExist', values: [] },
    ];
    const selector = { matchLabels: { app: 'mysql' }, matchExpressions };
    for (const priority of [-(2 ** 31), 0, 2 ** 31 - 1]) {
      expect(await tryOut(policy({ priority, selector, namespaceSelector: selector }))).to.contain('created');
    }
    expect(await tryOut(policy({ selector: {}, namespaceSelector: {} }))).to.contain('created');
  });

  it('keep every field of a written status', async () => {
    await create(rollout('whole'));
    expect(await putStatus('whole', wholeStatus)).to.deep.equal(wholeStatus);
  });

  const { statefulSet: _, partition: __, ...evict } = wholeStatus.intent;
  const refusedStatuses: Readonly<Record<string, readonly [status: object, reason: RegExp]>> = {
    'a member twice': [{ members: [wholeStatus.members[0], wholeStatus.members[0]] }, /Duplicate value/],
    'an eviction without a pod': [{ intent: { ...evict, step: 'evict', pods: [] } }, /must name its pods/],
    'setPartition without a StatefulSet': [
      { intent: { ...evict, step: 'setPartition', partition: 1 } },
      /must name the partition/,
    ],
    'two conditions of one type': [{ conditions: [condition('Stalled'), condition('Stalled')] }, /Duplicate value/],
    'a rule that does not exist': [{ hold: { rule: 'Pausing', message: '', since: at } }, /Unsupported value/],
  };
  for (const [what, [status, reason]] of Object.entries(refusedStatuses)) {
    it(`refuse a status with ${what}`, async () => {
      await kubectl('delete', 'mro', 'status', '--ignore-not-found');
      await create(rollout('status'));
      expect(await problem(putStatus('status', status))).to.match(reason);
    });
  }

  it('refuse an unknown field only with fieldValidation=Strict, and name it', async () => {
    await create(rollout('strict'));
    const object = { ...(await read('strict')), status: { phase: 'Paused', intent: { ...evict, later: 1 }, later: 1 } };
    const put = async (query: string) => {
      const path = `/apis/moco-rollout.io/v1alpha1/namespaces/${namespace}/mysqlrollouts/strict/status${query}`;
      return kubectl('replace', `--raw=${path}`, '-f', await fileOf(object));
    };
    expect(await problem(put('?fieldValidation=Strict'))).to.contain(
      'strict decoding error: unknown field "status.intent.later", unknown field "status.later"',
    );
    expect((await read('strict')).status).to.equal(undefined);
    await put('');
    expect((await read('strict')).status).to.deep.equal({ phase: 'Paused', intent: evict });
  });

  it('keep spec and status apart', async () => {
    await create({ ...rollout('apart'), spec: { paused: true }, status: { phase: 'Complete' } });
    expect(await read('apart')).to.not.have.property('status');
    await putStatus('apart', { phase: 'Complete' });
    const object = await read('apart');
    expect(object).to.deep.include({ spec: { paused: true }, status: { phase: 'Complete' } });
    expect(object.metadata.generation).to.equal(1);
  });

  it('keep everything but the status in a PUT of the status that omits the rest', async () => {
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

function sequence(spec: object): object {
  return { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRolloutSequence', metadata: { name: 'some' }, spec };
}

function check(more: object): object {
  return { name: 'errant', query: 'errant{namespace="$namespace", name="$name"} > 0', ...more };
}

function policy(spec: object): object {
  return { apiVersion: 'moco-rollout.io/v1alpha1', kind: 'MySQLRolloutPolicy', metadata: { name: 'some' }, spec };
}

/**
 * What the schema refuses the program refuses as well, should it come all the same, but for fields that there are not:
 * those would have been left out.
 */
function expectUnreadable(reason: RegExp, many: object): void {
  if (reason.source.startsWith('unknown field')) return;
  // A policy that decides no field holds nobody.
  const spec = { settings: { paused: false }, ...many };
  const record = projectPolicy({ metadata: { name: 'some' }, spec });
  const cluster = { namespace: 'default', labels: {}, namespaceLabels: {} };
  const defaults = { policy: defaultPolicy, strategy: builtInStrategy };
  const { problem } = settingsOf({ rollout: {}, policies: [record], cluster }, defaults, 0);
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
