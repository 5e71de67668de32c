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
import type { Settings } from '../facts/settings-in-force.ts';
import type { MocoReader } from './moco-lease.ts';
import type { RecentNodes } from './recent-nodes.ts';

// What a question is given, and the type of a row in the table of questions.

/** The sources besides the API server. */
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
  /**
   * Nodes and PersistentVolumes have no namespace, so a controller that is limited to some namespaces may lack the
   * right to read them.
   */
  readonly mayLackNodes: boolean;
  /** Whether dry runs find out if the next pods of members are admitted (`--dry-run-pods`). */
  readonly triesPods: boolean;
}

/** A cluster at its last observation, and the decision. */
export interface Observed {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly settings: Settings;
  readonly decision: Decision;
  readonly heldForSeconds: number;
  readonly now: string;
  /** On the monotonic clock. */
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

/** Asks, and notes how long that took. Rejects as `ask` does. */
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

/** Inputs of facts besides the answer. */
export interface Given {
  readonly key: string;
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly policy: RolloutPolicy;
  readonly settings: Pick<Settings, 'checks'>;
  readonly sources: Pick<Sources, 'mysql'> & {
    readonly cache: Pick<Cache, 'replicaClustersAt'>;
    readonly checks: Pick<Sources['checks'], 'factsFor'>;
  };
  readonly ages: Ages;
  readonly nowMilliseconds: number;
}

/** Fields of a status. One that is `undefined` is left out. */
export type Fields<Of> = { readonly [Field in keyof Of]?: Of[Field] | undefined };

/** What a confirmation asks, and how many requests to the API server that takes. */
export interface Confirmation<Answer> {
  readonly requests: number;
  /** Rejects with `ApiError`. */
  readonly ask: (api: ClusterApi) => Promise<Answer>;
}

/**
 * A row of the table: everything about one kind of question except the rules that ask it, which are in the core. The
 * texts are for SPEC.md.
 */
export interface Row<
  Kind extends QuestionKind,
  Answer,
  Facts extends Partial<ClusterSnapshot> = object,
  Member extends Partial<MemberFacts> = object,
> {
  /** Who is asked, and what. */
  readonly asks: string;
  /** How old an answer may be. */
  readonly lasts: string;
  /** What the absence of an answer means. */
  readonly silence: string;
  /** The answer before anything is known. */
  readonly initial: Answer;
  /** Asking uses the cluster's turn in the fleet, so the decision to ask is made again right before. */
  readonly inTurn?: true;
  /**
   * Resolves to the answer, or to `null` if nothing new is known yet. Rejects with `ApiError`: then this pass does no
   * step. A row without this is only asked before a write.
   */
  ask?(question: QuestionOf<Kind>, asking: Asking<ClusterApi>, before: Answer): Promise<Answer | null>;
  /** What is kept of the answer while the core does not ask. Without this an answer stays until the next one. */
  keep?(answer: Answer, observed: Observed): Answer;
  /** The facts that follow from the answer. Whatever was not asked is stated as unknown. */
  facts(answer: Answer, given: Given): Facts;
  /** The same for each member. `cluster` has the facts of all rows. */
  memberFacts?(answer: Answer, given: Given, cluster: Partial<ClusterSnapshot>): (pod: PodRecord) => Member;
  /** How it is asked again right before the write of a step. `null`: its last answer counts. */
  confirm: {
    /**
     * `beforeClock`: members may take longer than a confirmation lasts. `withObjects`: in parallel with the objects of
     * the cluster.
     */
    readonly order: 'beforeClock' | 'withObjects';
    plan(question: QuestionOf<Kind>, asking: Omit<Asking, 'api'>, before: Answer): Confirmation<Answer>;
    /** The answer counts in this confirmation alone. */
    readonly isForgotten?: true;
    /** The step depends on something that was not asked. */
    isOvertaken?(answer: Answer, objects: ClusterObjects, sources: Sources): boolean;
  } | null;
  /** What users see. */
  status: {
    /**
     * While the answer is outstanding: the hold of the rule that asks, the hold before it, or nothing, since the answer
     * starts another pass at once.
     */
    readonly whileOutstanding: 'its hold' | 'the hold before' | 'nothing';
    /** Fields of the status. */
    readonly shows?: string;
    fields?(answer: Answer, observed: Observed): Fields<RolloutStatus>;
    memberFields?(answer: Answer, observed: Observed, ordinal: number): Fields<MemberStatus>;
    /** Seconds until these fields change by themselves. */
    changesInSeconds?(observed: Observed): number | null;
  };
}
