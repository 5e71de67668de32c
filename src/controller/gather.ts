import type { RolloutPolicy } from '../core/policy.ts';
import type { BudgetFacts, ClusterSnapshot, RolloutMemory } from '../core/snapshot.ts';
import type { World } from '../kube/world.ts';
import type { BudgetRecord, ClusterObjects } from '../moco/records.ts';
import { objectFacts } from '../moco/snapshot.ts';
import { milliseconds } from '../moco/timestamp.ts';
import { type ClusterState, type Refusal, untold } from './cluster-state.ts';
import { unseen } from './own-writes.ts';
import type { MySQLRollout, RolloutStatus } from './rollout-resource.ts';
import { wishesOf } from './wishes.ts';

/** One look at a cluster: the objects, and what `decide` gets of them. */
export interface Gathered {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
}

/**
 * Makes the facts of a decision from objects, cached or just read. `live` ones show every write of ours by
 * definition; cached ones are behind them until they do.
 */
export function gather(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  state: ClusterState,
  defaults: RolloutPolicy,
  world: World,
  source: 'live' | 'cached',
): Gathered {
  if (source === 'cached') {
    state.ownWrites = unseen(state.ownWrites, objects, world.monotonic());
  }
  const { policy, problem } = wishesOf(rollout?.spec, defaults);
  const revision = objects.statefulSet?.updateRevision ?? '';
  const status = rollout?.status;
  const snapshot = state.ages.look((): ClusterSnapshot => {
    const demotionAskedAt = status?.rollout?.tries?.askedAt ?? null;
    const { budgets, ...facts } = objectFacts(objects, state.ages, { demotionAskedAt });
    return {
      ...facts,
      budgets: budgets.map((budget) => budgetFacts(budget, state.refusal, world)),
      memory: memoryOf(rollout, revision, state),
      // A cluster is neither queued nor handed back as long as there is no fleet limit and no hand-back.
      createFailure: null,
      handedBack: false,
      fleetQueue: null,
      fleetInterval: null,
      webhookProblem: null,
      promotion: null,
      handBackRefusal: null,
      policyProblem: problem,
      ownWritePending: source === 'live' ? null : (state.ownWrites[0]?.what ?? null),
    };
  });
  return { objects, rollout, snapshot, policy };
}

function budgetFacts(budget: BudgetRecord, refusal: Refusal | null, world: World): BudgetFacts {
  const stands = refusal !== null && refusal.budgets.get(budget.name) === budget.resourceVersion;
  return {
    ...budget,
    refusal: stands ? refusal.message : null,
    refusedForSeconds: stands ? (world.monotonic() - refusal.atMilliseconds) / 1000 : 0,
  };
}

/** A take-back that the status doesn't have yet counts already: it must not be asked for again at once. */
function memoryOf(rollout: MySQLRollout | null, revision: string, state: ClusterState): RolloutMemory {
  const { ages } = state;
  const status: RolloutStatus = rollout?.status ?? {};
  const object = rollout?.metadata ?? { uid: '', resourceVersion: '' };
  const age = (fact: string, timestamp: string | undefined): number =>
    timestamp === undefined ? 0 : ages.since(object, fact, timestamp, milliseconds(timestamp));
  const progress = status.rollout?.revision === revision ? status.rollout : null;
  const ended = untold(status, state);
  const takenBackNow = ended?.revision === revision && ended.result === 'done' && ended.demotion === 'takenBack';
  const sinceLastTrySeconds = age('try', progress?.tries?.lastEndedAt);
  return {
    proven: progress?.proven ?? false,
    takenDown: progress?.takenDown ?? [],
    updatedOutOfTurn: [],
    sinceProgressSeconds: age('progress', progress?.lastProgressAt),
    switchoverTries: (progress?.tries?.count ?? 0) + (takenBackNow ? 1 : 0),
    sinceLastTrySeconds: takenBackNow ? 0 : sinceLastTrySeconds,
    recentRevisionAgesSeconds: (status.recentRevisions ?? []).map(({ revision: seen, firstSeenAt }) =>
      age(`revision ${seen} ${firstSeenAt}`, firstSeenAt),
    ),
  };
}
