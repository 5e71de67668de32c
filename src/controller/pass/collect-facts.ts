import { type MySQLRollout, rolloutProblem } from '../../api/rollout.ts';
import { isPolicySource, policyKind, policySource } from '../../api/rollout-policy.ts';
import type { RolloutProgress } from '../../api/rollout-progress.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds, timestampOf } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { isRequestedByUser } from '../../core/rules/catalogue.ts';
import { flappingWindowSeconds } from '../../core/rules/everything.ts';
import type { BudgetFacts, ClusterSnapshot, RolloutMemory } from '../../core/snapshot.ts';
import { nameOf } from '../../kube/store.ts';
import { objectFacts, type SelectingBudget } from '../../moco/cluster-facts.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { Cache } from '../../objects/cache.ts';
import { contentionFacts } from '../facts/contention.ts';
import { type KnownPolicies, policiesAfter, policyGone } from '../facts/gone-policies.ts';
import { unreported } from '../facts/last-step.ts';
import { maintenanceFacts } from '../facts/maintenance-facts.ts';
import {
  modeByPartition,
  modeOf,
  policyForMode,
  type StrategySettings,
  settingsWithoutEffect,
  type WithoutEffect,
} from '../facts/mode.ts';
import { type DefaultSettings, type Settings, settingsOf, settingsUnknown } from '../facts/settings-in-force.ts';
import type { FleetFacts } from '../fleet/fleet-limits.ts';
import type { Given } from '../questions/asking.ts';
import { factsOf } from '../questions/questions.ts';
import { keeperKnown, type Memory, type Refusal, refusalStands } from './memory.ts';

// Collects the inputs of a decision from objects, settings and memory.

/** The sources of facts apart from the objects of the cluster and its memory. */
export interface Dependencies {
  readonly cache: Pick<Cache, 'settingsSources' | 'unavailable' | 'replicaClustersAt'>;
  readonly world: Pick<World, 'wall' | 'monotonic'>;
  /** The values of the flags, for fields that the user leaves unset. */
  readonly defaults: DefaultSettings;
  readonly strategies: StrategySettings;
  readonly fleet: {
    factsFor(key: string, mode: RolloutPolicy['mode'], revision: string, unreadable: string | null): FleetFacts;
  };
  readonly checks: Given['sources']['checks'];
  readonly knownNodes: Given['sources']['knownNodes'];
  /** `undefined` while the feature gate `ReplicationFacts` is off. */
  readonly mysql?: Given['sources']['mysql'];
}

/** The facts about a cluster: its objects, its settings, and the inputs of `decide` that follow from both. */
export interface ObservedFacts {
  readonly objects: ClusterObjects;
  readonly rollout: MySQLRollout | null;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  readonly settings: Settings;
  readonly knownPolicies: KnownPolicies;
  /**
   * The strategy that currently replaces pods, as the status shows it. It is OnDelete from the adoption of the
   * StatefulSet to its release, even while a pause delays the adoption or the release.
   */
  readonly strategyShown: RolloutPolicy['mode'];
  readonly withoutEffect: readonly WithoutEffect[];
}

/**
 * Collects the facts for a decision from cached or freshly read objects. Records in `memory.seen.ages` since when each
 * fact has been true.
 */
export function collectFacts(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  memory: Memory,
  dependencies: Dependencies,
): ObservedFacts {
  const { world, cache, defaults, strategies, fleet, checks, mysql, knownNodes } = dependencies;
  const { cluster, statefulSet } = objects;
  const { unseen, answers, steps, published } = memory;
  const { ages } = memory.seen;
  const sources = {
    rollout: rollout?.spec,
    ...cache.settingsSources(cluster),
    ...(answers.policies && { policies: answers.policies.policies }),
  };
  const unreadable = policiesUnreadable(cache, rollout);
  const settings =
    unreadable === null
      ? settingsOf(sources, defaults, world.wall())
      : settingsUnknown(defaults, unreadable, rollout?.status?.settings?.paused?.value === true);
  const knownPolicies = policiesAfter(
    memory.seen.policies,
    rollout?.status?.settings,
    new Set(sources.policies.map(({ name }) => policySource(name))),
    settings.problem === null ? settings.sources : null,
    world.monotonic(),
  );
  const mode = modeOf(strategies, settings.strategy, statefulSet?.labelled === true);
  const status = rollout?.status;
  const wasAdopted = status?.strategy === 'OnDelete';
  const isAdopted = statefulSet?.labelled === true || (mode === 'OnDelete' && wasAdopted && !cluster.released);
  const ageOf = (atMilliseconds: number): number => (world.monotonic() - atMilliseconds) / 1000;
  const key = nameOf(cluster);
  const policy = policyForMode(settings.policy, mode, isAdopted, strategies);
  const snapshot = ages.observe((): ClusterSnapshot => {
    const given = {
      key,
      objects,
      rollout,
      policy,
      settings,
      sources: { cache, checks, mysql, knownNodes },
      ages,
      nowMilliseconds: world.monotonic(),
    };
    const answered = factsOf(answers, given);
    const demotionAskedAt = status?.rollout?.tries?.askedAt ?? null;
    const { budgets, ...facts } = objectFacts(objects, ages, demotionAskedAt, answered.member);
    const { releaseRefusal: refusal, admissionProblem: admission, adoptions } = steps;
    return {
      ...facts,
      ...answered.cluster,
      ...fleet.factsFor(key, mode, statefulSet?.updateRevision ?? '', sequencesUnreadable(cache)),
      budgets: budgets.map((budget) => budgetFacts(budget, steps.refusal, world)),
      maintenance: mode === 'MOCO' ? null : maintenanceFacts(settings.maintenance, status ?? {}, world.wall()),
      contention: contentionFacts(
        memory.seen.specWrites,
        steps.lowered,
        answers.details.altered?.fields ?? [],
        objects,
        world.monotonic(),
      ),
      templateWriters: templateWriters(objects),
      memory: memoryOf(rollout, statefulSet?.updateRevision ?? '', memory),
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
      policyGone: policyGone(knownPolicies, settings.sources, world.monotonic()),
      statusRefusal:
        refusalStands(published.statusRefusal, world.monotonic()) > 0
          ? (published.statusRefusal?.message ?? null)
          : null,
      ownWritePending: unseen.writes[0]?.what ?? null,
    };
  });
  return {
    objects,
    rollout,
    snapshot,
    policy,
    settings,
    knownPolicies,
    strategyShown: isAdopted ? 'OnDelete' : modeByPartition(strategies.partitionDriver),
    withoutEffect: settingsWithoutEffect(mode, strategies, settings.sources, isAdopted, mysql !== undefined),
  };
}

/**
 * Why the settings of this cluster are unknown: a policy that cannot be read may select the cluster, pause it, or
 * change its strategy. `null` if policies can be read or the kind does not exist. Also `null` if the controller was set
 * up to work without policies and no policy was in force.
 */
function policiesUnreadable({ unavailable }: Pick<Cache, 'unavailable'>, rollout: MySQLRollout | null): string | null {
  const policies = unavailable.get(policyKind.kind);
  if (policies === undefined || policies.why === 'NotFound') return null;
  const wasInForce = Object.values(rollout?.status?.settings ?? {}).some(({ source }) => isPolicySource(source));
  if (policies.isIntended && !wasInForce) return null;
  const before = wasInForce ? 'a MySQLRolloutPolicy was in force, and the' : 'the';
  const right = policies.why === 'Forbidden' ? '; let it get, list and watch mysqlrolloutpolicies' : '';
  return `${before} controller cannot read MySQLRolloutPolicies${right}: ${policies.message}`;
}

/** Why it is unknown which clusters go first; `null` if it is known. */
function sequencesUnreadable({ unavailable }: Pick<Cache, 'unavailable'>): string | null {
  const sequences = unavailable.get(sequenceKind.kind);
  if (sequences === undefined || sequences.why === 'NotFound' || sequences.isIntended) return null;
  return sequences.message;
}

/**
 * MOCO's field manager. MOCO applies every template to the StatefulSet, so this name does not show who changed a
 * template.
 */
const mocoManager = 'moco-controller';

const templateWriters = ({ cluster, statefulSet }: ClusterObjects): readonly string[] => [
  ...cluster.templateWriters.map((manager) => `${manager} (MySQLCluster)`),
  ...(statefulSet?.templateWriters ?? [])
    .filter((manager) => manager !== mocoManager)
    .map((manager) => `${manager} (StatefulSet)`),
];

function budgetFacts(budget: SelectingBudget, refusal: Refusal | null, world: Pick<World, 'monotonic'>): BudgetFacts {
  const stands = refusal !== null && refusal.budgets.get(budget.name) === budget.resourceVersion;
  return {
    ...budget,
    awaiting: Object.keys(budget.disruptedPods).length,
    refusal: stands ? refusal.message : null,
    refusedForSeconds: stands ? (world.monotonic() - refusal.atMilliseconds) / 1000 : 0,
  };
}

/**
 * The times at which the update revision changed, newest last, and whether the rollout that began at each time is
 * complete. If no member was stale, no rollout began, and the time is the end of the previous rollout.
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

/**
 * A failed attempt counts even before the status contains it. Otherwise the switchover would be requested again at
 * once.
 */
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
  const tries = progress === null ? status.nodeMaintenance?.tries : progress.tries;
  const sinceLastTrySeconds = age('try', tries?.lastEndedAt);
  return {
    shown: status.hold?.rule ?? null,
    earlier: own.seen.earlier.map(({ rule }) => rule),
    verified: progress?.verified ?? false,
    failing: failingOf(progress?.failing),
    takenDown: progress?.takenDown ?? [],
    waiting: progress?.waiting ?? null,
    from: progress?.from ?? null,
    // This list is about pods, so it counts even if the template has changed since.
    taken: (status.rollout?.unavailableMembers ?? []).flatMap(({ ordinal, uid, restores = false }) =>
      uid === undefined ? [] : [{ ordinal, uid, restores }],
    ),
    updatedOutOfBand: progress?.updatedOutOfBand ?? [],
    createdWhileHeld: progress?.createdWhileHeld ?? [],
    sinceProgressSeconds: waitedOnRequest(status) ? 0 : age('progress', movedAt),
    switchoverTries: (tries?.count ?? 0) + (failedNow ? 1 : 0),
    sinceLastTrySeconds: failedNow ? 0 : sinceLastTrySeconds,
    recentRevisions: [...revisionChanges(status)].map(([at, completed]) => ({
      ageSeconds: age(`revision ${at}`, at),
      oldAt: timestampOf((milliseconds(at) ?? 0) + flappingWindowSeconds * 1000),
      completed,
    })),
  };
}

function failingOf(known: RolloutProgress['failing']): RolloutMemory['failing'] {
  if (known === undefined) return null;
  const { ordinal: member, message, injected } = known;
  return { member, message, ...(injected !== undefined && { injected }) };
}

/** Whether the rollout waits because a user requested it. No progress is expected then. */
export const waitedOnRequest = ({ hold }: RolloutStatus): boolean => hold !== undefined && isRequestedByUser(hold.rule);
