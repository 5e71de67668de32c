import * as fc from 'fast-check';
import type { InPlaceSettings } from '../../src/core/in-place-changes.ts';
import type { MocoState } from '../../src/core/moco-state.ts';
import type {
  CheckFacts,
  CheckReading,
  DelayReading,
  MemberAnswer,
  MocoLease,
  MysqlReading,
  Preflight,
} from '../../src/core/on-demand-facts.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import { holdRules } from '../../src/core/rules/catalogue.ts';
import type {
  BudgetFacts,
  ClusterSnapshot,
  MaintenanceFacts,
  RolloutMemory,
  StatefulSetFacts,
  TakenPod,
} from '../../src/core/snapshot.ts';
import { markOfLeavingNode } from '../../src/core/step.ts';
import { appeared, cluster, moment } from './cluster-builder.ts';
import { drawnReplicaVersion, drawnVersions } from './judged-versions.ts';
import {
  dataRecord,
  type MemberBuilder,
  member,
  reasonsOfOtherNodes,
  resourcesOf,
  revisionAfter,
  revisionBefore,
} from './member-builder.ts';
import { caughtUp, type MysqlDraft, openWrite } from './mysql-readings.ts';
import { undisturbed } from './undisturbed.ts';

type Change = (one: MemberBuilder, seconds: number) => MemberBuilder;

/** What can be wrong with a member; the first is nothing. */
const conditions: readonly Change[] = [
  (one) => one,
  (one) => one.down('CrashLoopBackOff'),
  (one) => one.down('ImagePullBackOff'),
  (one) => one.lagging(),
  (one) => one.starting().clone({ kind: 'notCloning' }),
  (one) => one.crashLooping(),
  (one) => one.agentDead(),
  (one, seconds) => one.creating(seconds),
  (one, seconds) => (seconds % 2 === 0 ? one.unschedulable() : one.findingNoNode()),
  (one, seconds) => one.awaitingNode(reasonsOfOtherNodes[seconds % reasonsOfOtherNodes.length]),
  (one, seconds) => one.preparing(seconds),
  (one) => one.failed(),
  (one) => one.unreachable(),
  (one, seconds) => one.terminating(seconds),
  (one) => one.terminating(3).but({ graceSeconds: 0 }),
  (one) => one.impaired('slow-log'),
  (one, seconds) => one.sidecarNotReady('slow-log', seconds),
  (one) => one.errant(),
  (one) => one.starting().but({ phase: 'Unknown' }),
  (one) => one.creating(0).but({ containers: [] }),
  (one) => one.failed().but({ failedReason: 'OutOfcpu' }),
  (one) => one.failed().but({ failedReason: 'Terminated' }),
  (one) => one.evictedByKubelet(),
  (one) => one.evictedByKubelet(true),
  (one) => one.down('ImagePullBackOff').container('mysqld', { hasRun: true }),
  (one) => one.creating(5).besideSidecar(),
  (one, seconds) => one.unreported(seconds),
  (one) => one.withContainer('mysqld', 'mysql'),
  (one) => one.ofNobody(),
  (one) => one.down('ImagePullBackOff').ofNobody(),
  (one) => one.down('CreateContainerConfigError').container('mysqld', { hasRun: true }),
];

const seconds = fc.constantFrom(0, 1, 4, 5, 59, 60, 89, 90, 179, 180, 299, 300, 310, 599, 600, 2700, 9999);

const notInForce = { mode: 'OnDelete', finding: 'no', tries: 1, sinceSeconds: 3 } as const;
const rarely = <T>(usual: T, ...others: readonly [T, ...T[]]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 30, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

interface Draft {
  readonly stale: boolean;
  readonly condition: number;
  readonly age: number;
  readonly roleOff: boolean;
  readonly demote: keyof typeof demotions;
  readonly preventDelete: boolean;
  readonly recreatable: keyof typeof recreatables;
  readonly inPlace: keyof typeof inPlaceChanges;
  readonly data: keyof typeof datas;
  readonly clone: keyof typeof clones;
}

/** The newest mysqld that has started on the data. */
const datas = {
  'of its pod': (one) => one,
  before: (one) => one.data(revisionBefore),
  after: (one) => one.data(revisionAfter),
  another: (one) => one.data('another'),
  unknown: (one) => one.dataUnknown(),
  'none, without a claim': (one) => one.data({ record: null, claim: 'missing' }),
  'none, without a claim long ago': (one) => one.data({ record: null, claim: 'missing', ageSeconds: 5 }),
  'none, without a volume': (one) => one.data({ record: null, claim: 'unbound' }),
  'none, without a volume long ago': (one) => one.data({ record: null, claim: 'unbound', ageSeconds: 5 }),
  'none, without a volume, but noted': (one) => one.data({ record: dataRecord(revisionAfter), claim: 'unbound' }),
  'of its first pod': (one) => one.data({ record: null, claim: 'madeForPod' }),
  'noted long ago': (one) => one.data({ record: dataRecord(revisionBefore), ageSeconds: 100 }),
  'noted as killed': (one) => one.data({ record: { ...dataRecord(revisionBefore), version: '8.0.28', killed: true } }),
  'noted, and another has started': (one) =>
    one.data({ record: dataRecord(revisionBefore), lastRun: { ...dataRecord(revisionAfter), worked: false } }),
} satisfies Readonly<Record<string, (one: MemberBuilder) => MemberBuilder>>;

const demotions = {
  no: (one) => one,
  ours: (one, age) => one.demotedByUs(age, revisionAfter),
  'ours, for another revision': (one, age) => one.demotedByUs(age, 'another'),
  foreign: (one, age) => one.demotedBySomebody(age),
  mark: (one) => one.markAlone(),
  'ours, for its node': (one, age) => one.onCordonedNode().demotedByUs(age, markOfLeavingNode),
  'ours, for its node, which stays': (one, age) => one.demotedByUs(age, markOfLeavingNode),
} satisfies Readonly<Record<string, Change>>;

const recreatables = {
  fine: (one) => one,
  unread: (one) => one.recreatable(null),
  old: (one) => one.recreatable({ ageSeconds: 60 }),
  terminating: (one) => one.claimEnds('terminating'),
  missing: (one) => one.claimEnds('missing'),
  lost: (one) => one.claimEnds('lost'),
  replaced: (one) => one.claimEnds('replaced'),
  leaves: (one) => one.onCordonedNode(),
  tied: (one) => one.tiedToCordonedNode(),
  unjudged: (one) => one.recreatable({ unjudged: { what: 'tolerations in the pod', most: 64, got: 65 } }),
  refused: (one) => one.recreatable({ refusal: 'exceeded quota' }),
} satisfies Readonly<Record<string, Change>>;

const clones = {
  no: (one) => one,
  yes: (one) => one.clone({ kind: 'cloning' }),
  unfinished: (one) => one.clone({ kind: 'unfinished' }),
  unknown: (one) => one.clone({ kind: 'unknown', message: 'no' }),
  unread: (one) => one.clone(null),
  old: (one) => one.clone({ kind: 'notCloning' }, { ageSeconds: 5 }),
} satisfies Readonly<Record<string, Change>>;

const inPlaceChanges = {
  no: (one) => one,
  nothing: (one) => one.changeable(),
  'slow-log': (one) => one.changeable('slow-log'),
  agent: (one) => one.changeable('agent'),
  'not possible': (one) => one.notChangeable('args differ'),
  'is restarting': (one) => one.restartsInPlace('slow-log'),
  'has restarted': (one, age) => one.restartedInPlace('slow-log', age),
  resize: (one) => one.resizable([resourcesOf('mysqld')]),
  'resize of slow-log': (one) => one.resizable([resourcesOf('slow-log', true)], 'agent'),
  'is resizing': (one, age) => one.resizing({ forSeconds: age }),
  'is resized': (one, age) => one.resizing({ awaited: [], forSeconds: age }, 'slow-log'),
} satisfies Readonly<Record<string, Change>>;

const draft: fc.Arbitrary<Draft> = fc.record({
  stale: fc.boolean(),
  condition: fc.oneof(
    { weight: 2, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.nat({ max: conditions.length - 1 }) },
  ),
  age: seconds,
  roleOff: rarely(false, true),
  demote: rarely<Draft['demote']>(
    'no',
    'ours',
    'ours, for another revision',
    'foreign',
    'mark',
    'ours, for its node',
    'ours, for its node, which stays',
  ),
  preventDelete: rarely(false, true),
  recreatable: rarely<Draft['recreatable']>(
    'fine',
    'unread',
    'old',
    'terminating',
    'missing',
    'lost',
    'replaced',
    'leaves',
    'tied',
    'unjudged',
    'refused',
  ),
  data: fc.oneof(
    { weight: 3, arbitrary: fc.constant('of its pod' as const) },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(datas) as Draft['data'][])) },
  ),
  clone: rarely<Draft['clone']>('no', 'yes', 'unfinished', 'unknown', 'unread', 'old'),
  inPlace: fc.oneof(
    { weight: 2, arbitrary: fc.constant('no' as const) },
    fc.constantFrom(...(Object.keys(inPlaceChanges) as Draft['inPlace'][])),
    // They pass all gates of an eviction, and so are rare.
    fc.constantFrom('agent' as const, 'resize' as const, 'resize of slow-log' as const),
  ),
});

function staged(one: Draft, stage: string, primary: boolean): Draft {
  if (stage === 'anything') return one;
  if (stage === 'nothing is broken') return { ...one, condition: 0 };
  if (stage === 'many are behind' || stage === 'no member serves') {
    const behind = stage === 'no member serves' ? [3, 5, 10] : [0, 3, 5, 10, 12];
    return { ...one, stale: true, roleOff: false, demote: 'no', condition: behind[one.condition % behind.length] ?? 0 };
  }
  if (stage === 'another client has updated members') {
    // Down, and with the data of before: as long as their mysqld has not run, they are given back their revision.
    const condition = one.stale ? 0 : ([2, 7, 21, 27][one.condition % 4] ?? 0);
    return { ...one, roleOff: false, demote: 'no', recreatable: 'fine', condition, data: 'before' };
  }
  const demote = primary && one.age < 90 ? 'ours' : 'no';
  return {
    ...one,
    condition: 0,
    age: primary ? one.age : 600,
    stale: primary,
    demote: one.stale ? demote : one.demote,
  };
}

function built(ordinal: number, given: Draft): MemberBuilder {
  const { stale, condition, age, roleOff, demote, preventDelete, recreatable, inPlace, data, clone } = given;
  let one = stale ? member(ordinal).stale() : member(ordinal).updated();
  one = (conditions[condition] ?? ((same) => same))(one.participatingFor(age), age);
  if (roleOff) one = one.role(null);
  if (preventDelete) one = one.preventDelete();
  const changes: readonly Change[] = [
    recreatables[recreatable],
    inPlaceChanges[inPlace],
    demotions[demote],
    datas[data],
    clones[clone],
  ];
  return changes.reduce((changed, change) => change(changed, age), one);
}

const interval = fc
  .tuple(fc.integer({ min: -500, max: 900 }), fc.integer({ min: 1, max: 600 }))
  .map(([from, length]) => ({ from: moment(from), until: moment(from + length) }))
  .filter(({ until }) => until.inSeconds > 0);

const maintenance: fc.Arbitrary<MaintenanceFacts | null> = fc.option(
  fc.record({
    windows: fc.option(fc.array(interval, { maxLength: 1 })),
    restartWindows: fc.option(fc.array(interval, { maxLength: 1 })),
    blackouts: fc.array(
      interval.map((one) => ({ ...one, reason: 'sales' })),
      { maxLength: 2 },
    ),
    memberSeconds: fc.constantFrom(1, 100),
  }),
  { freq: 4, nil: null },
);

const reading: fc.Arbitrary<CheckReading> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<CheckReading>({ kind: 'passing' }) },
  {
    weight: 1,
    arbitrary: fc
      .record({ labels: fc.dictionary(fc.string(), fc.string()), value: fc.string(), others: fc.nat() })
      .map((series): CheckReading => ({ kind: 'failing', series })),
  },
  { weight: 1, arbitrary: fc.string().map((message): CheckReading => ({ kind: 'unknown', message })) },
);

const checks: fc.Arbitrary<readonly CheckFacts[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({
        name: fc.string(),
        reading: fc.option(reading, { freq: 20 }),
        ageSeconds: fc.constantFrom(0, 0, 0, 4.5, 5, 29, 30, 59, 60, Number.NaN),
        unknownForSeconds: fc.constantFrom(0, 299, 300),
      }),
      { maxLength: 2 },
    ),
  },
);

/** Drawn with the cluster. */
type OfCluster =
  | 'cluster'
  | 'statefulSet'
  | 'members'
  | 'lastRuns'
  | 'dataRecords'
  | 'budgets'
  | 'memory'
  | 'replicationDelays'
  | 'memberAnswers'
  | 'mysql'
  | 'preflight';

/** What a snapshot has beside it. */
const around: { readonly [Name in Exclude<keyof ClusterSnapshot, OfCluster>]: fc.Arbitrary<ClusterSnapshot[Name]> } = {
  moco: rarely<MocoLease>(
    undisturbed.moco,
    { ...undisturbed.moco, renewedForSeconds: 30 },
    { ...undisturbed.moco, renewedForSeconds: null },
    { ...undisturbed.moco, state: 'missing' },
    { ...undisturbed.moco, state: 'forbidden', renewedForSeconds: null },
    { ...undisturbed.moco, ageSeconds: 10 },
    { ...undisturbed.moco, ageSeconds: null },
  ),
  backupJobs: rarely(
    [],
    [{ name: 'moco-backup-test-1', restores: false, startedAt: 'T', activeForSeconds: 60 }],
    [{ name: 'moco-restore-test', restores: true, startedAt: 'T', activeForSeconds: Number.NaN }],
  ),
  nodesLeaving: rarely<ClusterSnapshot['nodesLeaving']>(
    null,
    { names: ['n-1'], overForSeconds: 0 },
    { names: [], overForSeconds: 599 },
    { names: [], overForSeconds: 600 },
  ),
  backupsUnreadable: rarely(null, 'jobs is forbidden'),
  contention: rarely(null, {
    writesPerSecond: 10,
    managers: ['moco-controller'],
    fields: [{ path: 'spec.podTemplate.spec.hostNetwork', what: 'dropped' }],
  }),
  templateWriters: rarely([], ['kubectl-edit (MySQLCluster)'], ['a (MySQLCluster)', 'b (StatefulSet)']),
  preflightPodsExist: rarely(false, true),
  settingsProblem: rarely(null, 'unreadable'),
  policyGone: rarely(null, { policy: 'MySQLRolloutPolicy/freeze', sinceSeconds: 29 }),
  ownWritePending: rarely(null, 'evict'),
  statusRefusal: rarely(null, 'unknown field'),
  rolloutProblem: rarely(null, { kind: 'terminating', finalizers: [] }),
  createFailure: rarely(null, 'quota'),
  released: rarely(false, true),
  wasAdopted: fc.boolean(),
  fleetWaits: rarely(
    [],
    [{ hold: { rule: 'FleetFailing', failing: 3, limit: 3, cluster: 'a/b' }, remainingSeconds: null }],
  ),
  fleetQueue: rarely(null, { place: 1, limit: 2, stuck: [] }),
  fleetInterval: rarely(null, { flag: '--f', seconds: 60, sinceSeconds: 30 }),
  maintenance,
  checks,
  laterStageWaits: fc.boolean(),
  unobservedEvictions: rarely(0, 5),
  admissionProblem: rarely(null, notInForce),
  adoptionAgesSeconds: rarely([], [10]),
  stepFailure: rarely(null, {
    step: null,
    cause: 'refused',
    message: 'no',
    tries: 1,
    sinceLastTrySeconds: 1,
    retryAfterSeconds: 0,
  }),
  strategyKeeper: fc.constantFrom('policy' as const, 'webhook' as const, null),
  releaseRefusal: rarely(null, { message: 'no', sinceSeconds: 3 }),
  promotion: rarely(null, { from: 'old', to: revisionAfter }),
};

const delays: readonly [readonly [number, DelayReading], ...(readonly [number, DelayReading])[]] = [
  [1, { kind: 'delay', seconds: 0.1 }],
  [0, { kind: 'delay', seconds: 1 }],
  [1, { kind: 'delay', seconds: 40 }],
  [2, { kind: 'delay', seconds: 40 }],
  [1, { kind: 'notReplicating', message: 'no' }],
  [2, { kind: 'unknown', message: 'no' }],
];
const delayAges = fc.record({ ageSeconds: rarely(0, 4, 5, 60), unknownForSeconds: fc.constantFrom(0, 29, 30) });

const awaitedNode = { about: 'images', nodeName: 'n-2', forSeconds: 0, message: null } as const;
const refusedNode = { nodeName: 'n-1', members: [2], message: 'no', againInSeconds: 60 };
const preflights: readonly Preflight[] = [
  { awaited: [], refusals: [], fetched: [], mysqldVersion: null },
  { awaited: [awaitedNode], refusals: [], fetched: [], mysqldVersion: null },
  { awaited: [{ ...awaitedNode, forSeconds: 300 }], refusals: [], fetched: [], mysqldVersion: null },
  { awaited: [], refusals: [{ ...refusedNode, result: 'ImageUnavailable' }], fetched: [], mysqldVersion: null },
  { awaited: [], refusals: [{ ...refusedNode, result: 'ConfigurationRefused' }], fetched: [], mysqldVersion: null },
];

const mysqlDrafts = fc.record({
  ageSeconds: rarely<number | null>(0, 4, 5, null),
  problem: rarely<MysqlReading['problem']>(null, { message: 'no', forSeconds: 29 }, { message: 'no', forSeconds: 30 }),
  writes: fc.constantFrom([], [], null, [openWrite], [{ ...openWrite, ageSeconds: 0 }]),
  waitedForWritesSeconds: fc.constantFrom(0, 59, 60),
  replicaClusters: fc.constantFrom(
    [],
    [{ cluster: 'shop/copy', version: drawnReplicaVersion }],
    [{ cluster: null, version: drawnReplicaVersion }],
  ),
  unknownForSeconds: fc.constantFrom(0, 29, 30),
  says: fc.constantFrom<NonNullable<MysqlDraft['says']>>(
    {},
    {},
    { 1: { ...caughtUp, missing: 9 } },
    { 2: { ...caughtUp, missing: 9, unapplied: 3 } },
    { 1: { ...caughtUp, unapplied: 3 } },
    { 2: { kind: 'unknown', message: 'no' } },
    { 0: { kind: 'unknown', message: 'no' }, 1: { ...caughtUp, missing: null } },
    { 0: { kind: 'unknown', message: 'no' }, 1: { ...caughtUp, missing: null, unapplied: 3 } },
    { 2: { ...caughtUp, receiver: { runs: false, error: 0 } } },
    { 1: { ...caughtUp, semiSync: false } },
    { 0: { kind: 'primary', needed: 1, acknowledging: 1 } },
  ),
  last: fc.constantFrom<NonNullable<MysqlDraft['last']>>({}, {}, { 1: { ...caughtUp, missing: 9 } }, { 2: caughtUp }),
});
/** Clusters as they can be: members in any mixture of states, MOCO's view of them right or behind. */
export const plausibleSnapshot: fc.Arbitrary<ClusterSnapshot> = fc
  .record({
    drafts: fc.constantFrom(1, 3, 3, 5, 7).chain((size) => fc.array(draft, { minLength: size, maxLength: size })),
    primary: fc.nat({ max: 6 }),
    stage: fc.constantFrom(
      'anything',
      'anything',
      'nothing is broken',
      'only the primary is left',
      'many are behind',
      'no member serves',
      'another client has updated members',
    ),
    missing: fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, fc.array(fc.nat({ max: 6 }), { maxLength: 2 })),
    extra: rarely(false, true),
    facts: fc.record({
      deleting: rarely(false, true),
      reconciledGeneration: rarely(2, 1),
      succeededGeneration: rarely<number | null>(2, 1, null),
      initialized: rarely(true, false),
      offline: rarely(false, true),
      reconciliationStopped: rarely(false, true),
      clusteringStopped: rarely(false, true),
      forcedRollingUpdate: rarely(false, true),
      replicatesFromElsewhere: rarely(false, true),
      primaryUnavailableForSeconds: fc.option(seconds),
      primarySettledForSeconds: fc.option(seconds),
    }),
    view: fc.constantFrom('right', 'as before', 'unhealthy'),
    // `undefined`: as the conditions say.
    mocoState: rarely<MocoState | null | undefined>(undefined, 'Failed', 'Lost', 'Cloning', null),
    statefulSet: fc.oneof(
      { weight: 2, arbitrary: fc.constant<Partial<StatefulSetFacts>>({ strategy: 'RollingUpdate', labelled: false }) },
      {
        weight: 3,
        arbitrary: rarely<Partial<StatefulSetFacts> | null>(
          { currentRevision: 'old' },
          { currentRevision: 'old' },
          null,
          { deleting: true },
          { observed: false },
          { labelled: false },
          { replicas: 9 },
        ),
      },
    ),
    budget: rarely<Partial<BudgetFacts>>(
      {},
      { closed: true, disruptionsAllowed: 0 },
      { name: 'freeze-nodes', closed: true, disruptionsAllowed: 0 },
      { disruptionsAllowed: 1 },
      { observed: false },
      { refusal: 'no', refusedForSeconds: 3 },
    ),
    partition: fc.option(fc.integer({ min: 0, max: 8 })),
    newPods: fc.oneof(
      { weight: 8, arbitrary: fc.constant('UpdateRevision') },
      { weight: 1, arbitrary: fc.constantFrom('kept', 'kept', 'asked for') },
    ),
    memory: fc.record({
      verified: fc.boolean(),
      failing: rarely<RolloutMemory['failing']>(null, { member: 1, message: 'it has failed' }),
      takenDown: fc.subarray([0, 1, 2, 3, 4]),
      waiting: fc.oneof(
        { weight: 1, arbitrary: fc.constant(null) },
        { weight: 2, arbitrary: fc.subarray([0, 1, 2, 3, 4]) },
      ),
      from: fc.constantFrom(null, 'old', 'older'),
      taken: rarely<TakenPod[]>(
        [],
        [{ ordinal: 1, uid: 'uid-1', restores: true }],
        [{ ordinal: 2, uid: 'uid-2', restores: true }],
        [{ ordinal: 1, uid: 'another', restores: false }],
      ),
      updatedOutOfBand: fc.subarray([0, 1, 2]),
      createdWhileHeld: fc
        .subarray([0, 1, 2])
        .map((ordinals) => ordinals.map((ordinal) => ({ ordinal, started: ordinal === 0 }))),
      sinceProgressSeconds: seconds,
      switchoverTries: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
      sinceLastTrySeconds: seconds,
      recentRevisions: rarely<RolloutMemory['recentRevisions']>(appeared(3), appeared(1, 2, 3, 4)),
      shown: rarely<RolloutMemory['shown']>('AwaitingFleetSlot', 'CheckFailing', 'ReplicasBehind'),
      earlier: rarely<RolloutMemory['earlier']>(['Paused'], ['BackupRunning', 'MemberProtected']),
    }),
    around: fc.record(around),
    delays: fc.oneof(
      { weight: 5, arbitrary: fc.constant(delays[0]) },
      { weight: 1, arbitrary: fc.constantFrom(...delays) },
    ),
    delayAges,
    answer: rarely<readonly [MemberAnswer, age: number] | null>(
      null,
      [{ kind: 'unknown', message: 'no answer' }, 0],
      [{ kind: 'unknown', message: 'no answer' }, 130],
      [{ kind: 'notReady', message: 'no' }, 0],
      [{ kind: 'ready' }, 5],
    ),
    mysql: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: mysqlDrafts }),
    versions: fc.oneof(
      { weight: 20, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(...drawnVersions) },
    ),
    preflight: fc.oneof(
      { weight: 30, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(...preflights) },
    ),
  })
  .map((given) => {
    const { drafts, primary, stage, missing, extra, facts, view, statefulSet, budget, partition, memory } = given;
    const { newPods, around, delays, delayAges, mysql, preflight, mocoState, answer, versions } = given;
    const inSeries = (one: MemberBuilder): MemberBuilder => (versions === null ? one : one.mysqld(versions[0]));
    const builder = cluster(drafts.length)
      .primaryAt(primary % drafts.length)
      .members(
        ...drafts.map((one, ordinal) =>
          inSeries(built(ordinal, staged(one, stage, ordinal === primary % drafts.length))),
        ),
      )
      .missing(...missing)
      .mysqlCluster(facts)
      .statefulSet(statefulSet && { partition, ...statefulSet })
      .memory(memory);
    if (newPods !== 'UpdateRevision' && statefulSet !== null) builder.statefulSet({ newPods: 'CurrentRevision' });
    const isKept = newPods === 'kept' || stage === 'another client has updated members';
    if (isKept && statefulSet !== null) builder.keepingRevisions().statefulSet({ labelled: true });
    builder.delay(delays[0], delays[1], delayAges);
    if (answer !== null) {
      const [reading, age] = answer;
      builder.answers(0, reading, reading.kind === 'unknown' ? { unknownForSeconds: age } : { ageSeconds: age });
    }
    if (mysql !== null) builder.mysql(mysql);
    if (preflight !== null) builder.preflight(preflight);
    if (versions !== null && statefulSet !== null) builder.toMysqld(versions[1]);
    if (extra) builder.members(member(drafts.length));
    if (view === 'as before') builder.healthyAsBefore();
    if (view === 'unhealthy') builder.unhealthy();
    if (mocoState !== undefined) builder.mysqlCluster({ mocoState });
    if (drafts.length >= 3) builder.budgets(budget);
    return { ...builder.facts(), ...around };
  });

/** Numbers that an API server would never have let through, and some that it would. */
const oddNumbers = [
  0,
  1,
  3,
  5,
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  2 ** 31,
  1e308,
];
const anyNumber = fc.oneof(fc.constantFrom(...oddNumbers), fc.integer({ min: -2, max: 9 }), fc.double());

/**
 * Anything that has the right types, possible or not: the facts of one cluster with parts of those of another one, and
 * now and then a number that no API server would have let through.
 */
export const absurdSnapshot: fc.Arbitrary<ClusterSnapshot> = fc
  .tuple(plausibleSnapshot, plausibleSnapshot, fc.integer())
  .map(([one, other, seed]) => mixed(one, other, diceOf(seed)) as ClusterSnapshot);

/** A whole number below `sides`, the same ones for a seed (a linear congruential generator). */
function diceOf(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function mixed(own: unknown, foreign: unknown, dice: (sides: number) => number): unknown {
  if (typeof own === 'number' && dice(40) === 0) return oddNumbers[dice(oddNumbers.length)];
  if (Array.isArray(own) && Array.isArray(foreign)) {
    const { length } = dice(4) === 0 ? foreign : own;
    return Array.from({ length }, (_, at) => mixed(own[at] ?? foreign[at], foreign[at] ?? own[at], dice));
  }
  if (isObject(own) && isObject(foreign) && Object.keys(own).join() === Object.keys(foreign).join()) {
    return Object.fromEntries(Object.entries(own).map(([key, value]) => [key, mixed(value, foreign[key], dice)]));
  }
  return dice(4) === 0 ? foreign : own;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const anyInPlaceSettings: fc.Arbitrary<InPlaceSettings> = fc.record({
  mode: fc.constantFrom('Never', 'IfPossible', 'Only'),
  containers: fc.constant([]),
  resources: fc.boolean(),
  metadata: fc.constant([]),
  primary: fc.constantFrom('InPlace', 'AfterSwitchover'),
});

export const anyPolicy: fc.Arbitrary<RolloutPolicy> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(defaultPolicy) },
  { weight: 1, arbitrary: fc.constant<RolloutPolicy>({ ...defaultPolicy, mode: 'Partition' }) },
  {
    weight: 2,
    arbitrary: fc.constant<RolloutPolicy>({
      ...defaultPolicy,
      pinnedOrdinals: [1, 2],
      restore: { revision: revisionAfter, ordinals: [0, 1, 2] },
    }),
  },
  {
    weight: 2,
    arbitrary: anyInPlaceSettings.map((inPlaceUpdates): RolloutPolicy => ({ ...defaultPolicy, inPlaceUpdates })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        nodeMaintenance: fc.constantFrom('Switchover', 'Evacuate', 'Evacuate'),
        rolloutsDuringMaintenance: fc.constantFrom('Proceed', 'Wait'),
      })
      .map((onNodes): RolloutPolicy => ({ ...defaultPolicy, ...onNodes })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      mode: fc.constantFrom<RolloutPolicy['mode'][]>(
        'OnDelete',
        'OnDelete',
        'OnDelete',
        'Partition',
        'Partition',
        'MOCO',
      ),
      paused: rarely(false, true),
      repairWhilePaused: fc.boolean(),
      maxUnavailable: fc.oneof(
        fc.constantFrom<RolloutPolicy['maxUnavailable'][]>(1, 2, 3, '50%', '0%', 'abc%' as '1%'),
        anyNumber,
      ),
      partition: fc.oneof(fc.constantFrom(0, 1, 2, 3), anyNumber),
      minReadySeconds: fc.oneof(fc.constantFrom(0, 5), anyNumber),
      progressDeadlineSeconds: fc.oneof(fc.constantFrom(0, 600), anyNumber),
      switchoverTimeoutSeconds: fc.oneof(fc.constantFrom(0, 90), anyNumber),
      failoverGraceSeconds: fc.oneof(fc.constantFrom(0, 180), anyNumber),
      maxReplicaDelaySeconds: fc.oneof(fc.constantFrom(1, 10), anyNumber),
      replicaDelayGraceSeconds: fc.oneof(fc.constantFrom(0, 30), anyNumber),
      silentMemberGraceSeconds: fc.oneof(fc.constantFrom(0, 120), anyNumber),
      longWriteGraceSeconds: fc.oneof(fc.constantFrom(0, 60), anyNumber),
      longWritePolicy: fc.constantFrom('Proceed', 'Hold'),
      preflight: fc.constantFrom('Never', 'Nodes', 'NodesAndConfiguration'),
      preflightTimeoutSeconds: fc.oneof(fc.constantFrom(1, 300), anyNumber),
      nodeMaintenance: fc.constantFrom('Ignore', 'Switchover', 'Evacuate'),
      rolloutsDuringMaintenance: fc.constantFrom('Proceed', 'Wait'),
      primaryUpdatePolicy: fc.constantFrom('Automatic', 'Manual'),
      approvedRevision: fc.constantFrom(null, revisionAfter, 'old'),
      pinnedOrdinals: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        fc.array(fc.nat({ max: 6 }), { maxLength: 2 }),
      ),
      lostMembers: fc.constantFrom('UpdateOnceVerified', 'KeepRevision'),
      restore: fc.option(
        fc.record({ revision: fc.constant(revisionAfter), ordinals: fc.subarray([0, 1, 2], { minLength: 1 }) }),
      ),
      overrides: fc.array(
        fc.record({ rule: fc.constantFrom(...holdRules), remainingSeconds: fc.constantFrom(-1, 0, 1, 600) }),
        { maxLength: 2 },
      ),
      inPlaceUpdates: anyInPlaceSettings,
    }),
  },
);
