import type { MySQLRollout } from '../../api/rollout.ts';
import { timestampOf } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import { isAdopted } from '../../core/adoption.ts';
import type { Step } from '../../core/decision.ts';
import type { StepFailure } from '../../core/snapshot.ts';
import { type DisruptiveStep, isDisruptive, replacesForRevision, ruleOf } from '../../core/step.ts';
import { admissionNotInForce, releaseUnsafe } from '../../objects/strategy.ts';
import { loweredTo } from '../facts/contention.ts';
import { isFailedTry, type UnreportedStep, unreported } from '../facts/last-step.ts';
import { type InPlaceDryRun, withDryRuns } from '../questions/in-place-facts.ts';
import type { Answers } from '../questions/questions.ts';
import { afterAdoption, afterDryRun, afterKeeper } from './admission-memory.ts';
import {
  type Acted,
  type End,
  identityOfStep,
  isRefusedByBudget,
  refusedBy,
  sparesSwitchover,
  tooSlow,
} from './end.ts';
import type { Memory, Steps } from './memory.ts';
import type { Observation } from './observe.ts';

// The only file that changes what is remembered of a cluster.

function put(memory: Memory, groups: Partial<Memory>): void {
  Object.assign(memory, groups);
}

/** Remembers what an observation saw. Between the observation and this call, nothing else may be remembered. */
export function rememberSeen(memory: Memory, observation: Observation): Observation {
  const { seen, unseen } = observation.memory;
  put(memory, { seen, unseen });
  return observation;
}

export function rememberAnswers(memory: Memory, answers: Partial<Answers>): void {
  put(memory, { answers: { ...memory.answers, ...answers } });
}

/** Remembers that a MySQLRollout exists, and that no earlier intent prevents the next step. */
export function rememberPrepared(memory: Memory): void {
  if (memory.steps.failure?.failure.step === null) put(memory, { steps: { ...memory.steps, failure: null } });
}

/** Remembers how the pass ended, as far as later passes need it. */
export function remember(memory: Memory, end: End, world: World): void {
  const now = world.monotonic();
  const { steps } = memory;
  switch (end.kind) {
    case 'nothing':
      return;
    case 'settled':
      return put(memory, { steps: { ...steps, settledIntent: end.intent.id } });
    case 'failed': {
      const settledIntent = end.intent?.id ?? steps.settledIntent;
      return put(memory, { steps: { ...steps, settledIntent, failure: failureAfter(steps, end.failure, now) } });
    }
    case 'admission':
      return put(memory, { steps: afterDryRun(steps, end.mode, end.error, now) });
    case 'inPlace':
      return rememberDryRuns(memory, end.revision, end.answers);
    case 'acted':
      return rememberActed(memory, end, world);
  }
}

function rememberActed(memory: Memory, acted: Acted, world: World): void {
  const now = world.monotonic();
  const { step, observation, ownWrites, message } = acted;
  if ((step.kind === 'updateInPlace' || step.kind === 'resizeInPlace') && acted.result === 'refused') {
    const refusal = message ?? 'no reason given';
    const answers = step.targets.map(({ uid }) => ({ uid, refusal }));
    rememberDryRuns(memory, step.revision, answers);
  }
  const ended = isDisruptive(step)
    ? afterDisruption(memory.steps, acted, now)
    : afterAdjustment(memory.steps, acted, world);
  const kept = afterKeeper(ended, acted.strategyKeeper ?? null, now);
  const steps = afterAdoption(kept, step, observation.objects.statefulSet, acted.result, now);
  const failure = failureOf(acted);
  const holding = acted.done.length > 0 ? null : memory.seen.holding;
  put(memory, {
    seen: { ...memory.seen, holding, earlier: acted.done.length > 0 ? [] : memory.seen.earlier },
    unseen: { ...memory.unseen, writes: ownWrites },
    steps:
      failure === 'passing'
        ? steps
        : { ...steps, failure: failure === null ? null : failureAfter(steps, failure, now) },
  });
}

function afterDisruption(steps: Steps, acted: Acted, now: number): Steps {
  const { step, intent, result, done, message, observation } = acted;
  if (!isDisruptive(step) || intent === null) throw new Error(`expected an intent of ${step.kind}, got none`);
  const { objects } = observation;
  const isLowered = step.kind === 'setPartition' && result === 'done';
  const taken = step.kind === 'delete' || step.kind === 'evict' ? done : [];
  return {
    ...steps,
    ...(result !== 'unknown' && { settledIntent: intent.id }),
    ...(step.kind === 'setPartition' && { admissionProblem: null }),
    ...(isLowered && { lowered: loweredTo(steps.lowered, step.partition, objects, now) }),
    ...(taken.length > 0 && {
      disruptedAtMilliseconds: new Map([
        ...steps.disruptedAtMilliseconds,
        ...taken.map(({ ordinal }) => [ordinal, now] as const),
      ]),
    }),
    ...(isRefusedByBudget(step, acted) && {
      refusal: {
        message: message ?? 'too many requests',
        atMilliseconds: now,
        budgets: new Map(objects.budgets.map((budget) => [budget.name, budget.resourceVersion])),
      },
    }),
    unreported: {
      lastStep: {
        step: step.kind,
        rule: ruleOf(step),
        pods: step.targets.map((target) => target.name),
        at: intent.at,
        result: message === null ? result : `${result}: ${message}`,
        ...(intent.effects && { effects: intent.effects }),
      },
      result,
      revision: intent.revision,
      disrupted: disruptedBy(step, acted),
      sparesSwitchover: sparesSwitchover(step, objects),
      demotion: demotionOf(step, intent.at),
    },
  };
}

/** How many members the step replaces for the rollout. */
function disruptedBy(step: DisruptiveStep, { result, done }: Acted): number {
  if (!replacesForRevision(step.kind, ruleOf(step))) return 0;
  if (step.kind !== 'setPartition') return done.length;
  // Lowering the partition writes only the StatefulSet, but the StatefulSet then replaces the member in `targets`.
  return result === 'done' ? step.targets.length : 0;
}

function rememberDryRuns(memory: Memory, revision: string, dryRuns: readonly InPlaceDryRun[]): void {
  rememberAnswers(memory, { inPlace: withDryRuns(memory.answers.inPlace, revision, dryRuns) });
}

function demotionOf(step: Acted['step'], askedAt: string): UnreportedStep['demotion'] {
  // The switchover is complete, so removing the demotion of the former primary does not withdraw it.
  if (step.kind === 'undemote' && step.reason === 'NoLongerPrimary') return null;
  if (step.kind === 'undemote') return isFailedTry(step.reason) ? 'timedOut' : 'takenBack';
  if (step.kind !== 'demote') return null;
  const [{ name, uid }] = step.targets;
  return { askedAt, pod: { name, uid } };
}

/**
 * The memory after a step that disrupts no member. The object that the step wrote shows its success, so the status does
 * not.
 */
function afterAdjustment(steps: Steps, { step, result, message, failure }: Acted, world: World): Steps {
  const now = world.monotonic();
  const unsafe = failure?.reason === releaseUnsafe ? failure.message : null;
  const after = { ...steps, releaseRefusal: unsafe === null ? null : { message: unsafe, atMilliseconds: now } };
  if (failure === null || step.kind === 'none') return after;
  const isKept = step.kind === 'setStrategy' && step.newPods === 'CurrentRevision';
  const last: UnreportedStep = {
    lastStep: {
      step: step.kind,
      rule: step.kind,
      pods: [],
      at: timestampOf(world.wall()),
      result: `${result}: ${message}`,
    },
    result,
    revision: '',
    disrupted: 0,
    sparesSwitchover: false,
    demotion: null,
  };
  return afterDryRun(
    { ...after, unreported: steps.unreported ?? last },
    isKept ? 'CurrentRevision' : 'OnDelete',
    failure,
    now,
  );
}

/**
 * Why the same step must not be retried immediately. `null` if nothing prevents a retry. `passing` if a watch event
 * will trigger the retry.
 */
function failureOf(acted: Acted): StepFailure | 'passing' | null {
  const { observation, step, failure, result, tooLate } = acted;
  if (tooLate) return tooSlow(step, observation);
  if (result === 'conflict' && isDisruptive(step)) return 'passing';
  if (failure === null) return null;
  // If the cluster has a budget, a refused eviction becomes a hold that says when to retry.
  if (isRefusedByBudget(step, acted) && observation.snapshot.budgets.length > 0) return null;
  // The result of a dry run is a separate fact, and the core decides what it means and when to retry. If the
  // StatefulSet is already adopted, the core assumes OnDelete and ignores that fact.
  if (failure.reason === releaseUnsafe) return 'passing';
  if (failure.reason === admissionNotInForce && !isTakenForGranted(step, observation)) return 'passing';
  return refusedBy(failure, identityOfStep(step, observation));
}

/** Whether the StatefulSet is already adopted, so that its strategy must be OnDelete. */
const isTakenForGranted = (step: Step, { objects: { statefulSet } }: Observation): boolean =>
  step.kind === 'setStrategy' && step.newPods === 'UpdateRevision' && isAdopted(statefulSet);

function failureAfter({ failure: before }: Steps, failure: StepFailure, now: number): Steps['failure'] {
  const tries = before?.failure.step === failure.step ? before.failure.tries + 1 : 1;
  return { failure: { ...failure, tries }, atMilliseconds: now };
}

/** Remembers a written status. `kept` is the object that the API server stored. */
export function rememberWritten(memory: Memory, kept: MySQLRollout): void {
  const { steps, published } = memory;
  // If a status without an intent is accepted, that does not show whether a status with an intent would be accepted.
  const isAccepted = kept.status?.intent !== undefined || published.statusRefusal?.withIntent === false;
  put(memory, {
    unseen: { ...memory.unseen, rollout: kept },
    steps: { ...steps, unreported: unreported(kept.status ?? {}, memory) },
    published: {
      ...published,
      changedAtMilliseconds: null,
      statusRefusal: isAccepted ? null : published.statusRefusal,
    },
  });
}

export function rememberPublished(memory: Memory, changed: Partial<Memory['published']>): void {
  put(memory, { published: { ...memory.published, ...changed } });
}

/** Remembers that the metrics already count the return of these members. */
export function rememberReturned(memory: Memory, returned: readonly number[]): void {
  if (returned.length === 0) return;
  const away = [...memory.steps.disruptedAtMilliseconds].filter(([ordinal]) => !returned.includes(ordinal));
  put(memory, { steps: { ...memory.steps, disruptedAtMilliseconds: new Map(away) } });
}
