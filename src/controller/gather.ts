import { defaultPolicy, type RolloutPolicy } from '../core/policy.ts';
import type { BudgetFacts, ClusterSnapshot, RolloutMemory } from '../core/snapshot.ts';
import type { World } from '../kube/world.ts';
import type { BudgetRecord, ClusterObjects } from '../moco/records.ts';
import { objectFacts } from '../moco/snapshot.ts';
import { milliseconds } from '../moco/timestamp.ts';
import { keyOf } from './cache.ts';
import { type ClusterState, type Refusal, untold } from './cluster-state.ts';
import type { Surroundings } from './context.ts';
import { isHandedBack } from './handed-back.ts';
import { inForce, modeOf, wishesWithoutEffect } from './mode.ts';
import { unseen } from './own-writes.ts';
import { isPolicySource, type PolicyRecord, policyKind } from './policy-resource.ts';
import { wasAskedToWait } from './progress.ts';
import { type MySQLRollout, type RolloutStatus, rolloutProblem } from './rollout-resource.ts';
import { stepFailureFacts } from './step-failure.ts';
import { type Wishes, wishesOf, wishesUnknown } from './wishes.ts';

/** One look at a cluster: the objects, what people have said, and what `decide` gets of both. */
export interface Gathered {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly wishes: Wishes;
  /** The fields of `spec` that somebody has set and that change nothing, by name. */
  readonly withoutEffect: readonly string[];
}

/**
 * Makes the facts of a decision from objects, cached or just read. `live` ones show every write of ours by
 * definition; cached ones are behind them until they do. `policies` are those just read, where they were.
 */
export function gather(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  state: ClusterState,
  surroundings: Surroundings,
  source: 'live' | 'cached',
  policies?: readonly PolicyRecord[],
): Gathered {
  const { world, cache, defaults, strategies, fleet } = surroundings;
  const { cluster, statefulSet } = objects;
  if (source === 'cached') {
    state.ownWrites = unseen(state.ownWrites, objects, world.monotonic());
  }
  const said = { rollout: rollout?.spec, ...cache.said(cluster), ...(policies && { policies }) };
  noteRevision(state, statefulSet?.updateRevision ?? '', world);
  const wishes = policiesLost(cache, rollout)
    ? wishesUnknown(defaults, policiesMayNotBeRead)
    : wishesOf(said, defaults, world.wall());
  const mode = modeOf(strategies, wishes.strategy, statefulSet?.labelled === true);
  const status = rollout?.status;
  const ageOf = (atMilliseconds: number): number => (world.monotonic() - atMilliseconds) / 1000;
  const snapshot = state.ages.look((): ClusterSnapshot => {
    const demotionAskedAt = status?.rollout?.tries?.askedAt ?? null;
    const { budgets, ...facts } = objectFacts(objects, state.ages, { demotionAskedAt });
    const { handBackRefusal: refusal, admissionProblem: admission, adoptions } = state;
    return {
      ...facts,
      ...fleet.factsFor(keyOf(cluster.namespace, cluster.name), mode),
      budgets: budgets.map((budget) => budgetFacts(budget, state.refusal, world)),
      memory: memoryOf(rollout, statefulSet?.updateRevision ?? '', state),
      createFailure: state.createFailure?.message ?? null,
      handedBack: isHandedBack(rollout),
      admissionProblem: admission && {
        mode: admission.mode,
        finding: admission.finding,
        tries: admission.tries,
        sinceSeconds: ageOf(admission.atMilliseconds),
      },
      adoptionAgesSeconds: adoptions?.uid === statefulSet?.uid ? (adoptions?.atMilliseconds ?? []).map(ageOf) : [],
      promotion: status?.promotion ?? null,
      handBackRefusal: refusal && { message: refusal.message, sinceSeconds: ageOf(refusal.atMilliseconds) },
      rolloutProblem: rolloutProblem(cluster, rollout),
      stepFailure: stepFailureFacts(state.stepFailure, world),
      policyProblem: wishes.problem,
      fieldsNotKept: state.notKept?.fields ?? [],
      ownWritePending: source === 'live' ? null : (state.ownWrites[0]?.what ?? null),
    };
  });
  return {
    objects,
    rollout,
    snapshot,
    policy: inForce(wishes.policy, mode, defaultPolicy),
    wishes,
    withoutEffect: wishesWithoutEffect(mode, strategies, wishes.sources),
  };
}

const policiesMayNotBeRead =
  'expected to read the MySQLRolloutPolicies, one of which was in force, and may not; let the controller get, list and watch mysqlrolloutpolicies';

/** A policy was in force and none can be read any more: the flags' values would be another strategy, perhaps. */
function policiesLost({ unavailable }: Surroundings['cache'], rollout: MySQLRollout | null): boolean {
  const sources = Object.values(rollout?.status?.effectivePolicy ?? {});
  return unavailable.get(policyKind.kind) === 'Forbidden' && sources.some(({ source }) => isPolicySource(source));
}

/** The status may not have been written between two changes, and MOCO may undo one of them within a moment. */
function noteRevision(state: ClusterState, value: string, world: World): void {
  const before = state.updateRevision;
  if (value === '' || before?.value === value) return;
  const came = { atMilliseconds: world.monotonic(), wallMilliseconds: world.wall() };
  state.updateRevision = { value, came: before === null ? null : came };
}

function budgetFacts(budget: BudgetRecord, refusal: Refusal | null, world: World): BudgetFacts {
  const stands = refusal !== null && refusal.budgets.get(budget.name) === budget.resourceVersion;
  return {
    ...budget,
    refusal: stands ? refusal.message : null,
    refusedForSeconds: stands ? (world.monotonic() - refusal.atMilliseconds) / 1000 : 0,
  };
}

/** A failed try that the status doesn't have yet counts already: it must not be asked for again at once. */
function memoryOf(rollout: MySQLRollout | null, revision: string, state: ClusterState): RolloutMemory {
  const { ages } = state;
  const status: RolloutStatus = rollout?.status ?? {};
  const object = rollout?.metadata ?? { uid: '', resourceVersion: '' };
  const age = (fact: string, timestamp: string | undefined): number =>
    timestamp === undefined ? 0 : ages.since(object, fact, timestamp, milliseconds(timestamp));
  const progress = status.rollout?.revision === revision ? status.rollout : null;
  const ended = untold(status, state);
  const failedNow = ended?.revision === revision && ended.result === 'done' && ended.demotion === 'timedOut';
  const movedAt = state.moved?.revision === revision ? state.moved.at : progress?.lastProgressAt;
  const sinceLastTrySeconds = age('try', progress?.tries?.lastEndedAt);
  return {
    proven: progress?.proven ?? false,
    takenDown: progress?.takenDown ?? [],
    updatedOutOfTurn: progress?.updatedOutOfTurn ?? [],
    sinceProgressSeconds: wasAskedToWait(status) ? 0 : age('progress', movedAt),
    switchoverTries: (progress?.tries?.count ?? 0) + (failedNow ? 1 : 0),
    sinceLastTrySeconds: failedNow ? 0 : sinceLastTrySeconds,
    recentRevisionAgesSeconds: (status.recentRevisions ?? []).map(({ revision: seen, firstSeenAt }) =>
      age(`revision ${seen} ${firstSeenAt}`, firstSeenAt),
    ),
  };
}
