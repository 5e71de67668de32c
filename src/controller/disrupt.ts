import type { TakeBackReason } from '../core/decision.ts';
import { ApiError } from '../kube/api-error.ts';
import type { ClusterObjects } from '../moco/records.ts';
import { timestampOf } from '../moco/timestamp.ts';
import { type Acted, act } from './act.ts';
import { noteAdmission } from './admission-memory.ts';
import { admissionNotInForce, provePartitionHeld } from './adopt.ts';
import { splitKey } from './cache.ts';
import type { ClusterState, Finished } from './cluster-state.ts';
import type { Context, Requeue } from './context.ts';
import type { Gathered } from './gather.ts';
import { type DisruptiveStep, intentOf, isDisruptive, makeVoid, ruleOf, sameStep } from './intent.ts';
import { isAnotherInForce, readPolicyInForce } from './live-policy.ts';
import { type Observation, observe } from './observe.ts';
import { isFailedTry, withoutIntent } from './progress.ts';
import type { Intent, MySQLRollout } from './rollout-resource.ts';
import { rolloutProblem } from './rollout-resource.ts';
import { statusOf } from './status.ts';
import { noteFailure, refusedBy } from './step-failure.ts';
import { writeStatus } from './write-status.ts';

/** A confirmation older than this proves nothing any more. */
const confirmationMilliseconds = 1000;
const tooSlow = {
  cause: 'tooSlow',
  message: `reading everything again, writing the step down and sending it took more than ${confirmationMilliseconds} ms`,
  retryAfterSeconds: 0,
} as const;
/** After a veto by what was just read; the watches usually wake the cluster earlier. */
const vetoedMilliseconds = 1000;

const atOnce: Requeue = { requeueAfterMilliseconds: 0 };
const vetoed: Requeue = { requeueAfterMilliseconds: vetoedMilliseconds };

/** How a step ended, for the pass that it was a part of. */
export interface Ended {
  readonly requeue: Requeue;
  /**
   * What people are to see: as it was just read, or as the cache has it. `null` where another pass follows at once, or
   * there is nobody left to tell.
   */
  readonly record: Observation | 'cached' | null;
}

const nobodyLeft: Ended = { requeue: {}, record: null };

/**
 * Confirm, intend, act. Every way out leaves an intent in the status only where its outcome is open. Rejects with the
 * API server's answer where a read or the intent fails.
 *
 * @param step what was decided from the cache
 * @param identity how its failures are remembered
 */
export async function disrupt(
  context: Context,
  key: string,
  step: DisruptiveStep,
  identity: string,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { cache, api } = context;
  const known = cache.objects(key);
  if (known === null) return nobodyLeft;
  if (step.kind === 'setPartition' && !(await isPartitionHeld(step.partition, known, state, context, signal))) {
    return { requeue: {}, record: 'cached' };
  }
  const ended = await api.withTokens(known, step.targets.length, signal, (paid) =>
    confirm({ ...context, api: paid }, key, known, step, identity, state, signal),
  );
  return ended ?? nobodyLeft;
}

async function confirm(
  context: Context,
  key: string,
  known: ClusterObjects,
  step: DisruptiveStep,
  identity: string,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { api, world, log, fleet } = context;
  const confirmingSince = world.monotonic();
  const [live, policies] = await Promise.all([api.readAll(known, signal), readPolicyInForce(known, context, signal)]);
  // Gone: its end is on its way to the cache.
  if (!live?.rollout) return nobodyLeft;
  // One that can't be used is not touched: the decision below is the hold that says so.
  const unsettled =
    rolloutProblem(live.objects.cluster, live.rollout) === null
      ? await settleIntent(context, key, live.rollout, state, signal)
      : null;
  if (unsettled !== null) return { requeue: unsettled, record: null };
  const confirmed = observe(live.objects, live.rollout, state, context, 'live', policies.policies);
  const { step: confirmedStep } = confirmed.decision;
  const isVetoed = !isDisruptive(confirmedStep) || !sameStep(step, confirmedStep);
  if (isVetoed || isAnotherInForce(policies, live.objects, context)) {
    log.debug({ cluster: key, step: step.kind }, 'what was just read says otherwise');
    return { requeue: vetoed, record: confirmed };
  }
  if (!context.isLeading()) return nobodyLeft;
  const intent = intendedNow(context, confirmed, confirmedStep);
  const release = fleet.promise(key, intent);
  try {
    const { rollout } = live;
    return await carryOut(
      context,
      { key, rollout, confirmed, step: confirmedStep, identity, intent, confirmingSince },
      state,
      signal,
    );
  } finally {
    release();
  }
}

/** Whether MOCO's next write would be answered with partition = replicas; what a dry run shows of it is remembered. */
async function isPartitionHeld(
  partition: number,
  known: ClusterObjects,
  state: ClusterState,
  { api, world }: Context,
  signal: AbortSignal,
): Promise<boolean> {
  if (known.statefulSet === null) return true;
  try {
    await provePartitionHeld(known.statefulSet, partition, api, signal);
    state.admissionProblem = null;
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== admissionNotInForce) throw error;
    noteAdmission(state, 'Partition', error, world);
    return false;
  }
}

/** A step that the objects as they were just read allow. */
interface ConfirmedStep {
  readonly key: string;
  readonly rollout: MySQLRollout;
  readonly confirmed: Observation;
  readonly step: DisruptiveStep;
  readonly identity: string;
  readonly intent: Intent;
  readonly confirmingSince: number;
}

async function carryOut(
  context: Context,
  { key, rollout, confirmed, step, identity, intent, confirmingSince }: ConfirmedStep,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { api, world, log, announcer } = context;
  const isFresh = (): boolean => context.isLeading() && world.monotonic() - confirmingSince <= confirmationMilliseconds;
  const tooLate = (): Ended => {
    if (!context.isLeading()) return nobodyLeft;
    noteFailure(state, identity, tooSlow, world);
    log.info({ cluster: key, step: step.kind }, 'the confirmation is too old: the step is tried again later');
    return { requeue: {}, record: 'cached' };
  };
  // An intent that can't be acted on any more is not worth a write.
  if (!isFresh()) return tooLate();
  const status = statusOf(confirmed, confirmed.decision, state, 0, intent.at, intent);
  if (!(await writeStatus(context, rollout, status, state, 'disrupt', signal))) {
    if (state.notKept === null) return { requeue: vetoed, record: 'cached' };
    // Whatever of it is written down: nothing was sent.
    state.settledIntent = intent.id;
    return { requeue: atOnce, record: null };
  }
  if (!isFresh()) {
    state.settledIntent = intent.id;
    return tooLate();
  }
  const acted = await act(step, confirmed.objects, api.sendingWhile(isFresh), world, signal);
  remember(context, confirmed, step, intent, acted, state);
  announcer.stepEnded(confirmed, step, acted);
  if (acted.tooLate) return tooLate();
  if (acted.result === 'conflict') return { requeue: vetoed, record: 'cached' };
  // The hold that a refusal by a budget becomes says when to try again; without a budget there is none.
  const held = acted.refusedByBudget && confirmed.snapshot.budgets.length > 0;
  if (acted.failure === null || held) {
    state.stepFailure = null;
    return { requeue: atOnce, record: null };
  }
  noteFailure(state, identity, refusedBy(acted.failure), world);
  // Where it may have happened, the next pass finds that out before anything else.
  return acted.result === 'unknown' ? { requeue: atOnce, record: null } : { requeue: {}, record: 'cached' };
}

/**
 * An intent whose outcome nobody here knows, after a crash, a change of leader or a lost answer, is made void before
 * anything else is done. Resolves to when to go on, `null` where there was none.
 */
export async function settleIntent(
  context: Context,
  key: string,
  rollout: MySQLRollout,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Requeue | null> {
  const { intent } = rollout.status ?? {};
  if (!intent || intent.id === state.settledIntent) return null;
  const staysDemoted = await makeVoid(intent, splitKey(key)[0], context.api, signal);
  // What is known of a step of our own is still to be told.
  const { finished } = state;
  const status = withoutIntent(rollout.status ?? {}, staysDemoted);
  if (!(await writeStatus(context, rollout, status, state, 'disrupt', signal))) return vetoed;
  context.fleet.count(intent);
  state.finished = finished;
  state.settledIntent = intent.id;
  context.log.info({ cluster: key, step: intent.step, rule: intent.rule }, 'an unfinished step of before is over');
  return atOnce;
}

function intendedNow({ world, holder }: Context, { objects }: Gathered, step: DisruptiveStep): Intent {
  const id = `${holder}-${Math.floor(world.random() * 2 ** 48).toString(36)}`;
  return intentOf(step, objects.statefulSet, id, holder, timestampOf(world.wall()));
}

/** What the next passes have to know of the step. */
function remember(
  { world }: Context,
  { objects }: Gathered,
  step: DisruptiveStep,
  intent: Intent,
  acted: Acted,
  state: ClusterState,
): void {
  const { result, done, ownWrites, message, refusedByBudget } = acted;
  if (result !== 'unknown') state.settledIntent = intent.id;
  if (done.length > 0) state.holding = null;
  state.ownWrites = ownWrites;
  if (step.kind === 'delete' || step.kind === 'evict') {
    for (const { ordinal } of done) state.takenAtMilliseconds.set(ordinal, world.monotonic());
  }
  if (refusedByBudget) {
    state.refusal = {
      message: message ?? 'too many requests',
      atMilliseconds: world.monotonic(),
      budgets: new Map(objects.budgets.map((budget) => [budget.name, budget.resourceVersion])),
    };
  }
  state.finished = finishedOf(step, intent, acted);
}

function finishedOf(step: DisruptiveStep, intent: Intent, { result, done, message }: Acted): Finished {
  // The write is one, to the StatefulSet, which takes them.
  const lowered = step.kind === 'setPartition' && result === 'done' ? step.targets.length : 0;
  const { name, uid } = step.targets[0] ?? { name: '', uid: '' };
  return {
    lastStep: {
      step: step.kind,
      rule: ruleOf(step),
      pods: step.targets.map((target) => target.name),
      at: intent.at,
      result: message === null ? result : `${result}: ${message}`,
    },
    result,
    revision: intent.revision,
    disrupted: step.kind === 'delete' || step.kind === 'evict' ? done.length : lowered,
    demotion:
      step.kind === 'demote'
        ? { askedAt: intent.at, pod: { name, uid } }
        : step.kind === 'undemote' && step.demoted
          ? takenBackFor(step.reason)
          : null,
  };
}

/** The switchover of one that is primary no more has come. */
function takenBackFor(reason: TakeBackReason): 'timedOut' | 'takenBack' | null {
  if (reason === 'NoLongerPrimary') return null;
  return isFailedTry(reason) ? 'timedOut' : 'takenBack';
}
