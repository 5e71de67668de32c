import { isPolicySource, type PolicyRecord, policyKind } from '../../api/policy.ts';
import { type MySQLRollout, rolloutProblem } from '../../api/rollout.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { sequenceKind } from '../../api/sequence.ts';
import { defaultPolicy, type RolloutPolicy } from '../../core/policy.ts';
import { flappingWindowSeconds } from '../../core/rules/everything.ts';
import type { BudgetFacts, ClusterSnapshot, RolloutMemory, StepFailure } from '../../core/snapshot.ts';
import type { World } from '../../kube/world.ts';
import type { BudgetRecord, ClusterObjects, PodRecord } from '../../moco/records.ts';
import { objectFacts } from '../../moco/snapshot.ts';
import { milliseconds, timestampOf } from '../../moco/timestamp.ts';
import { keeperKnown } from './admission-memory.ts';
import { keyOf } from './cache.ts';
import { type ClusterState, type FailedStep, type Refusal, unreported } from './cluster-state.ts';
import { comebackFacts } from './comeback.ts';
import { contentionFacts, noteWrites } from './contention.ts';
import type { Dependencies } from './dependencies.ts';
import { inPlaceUpdate } from './in-place.ts';
import { maintenanceFacts } from './maintenance.ts';
import { inForce, modeOf, settingsWithoutEffect, strategyShown } from './mode.ts';
import { mysqlFacts } from './mysql-facts.ts';
import { unseen } from './own-writes.ts';
import { delayFacts } from './replication-delays.ts';
import { waitedOnRequest } from './requested-wait.ts';
import { type Settings, settingsOf, settingsUnknown } from './settings.ts';
import { refusalStands } from './status-refusal.ts';

/** The facts about a cluster: its objects, its settings, and the inputs of `decide` that follow from both. */
export interface ObservedFacts {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly settings: Settings;
  /** The strategy that currently replaces pods, as the status shows it. */
  readonly strategyShown: string;
  /** The names of the fields of `spec` that are set but have no effect. */
  readonly withoutEffect: readonly string[];
}

/**
 * Collects the facts for a decision from objects that are cached or were just read. `live` objects show all own
 * writes; `cached` objects may be older. `policies` are the policies that were just read, if any.
 */
export function collectFacts(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  state: ClusterState,
  dependencies: Dependencies,
  source: 'live' | 'cached',
  policies?: readonly PolicyRecord[],
): ObservedFacts {
  const { world, cache, defaults, strategies, fleet, checks } = dependencies;
  const { cluster, statefulSet } = objects;
  if (source === 'cached') {
    state.ownWrites = unseen(state.ownWrites, objects, world.monotonic());
  }
  const sources = { rollout: rollout?.spec, ...cache.settingsSources(cluster), ...(policies && { policies }) };
  noteRevision(state, statefulSet?.updateRevision ?? '', world);
  noteWrites(state, statefulSet, world);
  const unreadable = policiesUnreadable(cache, rollout);
  const settings =
    unreadable === null
      ? settingsOf(sources, defaults, world.wall())
      : settingsUnknown(defaults, unreadable, wasPaused(rollout));
  const mode = modeOf(strategies, settings.strategy, statefulSet?.labelled === true);
  const status = rollout?.status;
  const wasAdopted = status?.strategy === 'OnDelete';
  const isAdopted = statefulSet?.labelled === true || (mode === 'OnDelete' && wasAdopted && !cluster.released);
  const ageOf = (atMilliseconds: number): number => (world.monotonic() - atMilliseconds) / 1000;
  const key = keyOf(cluster.namespace, cluster.name);
  const policy = inForce(settings.policy, mode, defaultPolicy, isAdopted, strategies.inPlaceEnabled);
  const inPlace = (pod: PodRecord) => inPlaceUpdate(pod, objects, policy.inPlaceUpdates, state.inPlace, state.ages);
  const comeback = (pod: PodRecord) => comebackFacts(pod, state, statefulSet?.updateRevision ?? '', world.monotonic());
  const snapshot = state.ages.observe((): ClusterSnapshot => {
    const demotionAskedAt = status?.rollout?.tries?.askedAt ?? null;
    const { budgets, ...facts } = objectFacts(objects, state.ages, { demotionAskedAt }, inPlace, comeback);
    const { releaseRefusal: refusal, admissionProblem: admission, adoptions } = state;
    return {
      ...facts,
      ...fleet.factsFor(key, mode, statefulSet?.updateRevision ?? '', sequencesUnreadable(cache)),
      budgets: budgets.map((budget) => budgetFacts(budget, state.refusal, world)),
      maintenance: mode === 'Observe' ? null : maintenanceFacts(settings.maintenance, status ?? {}, world.wall()),
      checks: mode === 'Observe' ? [] : checks.factsFor(key, settings.checks),
      contention: contentionFacts(state, objects, world),
      replicationDelays: delayFacts(state, world.monotonic()),
      mysql: mysqlFacts(dependencies, state, world.monotonic()),
      memory: memoryOf(rollout, statefulSet?.updateRevision ?? '', state),
      createFailure: state.createFailure?.message ?? null,
      released: cluster.released,
      wasAdopted,
      admissionProblem: admission && {
        mode: admission.mode,
        finding: admission.finding,
        tries: admission.tries,
        sinceSeconds: ageOf(admission.atMilliseconds),
      },
      strategyKeeper: keeperKnown(state, world),
      adoptionAgesSeconds: adoptions?.uid === statefulSet?.uid ? (adoptions?.atMilliseconds ?? []).map(ageOf) : [],
      promotion: status?.promotion ?? null,
      releaseRefusal: refusal && { message: refusal.message, sinceSeconds: ageOf(refusal.atMilliseconds) },
      rolloutProblem: rolloutProblem(cluster, rollout),
      stepFailure: stepFailureFacts(state.stepFailure, ageOf),
      settingsProblem: settings.problem,
      statusRefusal: refusalStands(state, world.monotonic()) > 0 ? (state.statusRefusal?.message ?? null) : null,
      ownWritePending: source === 'live' ? null : (state.ownWrites[0]?.what ?? null),
    };
  });
  return {
    objects,
    rollout,
    snapshot,
    policy,
    settings,
    strategyShown: strategyShown(strategies, isAdopted),
    withoutEffect: settingsWithoutEffect(
      mode,
      strategies,
      settings.sources,
      isAdopted,
      dependencies.mysql !== undefined,
    ),
  };
}

/**
 * Why the settings of this cluster are not known: any policy may select it, pause it, or give it another strategy. `null`
 * if policies can be read, if there is no such kind, or if the controller is meant to work without them and none was in
 * force.
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

function wasPaused(rollout: MySQLRollout | null): boolean {
  return rollout?.status?.settings?.paused?.value === true;
}

function stepFailureFacts(failed: FailedStep | null, ageOf: (atMilliseconds: number) => number): StepFailure | null {
  if (failed === null) return null;
  const { atMilliseconds, ...facts } = failed;
  return { ...facts, sinceLastTrySeconds: ageOf(atMilliseconds) };
}

/**
 * Changes of the update revision may follow each other before the status is written, and MOCO may revert one at once.
 */
function noteRevision(state: ClusterState, value: string, world: World): void {
  const before = state.updateRevision;
  if (value === '' || before?.value === value) return;
  const changed = { atMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
  state.updateRevision = { value, changed: before === null ? null : changed };
}

function budgetFacts(budget: BudgetRecord, refusal: Refusal | null, world: World): BudgetFacts {
  const stands = refusal !== null && refusal.budgets.get(budget.name) === budget.resourceVersion;
  return {
    ...budget,
    awaiting: Object.keys(budget.disruptedPods).length,
    refusal: stands ? refusal.message : null,
    refusedForSeconds: stands ? (world.monotonic() - refusal.atMilliseconds) / 1000 : 0,
  };
}

/**
 * When the update revision changed, the newest last, and whether the rollout to it is complete. A change begins a rollout
 * unless no member is stale; then it shows as the end of the previous rollout.
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

/** A failed try counts before the status has it: the switchover must not be requested again at once. */
function memoryOf(rollout: MySQLRollout | null, revision: string, state: ClusterState): RolloutMemory {
  const { ages } = state;
  const status: RolloutStatus = rollout?.status ?? {};
  const object = rollout?.metadata ?? { uid: '', resourceVersion: '' };
  const age = (fact: string, timestamp: string | undefined): number =>
    timestamp === undefined ? 0 : ages.since(object, fact, timestamp, milliseconds(timestamp));
  const progress = status.rollout?.revision === revision ? status.rollout : null;
  const ended = unreported(status, state);
  const failedNow = ended?.revision === revision && ended.result === 'done' && ended.demotion === 'timedOut';
  const movedAt = state.moved?.revision === revision ? state.moved.at : progress?.lastProgressAt;
  const sinceLastTrySeconds = age('try', progress?.tries?.lastEndedAt);
  return {
    verified: progress?.verified ?? false,
    failing: progress?.failing ? { member: progress.failing.ordinal, message: progress.failing.message } : null,
    takenDown: progress?.takenDown ?? [],
    waiting: progress?.waiting ?? null,
    from: progress?.from ?? null,
    // It is about pods, whatever the template has become since.
    restoring: status.rollout?.restoring ?? [],
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
