import type { Hold } from '../../src/core/decision.ts';
import type { FleetHold } from '../../src/core/fleet/waits.ts';
import type {
  CheckFacts,
  CheckReading,
  DelayReading,
  Preflight,
  ReplicationDelay,
} from '../../src/core/on-demand-facts.ts';
import type {
  AdmissionProblem,
  BackupJobFacts,
  BudgetFacts,
  ClusterFacts,
  ClusterSnapshot,
  Contention,
  Interval,
  Moment,
  RolloutMemory,
  StatefulSetFacts,
  StepFailure,
} from '../../src/core/snapshot.ts';
import { longSeconds, type MemberBuilder, member, revisionAfter, revisionBefore } from './member-builder.ts';
import { type MysqlDraft, mysqlReading } from './mysql-readings.ts';
import { delayRead, noDelays } from './replication-delays.ts';
import { undisturbed } from './undisturbed.ts';

const moment = (inSeconds: number): Moment => ({ inSeconds, at: `T${inSeconds >= 0 ? '+' : ''}${inSeconds}` });
const interval = ([from, until]: Pair): Interval => ({ from: moment(from), until: moment(until) });

const backupJob: BackupJobFacts = {
  name: 'emergency-backup',
  restores: false,
  startedAt: '2026-07-01T12:00:00Z',
  activeForSeconds: 60,
};
/** What `backupJobs({})` causes. */
export const backupRunning = {
  rule: 'BackupRunning',
  job: backupJob.name,
  startedAt: backupJob.startedAt,
} as const satisfies Hold;

/** One of each hold that other clusters cause. */
export const fleetHolds = {
  SequencesUnreadable: { rule: 'SequencesUnreadable', message: 'mysqlrolloutsequences is forbidden' },
  SequenceConflict: { rule: 'SequenceConflict', sequences: ['by-team', 'production'] },
  SequenceInvalid: { rule: 'SequenceInvalid', sequence: 'production', problem: 'expected spec.stages to be a list' },
  StageFailing: {
    rule: 'StageFailing',
    sequence: 'production',
    stage: 'canary',
    failing: 1,
    maxFailures: 0,
    cluster: 'prod/orders',
  },
  AwaitingEarlierStage: {
    rule: 'AwaitingEarlierStage',
    sequence: 'production',
    stage: 'canary',
    clusters: 5,
    unfinished: 2,
    cluster: 'prod/orders',
  },
  AwaitingSoak: {
    rule: 'AwaitingSoak',
    sequence: 'production',
    stage: 'canary',
    soakSeconds: 86_400,
    until: 1_782_907_200,
    cluster: 'prod/orders',
  },
  AwaitingSettle: { rule: 'AwaitingSettle', sequence: 'production', settleSeconds: 330, until: 1_782_907_200 },
  AwaitingStageSlot: { rule: 'AwaitingStageSlot', sequence: 'production', stage: 'most', limit: 2, place: 4 },
  FleetFailing: { rule: 'FleetFailing', failing: 3, limit: 3, cluster: 'prod/orders' },
} as const satisfies { [Rule in FleetHold['rule']]: FleetHold & { readonly rule: Rule } };

type Pair = readonly [from: number, until: number];

/** A healthy cluster of so many members, all updated, the primary at 0, until it is told otherwise. */
export const cluster = (replicas: number): ClusterBuilder => new ClusterBuilder(replicas);
/** A cluster of three, of which these are special. */
export const three = (...members: readonly MemberBuilder[]): ClusterBuilder => cluster(3).members(...members);

/**
 * Says what is special about a cluster; the rest follows as it would for a real one: MOCO reports Healthy and the budget
 * allows disruptions according to the members, unless they are given here.
 */
export class ClusterBuilder {
  readonly #replicas: number;
  readonly #members = new Map<number, MemberBuilder>();
  #primary = 0;
  #revision = revisionAfter;
  #missing: readonly number[] = [];
  #budgets: readonly Partial<BudgetFacts>[] | null = null;
  #statefulSet: Partial<StatefulSetFacts> | null = {};
  #facts: Partial<ClusterFacts> = {};
  #memory: Partial<RolloutMemory> = {};
  readonly #delays = new Map<string, ReplicationDelay>();
  #mysql: MysqlDraft | null = null;
  #around: Partial<Omit<ClusterSnapshot, 'cluster' | 'statefulSet' | 'members' | 'budgets' | 'memory'>> = {};

  constructor(replicas: number) {
    this.#replicas = replicas;
    for (let ordinal = 0; ordinal < replicas; ordinal++) this.#members.set(ordinal, member(ordinal));
  }

  primaryAt(ordinal: number): this {
    this.#primary = ordinal;
    return this;
  }

  /** The template has changed: every member is stale that doesn't say otherwise. */
  templateChanged(): this {
    this.#revision = revisionBefore;
    return this;
  }

  members(...members: readonly MemberBuilder[]): this {
    for (const one of members) this.#members.set(one.ordinal, one);
    return this;
  }

  missing(...ordinals: readonly number[]): this {
    this.#missing = ordinals;
    return this;
  }

  /** What the MySQLCluster says of itself. */
  mysqlCluster(facts: Partial<ClusterFacts>): this {
    this.#facts = { ...this.#facts, ...facts };
    return this;
  }

  statefulSet(facts: Partial<StatefulSetFacts> | null): this {
    this.#statefulSet = facts === null ? null : { ...this.#statefulSet, ...facts };
    return this;
  }

  unhealthy(): this {
    return this.mysqlCluster({ healthy: false });
  }

  /** MOCO has not reported anything since before the members became what they are. */
  healthyAsBefore(): this {
    return this.mysqlCluster({ healthy: true, available: true, syncedReplicas: this.#replicas });
  }

  primaryUnavailableFor(seconds: number): this {
    return this.mysqlCluster({ primaryUnavailableForSeconds: seconds });
  }

  /** Each given one differs from what the members make of it. */
  budgets(...budgets: readonly Partial<BudgetFacts>[]): this {
    this.#budgets = budgets;
    return this;
  }

  memory(memory: Partial<RolloutMemory>): this {
    this.#memory = { ...this.#memory, ...memory };
    return this;
  }

  /** Each is active. */
  backupJobs(...jobs: readonly Partial<BackupJobFacts>[]): this {
    this.#around = { ...this.#around, backupJobs: jobs.map((job) => ({ ...backupJob, ...job })) };
    return this;
  }

  backupsUnreadable(message: string): this {
    this.#around = { ...this.#around, backupsUnreadable: message };
    return this;
  }

  /** Somebody writes the StatefulSet again and again. */
  contended(contention: Partial<Contention> = {}): this {
    const byMoco: Contention = { writesPerSecond: 1, managers: ['moco-controller'], fields: [] };
    this.#around = { ...this.#around, contention: { ...byMoco, ...contention } };
    return this;
  }

  settingsProblem(problem: string | null): this {
    this.#around = { ...this.#around, settingsProblem: problem };
    return this;
  }

  /** The StatefulSet's FailedCreate sentence. */
  createFailure(message: string): this {
    this.#around = { ...this.#around, createFailure: message };
    return this;
  }

  /** Of the status, since the CRD is too old for them. */
  rolloutProblem(problem: ClusterSnapshot['rolloutProblem']): this {
    this.#around = { ...this.#around, rolloutProblem: problem };
    return this;
  }

  statusRefusal(message: string | null): this {
    this.#around = { ...this.#around, statusRefusal: message };
    return this;
  }

  released(): this {
    this.#around = { ...this.#around, released: true };
    return this;
  }

  /** Others are rolling, and this one may not begin yet. */
  queued(place: number, limit: number, stalled = 0): this {
    this.#around = { ...this.#around, fleetQueue: { place, limit, stalled } };
    return this;
  }

  /** Other clusters keep it from beginning. */
  waitingForOthers(hold: FleetHold, remainingSeconds: number | null = null): this {
    this.#around = { ...this.#around, fleetWaits: [{ hold, remainingSeconds }] };
    return this;
  }

  /** So many seconds ago something was disrupted in the fleet, and there are to be more between two disruptions. */
  interval(seconds: number, sinceSeconds: number): this {
    this.#around = { ...this.#around, fleetInterval: { flag: '--disruption-interval', seconds, sinceSeconds } };
    return this;
  }

  /** So many evictions of other clusters wait for the disruption controller. */
  unobservedEvictions(unobservedEvictions: number): this {
    this.#around = { ...this.#around, unobservedEvictions };
    return this;
  }

  /** Maintenance windows and blackouts as pairs of seconds from now. A member takes 100 s. */
  maintenance(windows: readonly Pair[] | null, ...blackouts: readonly Pair[]): this {
    const maintenance = {
      windows: windows && windows.map(interval),
      restartWindows: null,
      blackouts: blackouts.map((pair) => ({ ...interval(pair), reason: 'sales' })),
      memberSeconds: 100,
    };
    this.#around = { ...this.#around, maintenance };
    return this;
  }

  /** Windows in which members may be replaced in the mode Only, as pairs of seconds from now. A member takes 100 s. */
  restartWindows(...windows: readonly Pair[]): this {
    const { maintenance } = this.#around;
    const others = maintenance ?? { windows: null, blackouts: [], memberSeconds: 100 };
    this.#around = { ...this.#around, maintenance: { ...others, restartWindows: windows.map(interval) } };
    return this;
  }

  /** So many dry runs in a row, the last so many seconds ago, did not come back as they have to. */
  admissionProblem(sinceSeconds: number, { tries = 1, mode = 'OnDelete' }: Partial<AdmissionProblem> = {}): this {
    const finding = 'a dry run left it at RollingUpdate';
    this.#around = { ...this.#around, admissionProblem: { mode, finding, tries, sinceSeconds } };
    return this;
  }

  /** This process has put the StatefulSet at OnDelete so many seconds ago. */
  strategyKeeper(strategyKeeper: ClusterSnapshot['strategyKeeper']): this {
    this.#around = { ...this.#around, strategyKeeper };
    return this;
  }

  /** Admission keeps RollingUpdate with partition = replicas. */
  keepingRevisions(currentRevision: string = revisionBefore): this {
    const partition = this.#replicas;
    return this.statefulSet({ strategy: 'RollingUpdate', partition, newPods: 'CurrentRevision', currentRevision });
  }

  wasAdopted(): this {
    this.#around = { ...this.#around, wasAdopted: true };
    return this;
  }

  adopted(...adoptionAgesSeconds: readonly number[]): this {
    this.#around = { ...this.#around, adoptionAgesSeconds };
    return this;
  }

  releaseRefused(message: string, sinceSeconds: number): this {
    this.#around = { ...this.#around, releaseRefusal: { message, sinceSeconds } };
    return this;
  }

  /** What the API server did not carry out, in a row. */
  stepFailed(failure: Partial<StepFailure>): this {
    const { cause = 'refused', step = null, message = 'it is denied', tries = 1 } = failure;
    const { sinceLastTrySeconds = 0, retryAfterSeconds = 0 } = failure;
    const stepFailure = { step, cause, message, tries, sinceLastTrySeconds, retryAfterSeconds };
    this.#around = { ...this.#around, stepFailure };
    return this;
  }

  /** A release has replaced one current revision by another, a moment ago. */
  promoted(from: string, to: string): this {
    this.#around = { ...this.#around, promotion: { from, to } };
    return this;
  }

  /** The StatefulSet updates by itself, from this partition up. */
  atPartition(partition: number): this {
    return this.statefulSet({ strategy: 'RollingUpdate', labelled: false, partition });
  }

  ownWritePending(write: string): this {
    this.#around = { ...this.#around, ownWritePending: write };
    return this;
  }

  /** What a replica said about its replication when it was last asked. Others keep up. */
  delay(ordinal: number, reading: DelayReading, ages: Parameters<typeof delayRead>[2] = {}): this {
    const read = delayRead({ uid: `uid-${ordinal}` }, reading, ages);
    this.#delays.set(read.uid, read);
    return this;
  }

  /** MySQL itself has been asked. */
  mysql(draft: MysqlDraft = {}): this {
    this.#mysql = draft;
    return this;
  }

  /** What nodes have found out about the update revision. */
  preflight({ awaited = [], refusals = [] }: Partial<Preflight> = {}): this {
    this.#around = { ...this.#around, preflight: { awaited, refusals } };
    return this;
  }

  /** What Prometheus last said about a check of the user: at this moment, unless the ages say otherwise. */
  check(name: string, reading: CheckReading | null, ages: Partial<Omit<CheckFacts, 'name' | 'reading'>> = {}): this {
    const { checks = [] } = this.#around;
    const one: CheckFacts = { name, reading, ageSeconds: 0, unknownForSeconds: 0, ...ages };
    this.#around = { ...this.#around, checks: [...checks, one] };
    return this;
  }

  /** Clusters of a later stage wait for this one. */
  laterStageWaits(): this {
    this.#around = { ...this.#around, laterStageWaits: true };
    return this;
  }

  facts(): ClusterSnapshot {
    const replicas = this.#replicas;
    const builders = [...this.#members.values()]
      .filter((one) => !this.#missing.includes(one.ordinal))
      .toSorted((a, b) => a.ordinal - b.ordinal);
    const serving = builders.filter((one) => one.serves);
    const wholeHouse = serving.length >= replicas;
    const primaryServes = serving.some((one) => one.ordinal === this.#primary);
    const members = builders.map((one) => one.facts(this.#primary, this.#revision));
    const primary = members.find((one) => one.ordinal === this.#primary);
    return {
      cluster: {
        deleting: false,
        generation: 2,
        replicas,
        primaryIndex: this.#primary,
        syncedReplicas: serving.length,
        errantOrdinals: builders.filter((one) => one.isErrant).map((one) => one.ordinal),
        reconciledGeneration: 2,
        succeededGeneration: 2,
        initialized: true,
        available: primaryServes && serving.length > replicas / 2,
        healthy: wholeHouse,
        offline: false,
        reconciliationStopped: false,
        clusteringStopped: false,
        forcedRollingUpdate: false,
        replicatesFromElsewhere: false,
        primaryUnavailableForSeconds: primaryServes ? null : 0,
        primarySettledForSeconds: primaryServes && primary?.role === 'primary' ? longSeconds : null,
        ...this.#facts,
      },
      statefulSet: this.#statefulSet && {
        deleting: false,
        replicas,
        observed: true,
        currentRevision: this.#revision,
        updateRevision: revisionAfter,
        strategy: 'OnDelete',
        partition: null,
        forcedRollingUpdate: false,
        labelled: true,
        newPods: 'UpdateRevision',
        ...this.#statefulSet,
      },
      members,
      budgets: this.#budgetsOf(members.filter((one) => one.ready).length),
      backupJobs: [],
      backupsUnreadable: null,
      memory: {
        verified: false,
        failing: null,
        takenDown: [],
        waiting: [],
        from: null,
        taken: [],
        updatedOutOfBand: [],
        createdWhileHeld: [],
        sinceProgressSeconds: 0,
        switchoverTries: 0,
        sinceLastTrySeconds: 0,
        recentRevisions: [],
        ...this.#memory,
      },
      ...undisturbed,
      replicationDelays: [...this.#delays.values(), ...noDelays(members.filter(({ uid }) => !this.#delays.has(uid)))],
      mysql: this.#mysql && mysqlReading(members, this.#primary, this.#mysql),
      ...this.#around,
    };
  }

  /** MOCO's: none under three members, else ⌊replicas/2⌋ may be away. */
  #budgetsOf(ready: number): readonly BudgetFacts[] {
    const needed = this.#replicas - Math.floor(this.#replicas / 2);
    const usual: BudgetFacts = {
      name: 'moco-test',
      observed: true,
      disruptionsAllowed: Math.max(0, ready - needed),
      currentHealthy: ready,
      desiredHealthy: needed,
      awaiting: 0,
      closed: false,
      refusal: null,
      refusedForSeconds: 0,
    };
    return (this.#budgets ?? (this.#replicas < 3 ? [] : [{}])).map((budget) => ({ ...usual, ...budget }));
  }
}

/** Update revisions of these ages, none of whose rollouts is complete. */
export const appeared = (...agesSeconds: readonly number[]): RolloutMemory['recentRevisions'] =>
  agesSeconds
    .toSorted((one, other) => other - one)
    .map((ageSeconds) => ({ ageSeconds, oldAt: `in ${600 - ageSeconds} s`, completed: false }));
