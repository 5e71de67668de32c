import type { Hold } from '../../src/core/decision.ts';
import type { FleetHold } from '../../src/core/fleet/waits.ts';
import type {
  AskedMember,
  CheckFacts,
  CheckReading,
  DelayReading,
  MemberAnswer,
  MocoLease,
  Preflight,
  ReplicationDelay,
} from '../../src/core/on-demand-facts.ts';
import { everyAnswer } from '../../src/core/rules/members.ts';
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
import {
  longSeconds,
  type MemberBuilder,
  member,
  mysqldAt,
  revisionAfter,
  revisionBefore,
  usualVersion,
} from './member-builder.ts';
import { type MysqlDraft, mysqlReading } from './mysql-readings.ts';
import { delayRead, noDelays } from './replication-delays.ts';
import { undisturbed } from './undisturbed.ts';

export const moment = (inSeconds: number): Moment => ({ inSeconds, at: `T${inSeconds >= 0 ? '+' : ''}${inSeconds}` });
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
  SequenceGone: { rule: 'SequenceGone', sequence: 'production', until: 1_782_907_200 },
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
  StageMemberGone: {
    rule: 'StageMemberGone',
    sequence: 'production',
    stage: 'canary',
    cluster: 'prod/orders',
    failing: true,
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

type Around = Partial<
  Omit<ClusterSnapshot, 'cluster' | 'statefulSet' | 'members' | 'lastRuns' | 'dataRecords' | 'budgets' | 'memory'>
>;
type Pair = readonly [from: number, until: number];

/** A healthy cluster of so many members, all updated, the primary at 0, until it is told otherwise. */
export const cluster = (replicas: number): ClusterBuilder => new ClusterBuilder(replicas);
/** A cluster of three, of which these are special. */
export const three = (...members: readonly MemberBuilder[]): ClusterBuilder => cluster(3).members(...members);
/** Whose template has changed, and nothing has happened since. */
export const stale = (replicas = 3): ClusterBuilder => cluster(replicas).templateChanged();
/** Of which only the primary is left. */
export const lastOne = (): ClusterBuilder => three(member(0).stale());

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
  readonly #answers = new Map<string, AskedMember>();
  #mysql: MysqlDraft | null = null;
  #around: Around = {};

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

  /** Its template has a mysqld of this version; `null` for one whose image does not tell it. */
  toMysqld(version: string | null): this {
    return this.statefulSet({ mysqld: mysqldAt(version, 'cd') });
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

  /** Anything beside the objects of the cluster that has no word of its own. */
  but(facts: Around): this {
    this.#around = { ...this.#around, ...facts };
    return this;
  }

  /** Each is active. */
  backupJobs(...jobs: readonly Partial<BackupJobFacts>[]): this {
    return this.but({ backupJobs: jobs.map((job) => ({ ...backupJob, ...job })) });
  }

  /** Somebody writes the StatefulSet again and again. */
  contended(contention: Partial<Contention> = {}): this {
    const byMoco: Contention = { writesPerSecond: 1, managers: ['moco-controller'], fields: [] };
    return this.but({ contention: { ...byMoco, ...contention } });
  }

  released(): this {
    return this.but({ released: true });
  }

  /** Others are rolling, and this one may not begin yet. */
  queued(place: number, limit: number): this {
    return this.but({ fleetQueue: { place, limit, stuck: [] } });
  }

  /** Other clusters keep it from beginning. */
  waitingForOthers(hold: FleetHold, remainingSeconds: number | null = null): this {
    return this.but({ fleetWaits: [{ hold, remainingSeconds }] });
  }

  /** So many seconds ago something was disrupted in the fleet, and there are to be more between two disruptions. */
  interval(seconds: number, sinceSeconds: number): this {
    return this.but({ fleetInterval: { flag: '--disruption-interval', seconds, sinceSeconds } });
  }

  /** Maintenance windows and blackouts as pairs of seconds from now. A member takes 100 s. */
  maintenance(windows: readonly Pair[] | null, ...blackouts: readonly Pair[]): this {
    const maintenance = {
      windows: windows && windows.map(interval),
      restartWindows: null,
      blackouts: blackouts.map((pair) => ({ ...interval(pair), reason: 'sales' })),
      memberSeconds: 100,
    };
    return this.but({ maintenance });
  }

  /** Windows in which members may be replaced in the mode Only, as pairs of seconds from now. A member takes 100 s. */
  restartWindows(...windows: readonly Pair[]): this {
    const { maintenance } = this.#around;
    const others = maintenance ?? { windows: null, blackouts: [], memberSeconds: 100 };
    return this.but({ maintenance: { ...others, restartWindows: windows.map(interval) } });
  }

  /** So many dry runs in a row, the last so many seconds ago, did not come back as they have to. */
  admissionProblem(sinceSeconds: number, { tries = 1, mode = 'OnDelete' }: Partial<AdmissionProblem> = {}): this {
    const finding = 'a dry run left it at RollingUpdate';
    return this.but({ admissionProblem: { mode, finding, tries, sinceSeconds } });
  }

  /** Admission keeps RollingUpdate with partition = replicas. */
  keepingRevisions(currentRevision: string = revisionBefore): this {
    const partition = this.#replicas;
    return this.statefulSet({ strategy: 'RollingUpdate', partition, newPods: 'CurrentRevision', currentRevision });
  }

  wasAdopted(): this {
    return this.but({ wasAdopted: true });
  }

  adopted(...adoptionAgesSeconds: readonly number[]): this {
    return this.but({ adoptionAgesSeconds });
  }

  releaseRefused(message: string, sinceSeconds: number): this {
    return this.but({ releaseRefusal: { message, sinceSeconds } });
  }

  /** What the API server did not carry out, in a row. */
  stepFailed(failure: Partial<StepFailure>): this {
    const usual: StepFailure = {
      step: null,
      cause: 'refused',
      message: 'it is denied',
      tries: 1,
      sinceLastTrySeconds: 0,
      retryAfterSeconds: 0,
    };
    return this.but({ stepFailure: { ...usual, ...failure } });
  }

  /** A release has replaced one current revision by another, a moment ago. */
  promoted(from: string, to: string): this {
    return this.but({ promotion: { from, to } });
  }

  /** The StatefulSet updates by itself, from this partition up. */
  atPartition(partition: number): this {
    return this.statefulSet({ strategy: 'RollingUpdate', labelled: false, partition });
  }

  /** What a replica said about its replication when it was last asked. Others keep up. */
  delay(ordinal: number, reading: DelayReading, ages: Parameters<typeof delayRead>[2] = {}): this {
    const read = delayRead({ uid: `uid-${ordinal}` }, reading, ages);
    this.#delays.set(read.uid, read);
    return this;
  }

  /** What was seen of the Lease of moco-controller. */
  mocoLease(lease: Partial<MocoLease>): this {
    return this.but({ moco: { ...undisturbed.moco, ...lease } });
  }

  /** What a member answered when it was last asked: at this moment, unless the ages say otherwise. Others are ready. */
  answers(ordinal: number, reading: MemberAnswer, ages: Partial<Omit<AskedMember, 'uid' | 'reading'>> = {}): this {
    const uid = `uid-${ordinal}`;
    this.#answers.set(uid, { uid, reading, ageSeconds: 0, unknownForSeconds: 0, ...ages });
    return this;
  }

  /** A member does not answer, and has not for so long. */
  silent(ordinal: number, unknownForSeconds = 0): this {
    return this.answers(ordinal, { kind: 'unknown', message: 'no answer within 1000 ms' }, { unknownForSeconds });
  }

  /** MySQL itself has been asked. */
  mysql(draft: MysqlDraft = {}): this {
    this.#mysql = draft;
    return this;
  }

  /** What nodes have found out about the update revision. */
  preflight({ awaited = [], refusals = [], fetched = [], mysqldVersion = null }: Partial<Preflight> = {}): this {
    return this.but({ preflight: { awaited, refusals, fetched, mysqldVersion } });
  }

  /** What Prometheus last said about a check of the user: at this moment, unless the ages say otherwise. */
  check(name: string, reading: CheckReading | null, ages: Partial<Omit<CheckFacts, 'name' | 'reading'>> = {}): this {
    const { checks = [] } = this.#around;
    const one: CheckFacts = { name, reading, ageSeconds: 0, unknownForSeconds: 0, ...ages };
    return this.but({ checks: [...checks, one] });
  }

  /** Clusters of a later stage wait for this one. */
  laterStageWaits(): this {
    return this.but({ laterStageWaits: true });
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
    const healthy = this.#facts.healthy ?? wholeHouse;
    const available = this.#facts.available ?? (primaryServes && serving.length > replicas / 2);
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
        available,
        healthy,
        mocoState: healthy ? 'Healthy' : available ? 'Degraded' : 'Incomplete',
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
        mysqld: mysqldAt(usualVersion),
        ...this.#statefulSet,
      },
      members,
      lastRuns: [...this.#members.values()].flatMap((one) => one.dataFacts(this.#revision).lastRuns),
      dataRecords: [...this.#members.values()].flatMap((one) => one.dataFacts(this.#revision).dataRecords),
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
        shown: null,
        earlier: [],
        ...this.#memory,
      },
      ...undisturbed,
      replicationDelays: [...this.#delays.values(), ...noDelays(members.filter(({ uid }) => !this.#delays.has(uid)))],
      memberAnswers: [...this.#answers.values(), ...everyAnswer(members.filter(({ uid }) => !this.#answers.has(uid)))],
      mysql: this.#mysql && mysqlReading(members, this.#primary, this.#mysql),
      ...this.#around,
    };
  }

  /** MOCO's: none under three members, else ⌊replicas/2⌋ may be away. */
  #budgetsOf(ready: number): readonly BudgetFacts[] {
    const needed = this.#replicas - Math.floor(this.#replicas / 2);
    const usual: Omit<BudgetFacts, 'ofMoco'> = {
      name: 'moco-test',
      whose: null,
      observed: true,
      disruptionsAllowed: Math.max(0, ready - needed),
      currentHealthy: ready,
      desiredHealthy: needed,
      awaiting: 0,
      closed: false,
      refusal: null,
      refusedForSeconds: 0,
    };
    return (this.#budgets ?? (this.#replicas < 3 ? [] : [{}])).map((budget) => ({
      ...usual,
      ofMoco: (budget.name ?? usual.name) === usual.name,
      ...budget,
    }));
  }
}

/** Update revisions of these ages, none of whose rollouts is complete. */
export const appeared = (...agesSeconds: readonly number[]): RolloutMemory['recentRevisions'] =>
  agesSeconds
    .toSorted((one, other) => other - one)
    .map((ageSeconds) => ({ ageSeconds, oldAt: `in ${600 - ageSeconds} s`, completed: false }));
