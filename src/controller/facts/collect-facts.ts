import type { Check } from '../../api/check-settings.ts';
import { type MySQLRollout, rolloutProblem } from '../../api/rollout.ts';
import { isPolicySource, type PolicyRecord, policyKind } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds, timestampOf } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { CheckFacts } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { isRequestedByUser } from '../../core/rules/catalogue.ts';
import { flappingWindowSeconds } from '../../core/rules/everything.ts';
import type { MemberName } from '../../core/rules/rule.ts';
import type { BudgetFacts, ClusterSnapshot, RolloutMemory } from '../../core/snapshot.ts';
import { nameOf } from '../../kube/store.ts';
import { objectFacts } from '../../moco/cluster-facts.ts';
import type { BudgetRecord, ClusterObjects, PodRecord } from '../../moco/records.ts';
import { Cache } from '../../objects/cache.ts';
import { contentionFacts } from './contention.ts';
import { inPlaceUpdate } from './in-place-updates.ts';
import { unreported } from './last-step.ts';
import { maintenanceFacts } from './maintenance-facts.ts';
import { keeperKnown, type Memory, type Refusal, refusalStands } from './memory.ts';
import {
  modeByPartition,
  modeOf,
  policyForMode,
  type StrategySettings,
  settingsWithoutEffect,
  type WithoutEffect,
} from './mode.ts';
import { fetches, lastPreflight, preflightFacts, preflightOf } from './preflight-facts.ts';
import { answerFacts, mysqlFacts, recreatableFacts } from './readings.ts';
import { type DefaultSettings, type Settings, settingsOf, settingsUnknown } from './settings-in-force.ts';

/** What facts follow from apart from the objects of the cluster and what is known of it. */
export interface Dependencies {
  readonly cache: Pick<Cache, 'settingsSources' | 'unavailable'>;
  readonly world: Pick<World, 'wall' | 'monotonic'>;
  /** The values of the flags, for fields that the user leaves out. */
  readonly defaults: DefaultSettings;
  readonly strategies: StrategySettings;
  readonly fleet: {
    factsFor(key: string, mode: RolloutPolicy['mode'], revision: string, unreadable: string | null): FleetFacts;
  };
  readonly checks: { factsFor(key: string, checks: readonly Check[]): readonly CheckFacts[] };
  /** Who asks MySQL itself. `undefined` while the feature gate `ReplicationFacts` is off. */
  readonly mysql?: object | undefined;
}

/** What other clusters mean for one of them. */
export type FleetFacts = Pick<
  ClusterSnapshot,
  'fleetWaits' | 'fleetQueue' | 'fleetInterval' | 'laterStageWaits' | 'unobservedEvictions'
>;

/** The facts about a cluster: its objects, its settings, and the inputs of `decide` that follow from both. */
export interface ObservedFacts {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly settings: Settings;
  /**
   * The strategy that currently replaces pods, as the status shows it. It is OnDelete from the adoption of the
   * StatefulSet to its release, even while a pause delays either.
   */
  readonly strategyShown: RolloutPolicy['mode'];
  readonly withoutEffect: readonly WithoutEffect[];
}

/**
 * Collects the facts for a decision from objects that are cached or were just read, and notes in `memory.seen.ages`
 * since when they are so. `policies` are the policies that were just read, if any.
 */
export function collectFacts(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  memory: Memory,
  dependencies: Dependencies,
  policies?: readonly PolicyRecord[],
): ObservedFacts {
  const { world, cache, defaults, strategies, fleet, checks, mysql } = dependencies;
  const { cluster, statefulSet } = objects;
  const { unseen, readings, steps, told } = memory;
  const { ages } = memory.seen;
  const sources = { rollout: rollout?.spec, ...cache.settingsSources(cluster), ...(policies && { policies }) };
  const unreadable = policiesUnreadable(cache, rollout);
  const settings =
    unreadable === null
      ? settingsOf(sources, defaults, world.wall())
      : settingsUnknown(defaults, unreadable, rollout?.status?.settings?.paused?.value === true);
  const mode = modeOf(strategies, settings.strategy, statefulSet?.labelled === true);
  const status = rollout?.status;
  const wasAdopted = status?.strategy === 'OnDelete';
  const isAdopted = statefulSet?.labelled === true || (mode === 'OnDelete' && wasAdopted && !cluster.released);
  const ageOf = (atMilliseconds: number): number => (world.monotonic() - atMilliseconds) / 1000;
  const key = nameOf(cluster);
  const policy = policyForMode(settings.policy, mode, isAdopted, strategies.inPlaceEnabled);
  const lastAsked = lastPreflight(readings.preflight, rollout);
  const askedAge = (fact: string, timestamp: string) =>
    ages.since(rollout?.metadata ?? noObject, fact, timestamp, milliseconds(timestamp));
  const recreatable = (pod: PodRecord) =>
    recreatableFacts(pod, readings, statefulSet?.updateRevision ?? '', world.monotonic());
  const snapshot = ages.observe((): ClusterSnapshot => {
    const preflight = preflightFacts(objects, policy, lastAsked, askedAge);
    const willHave =
      preflight === null
        ? undefined
        : fetches(preflight, preflightOf(objects, policy, lastAsked), policy, askedAge, ageOf);
    const inPlace = (pod: PodRecord) =>
      inPlaceUpdate(pod, objects, policy.inPlaceUpdates, readings.inPlace, ages, willHave);
    const demotionAskedAt = status?.rollout?.tries?.askedAt ?? null;
    const { budgets, ...facts } = objectFacts(objects, ages, demotionAskedAt, inPlace, recreatable);
    const { releaseRefusal: refusal, admissionProblem: admission, adoptions } = steps;
    return {
      ...facts,
      ...fleet.factsFor(key, mode, statefulSet?.updateRevision ?? '', sequencesUnreadable(cache)),
      budgets: budgets.map((budget) => budgetFacts(budget, steps.refusal, world)),
      maintenance: mode === 'MOCO' ? null : maintenanceFacts(settings.maintenance, status ?? {}, world.wall()),
      checks: mode === 'MOCO' ? [] : checks.factsFor(key, settings.checks),
      contention: contentionFacts(
        memory.seen.specWrites,
        steps.lowered,
        readings.altered?.fields ?? [],
        objects,
        world.monotonic(),
      ),
      replicationDelays: [...readings.replicationDelays].map(([uid, one]) => ({
        uid,
        ...answerFacts(one, world.monotonic()),
      })),
      mysql: mysql === undefined ? null : mysqlFacts(readings.mysql, world.monotonic()),
      preflight,
      memory: memoryOf(rollout, statefulSet?.updateRevision ?? '', memory),
      createFailure: readings.createFailure?.message ?? null,
      released: cluster.released,
      wasAdopted,
      admissionProblem: admission && {
        mode: admission.mode,
        finding: admission.finding,
        tries: admission.tries,
        sinceSeconds: ageOf(admission.atMilliseconds),
      },
      strategyKeeper: keeperKnown(steps.strategyKeeper, world.monotonic()),
      adoptionAgesSeconds: adoptions?.uid === statefulSet?.uid ? (adoptions?.atMilliseconds ?? []).map(ageOf) : [],
      promotion: status?.promotion ?? null,
      releaseRefusal: refusal && { message: refusal.message, sinceSeconds: ageOf(refusal.atMilliseconds) },
      rolloutProblem: rolloutProblem(cluster, rollout),
      stepFailure: steps.failure && {
        ...steps.failure.failure,
        sinceLastTrySeconds: ageOf(steps.failure.atMilliseconds),
      },
      settingsProblem: settings.problem,
      statusRefusal:
        refusalStands(told.statusRefusal, world.monotonic()) > 0 ? (told.statusRefusal?.message ?? null) : null,
      ownWritePending: unseen.writes[0]?.what ?? null,
    };
  });
  return {
    objects,
    rollout,
    snapshot,
    policy,
    settings,
    strategyShown: isAdopted ? 'OnDelete' : modeByPartition(strategies.partitionDriver),
    withoutEffect: settingsWithoutEffect(mode, strategies, settings.sources, isAdopted, mysql !== undefined),
  };
}

/**
 * Why the settings of this cluster are not known: any policy may select it, pause it, or give it another strategy.
 * `null` if policies can be read, if there is no such kind, or if the controller is meant to work without them and none
 * was in force.
 */
function policiesUnreadable({ unavailable }: Dependencies['cache'], rollout: MySQLRollout | null): string | null {
  const policies = unavailable.get(policyKind.kind);
  if (policies === undefined || policies.why === 'NotFound') return null;
  const wasInForce = Object.values(rollout?.status?.settings ?? {}).some(({ source }) => isPolicySource(source));
  if (policies.isIntended && !wasInForce) return null;
  const before = wasInForce ? 'a MySQLRolloutPolicy was in force, and the' : 'the';
  const right = policies.why === 'Forbidden' ? '; let it get, list and watch mysqlrolloutpolicies' : '';
  return `${before} controller cannot read MySQLRolloutPolicies${right}: ${policies.message}`;
}

/** Why it is not known which clusters go first, or `null`. */
function sequencesUnreadable({ unavailable }: Dependencies['cache']): string | null {
  const sequences = unavailable.get(sequenceKind.kind);
  if (sequences === undefined || sequences.why === 'NotFound' || sequences.isIntended) return null;
  return sequences.message;
}

function budgetFacts(budget: BudgetRecord, refusal: Refusal | null, world: Pick<World, 'monotonic'>): BudgetFacts {
  const stands = refusal !== null && refusal.budgets.get(budget.name) === budget.resourceVersion;
  return {
    ...budget,
    awaiting: Object.keys(budget.disruptedPods).length,
    refusal: stands ? refusal.message : null,
    refusedForSeconds: stands ? (world.monotonic() - refusal.atMilliseconds) / 1000 : 0,
  };
}

/**
 * When the update revision changed, the newest last, and whether the rollout to it is complete. A change begins a
 * rollout unless no member is stale; then it shows as the end of the previous rollout.
 */
function revisionChanges({ history = [], rollout }: RolloutStatus): ReadonlyMap<string, boolean> {
  const ended = history.flatMap(({ startedAt, finishedAt, outcome }): readonly [string, boolean][] =>
    outcome === 'Superseded'
      ? [
          [startedAt, false],
          [finishedAt, false],
        ]
      : [[startedAt, true]],
  );
  return new Map([...ended, ...(rollout ? [[rollout.startedAt, false] as const] : [])]);
}

const noObject = { uid: '', resourceVersion: '' };

/** A failed try counts before the status has it: the switchover must not be requested again at once. */
function memoryOf(rollout: MySQLRollout | null, revision: string, own: Memory): RolloutMemory {
  const { ages, moved } = own.seen;
  const status: RolloutStatus = rollout?.status ?? {};
  const object = rollout?.metadata ?? noObject;
  const age = (fact: string, timestamp: string | undefined): number =>
    timestamp === undefined ? 0 : ages.since(object, fact, timestamp, milliseconds(timestamp));
  const progress = status.rollout?.revision === revision ? status.rollout : null;
  const ended = unreported(status, own);
  const failedNow = ended?.revision === revision && ended.result === 'done' && ended.demotion === 'timedOut';
  const movedAt = moved?.revision === revision ? moved.at : progress?.lastProgressAt;
  const sinceLastTrySeconds = age('try', progress?.tries?.lastEndedAt);
  return {
    verified: progress?.verified ?? false,
    failing: progress?.failing ? { member: progress.failing.ordinal, message: progress.failing.message } : null,
    takenDown: progress?.takenDown ?? [],
    waiting: progress?.waiting ?? null,
    from: progress?.from ?? null,
    // It is about pods, whatever the template has become since.
    taken: (status.rollout?.unavailableMembers ?? []).flatMap(({ ordinal, uid, restores = false }) =>
      uid === undefined ? [] : [{ ordinal, uid, restores }],
    ),
    updatedOutOfBand: progress?.updatedOutOfBand ?? [],
    createdWhileHeld: progress?.createdWhileHeld ?? [],
    sinceProgressSeconds: waitedOnRequest(status) ? 0 : age('progress', movedAt),
    switchoverTries: (progress?.tries?.count ?? 0) + (failedNow ? 1 : 0),
    sinceLastTrySeconds: failedNow ? 0 : sinceLastTrySeconds,
    recentRevisions: [...revisionChanges(status)].map(([at, completed]) => ({
      ageSeconds: age(`revision ${at}`, at),
      oldAt: timestampOf((milliseconds(at) ?? 0) + flappingWindowSeconds * 1000),
      completed,
    })),
  };
}

/** No progress is expected while a user requests the wait. */
export const waitedOnRequest = ({ hold }: RolloutStatus): boolean => hold !== undefined && isRequestedByUser(hold.rule);

/** How messages about a cluster name its members. */
export function memberName({ objects }: Pick<ObservedFacts, 'objects'>): MemberName {
  const stem = objects.statefulSet?.name ?? `moco-${objects.cluster.name}`;
  return (ordinal) => `${stem}-${ordinal}`;
}
