import type { Check } from '../../api/check-settings.ts';
import type { MySQLRollout } from '../../api/rollout.ts';
import type { MemberStatus, RolloutStatus } from '../../api/rollout-status.ts';
import type { Log, World } from '../../base/world.ts';
import type { Decision } from '../../core/decision.ts';
import type { CheckFacts } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { QuestionKind, QuestionOf } from '../../core/questions.ts';
import type { ClusterSnapshot, MemberFacts } from '../../core/snapshot.ts';
import type { DelayReader, MemberReader } from '../../moco/agent.ts';
import type { Ages } from '../../moco/ages.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { MysqlAsker } from '../../mysql/mysql-asker.ts';
import type { Cache } from '../../objects/cache.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { KnownNodes } from '../facts/known-nodes.ts';
import type { Settings } from '../facts/settings-in-force.ts';
import type { MocoReader } from './moco-lease.ts';
import type { RecentNodes } from './recent-nodes.ts';

// The inputs of a question, and the type of a row in the table of questions.

/** Where answers come from, apart from the API server. */
export interface Sources {
  readonly cache: Pick<Cache, 'settingsSources' | 'replicaClustersAt'>;
  readonly delays: DelayReader;
  readonly members: MemberReader;
  readonly moco: MocoReader;
  /** `undefined` while the feature gate `ReplicationFacts` is off. */
  readonly mysql?: MysqlAsker | undefined;
  readonly checks: {
    factsFor(key: string, checks: readonly Check[]): readonly CheckFacts[];
    ask(key: string, checks: readonly Check[]): void;
    forget(key: string): void;
  };
  readonly nodes: RecentNodes;
  readonly knownNodes: KnownNodes;
  /**
   * Whether the controller is limited to some namespaces. It may then lack the right to read nodes and
   * PersistentVolumes, which have no namespace.
   */
  readonly mayLackNodes: boolean;
  /** Whether dry runs check that the next pods of members are admitted (`--dry-run-pods`). */
  readonly triesPods: boolean;
}

/** The last observation of a cluster, with the decision. */
export interface Observed {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly settings: Settings;
  readonly decision: Decision;
  readonly heldForSeconds: number;
  readonly now: string;
  /** The time of the observation on the monotonic clock. */
  readonly nowMilliseconds: number;
}

/** Everything that a question may use. The type of `api` limits its requests. */
export interface Asking<Api extends ClusterReader = ClusterReader> {
  /** `namespace/name`. */
  readonly key: string;
  readonly observed: Observed;
  readonly api: Api;
  readonly sources: Sources;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Pick<
    RolloutMetrics,
    'countDelayReading' | 'countMysqlReading' | 'countPreflight' | 'questionDurationSeconds'
  >;
  readonly signal: AbortSignal;
}

/** Asks the question and records how long the answer took. If `ask` rejects, rejects with the same error. */
export async function timed<Answer>(
  question: QuestionKind,
  { world, metrics }: Pick<Asking, 'world' | 'metrics'>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const since = world.monotonic();
  const answer = await ask();
  metrics.questionDurationSeconds.observe({ question }, (world.monotonic() - since) / 1000);
  return answer;
}

/** Everything apart from the answer from which a row derives its facts. */
export interface Given {
  readonly key: string;
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly policy: RolloutPolicy;
  readonly settings: Pick<Settings, 'checks'>;
  readonly sources: Pick<Sources, 'mysql' | 'knownNodes'> & {
    readonly cache: Pick<Cache, 'replicaClustersAt'>;
    readonly checks: Pick<Sources['checks'], 'factsFor'>;
  };
  readonly ages: Ages;
  readonly nowMilliseconds: number;
}

/** Fields of a status. An `undefined` field is left out. */
export type Fields<Of> = { readonly [Field in keyof Of]?: Of[Field] | undefined };

/** How a confirmation asks a question, and how many requests to the API server that takes. */
export interface Confirmation<Answer> {
  readonly requests: number;
  /** Rejects with `ApiError`. */
  readonly ask: (api: ClusterApi) => Promise<Answer>;
}

/**
 * A row of the table: everything about one kind of question, except the rules that need its answer, which belong to the
 * core. SPEC.md shows the texts.
 */
export interface Row<
  Kind extends QuestionKind,
  Answer,
  Facts extends Partial<ClusterSnapshot> = object,
  Member extends Partial<MemberFacts> = object,
> {
  /** Who is asked, and for what. */
  readonly asks: string;
  /** How old an answer may be. */
  readonly lasts: string;
  /** What a missing answer means. */
  readonly silence: string;
  /** The value before the question is first asked. */
  readonly initial: Answer;
  /**
   * The question is asked only when it is the cluster's turn in the fleet. So the cluster decides again right before
   * asking.
   */
  readonly inTurn?: true;
  /**
   * Resolves to the answer, or to `null` if there is nothing new yet. Rejects with `ApiError`; the pass then performs
   * no step. If a row has no `ask`, its question is asked only in confirmations.
   */
  ask?(question: QuestionOf<Kind>, asking: Asking<ClusterApi>, before: Answer): Promise<Answer | null>;
  /**
   * Returns what to keep of the answer while the core does not ask the question. Without `keep`, an answer is kept
   * until the next one.
   */
  keep?(answer: Answer, observed: Observed): Answer;
  /** The facts that follow from the answer. Every fact that the answer does not contain must be unknown. */
  facts(answer: Answer, given: Given): Facts;
  /** The facts about each member. `cluster` contains the facts of all rows. */
  memberFacts?(answer: Answer, given: Given, cluster: Partial<ClusterSnapshot>): (pod: PodRecord) => Member;
  /** How the question is asked again right before a step is written. If this is `null`, the last answer counts. */
  confirm: {
    /**
     * A `beforeClock` question is asked before the confirmation's time limit starts, because members may take longer. A
     * `withObjects` question is asked in parallel with the reads of the cluster's objects.
     */
    readonly order: 'beforeClock' | 'withObjects';
    plan(question: QuestionOf<Kind>, asking: Omit<Asking, 'api'>, before: Answer): Confirmation<Answer>;
    /** The answer counts in this confirmation only. */
    readonly isForgotten?: true;
    /** Whether the step now depends on something that this confirmation did not ask. */
    isOvertaken?(answer: Answer, objects: ClusterObjects, sources: Sources): boolean;
  } | null;
  /** What users see in the status. */
  status: {
    /**
     * What users see until the answer arrives: the hold of the rule that needs the answer, the previous hold, or
     * nothing because the answer starts another pass at once.
     */
    readonly whileOutstanding: 'its hold' | 'the previous hold' | 'nothing';
    /** The fields of the status that show the answer. */
    readonly shows?: string;
    fields?(answer: Answer, observed: Observed): Fields<RolloutStatus>;
    memberFields?(answer: Answer, observed: Observed, ordinal: number): Fields<MemberStatus>;
    /** Seconds until these fields change without a new answer; `null` if they do not. */
    changesInSeconds?(observed: Observed): number | null;
  };
}
