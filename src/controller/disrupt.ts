import { decide } from '../core/decide.ts';
import type { Decision, TakeBackReason } from '../core/decision.ts';
import { ApiError } from '../kube/api-error.ts';
import type { ClusterObjects } from '../moco/records.ts';
import { timestampOf } from '../moco/timestamp.ts';
import { type Acted, act } from './act.ts';
import { noteAdmission } from './admission-memory.ts';
import { admissionNotInForce, provePartitionHeld } from './adopt.ts';
import { splitKey } from './cache.ts';
import type { ClusterState, Finished } from './cluster-state.ts';
import type { Context, Requeue } from './context.ts';
import { type Gathered, gather } from './gather.ts';
import { type DisruptiveStep, intentOf, isDisruptive, makeVoid, ruleOf, sameStep } from './intent.ts';
import { isFailedTry, withoutIntent } from './progress.ts';
import type { Intent, MySQLRollout } from './rollout-resource.ts';
import { rolloutProblem } from './rollout-resource.ts';
import { statusOf } from './status.ts';
import { writeStatus } from './write-status.ts';

/** A confirmation older than this proves nothing any more. */
const confirmationMilliseconds = 1000;
/** After a veto by what was just read; the watches usually wake the cluster earlier. */
const vetoedMilliseconds = 1000;

const atOnce: Requeue = { requeueAfterMilliseconds: 0 };
const vetoed: Requeue = { requeueAfterMilliseconds: vetoedMilliseconds };

/**
 * Confirm, intend, act. Every way out leaves an intent in the status only where its outcome is open. Rejects with the
 * API server's answer where trying again at once would get the same one.
 */
export async function disrupt(
  context: Context,
  key: string,
  step: DisruptiveStep,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Requeue> {
  const { cache, api, world, log, fleet } = context;
  const known = cache.objects(key);
  if (step.kind === 'setPartition' && !(await isPartitionHeld(step.partition, known, state, context, signal))) {
    return atOnce;
  }
  const confirmingSince = world.monotonic();
  const [live, policies] = known
    ? await Promise.all([api.readAll(known, signal), api.readPolicies(cache.policies.values(), signal)])
    : [null];
  // Gone: its end is on its way to the cache.
  if (!live?.rollout) return {};
  // One that can't be used is not touched: the decision below is the hold that says so.
  const unsettled =
    rolloutProblem(live.objects.cluster, live.rollout) === null
      ? await settleIntent(context, key, live.rollout, state, signal)
      : null;
  if (unsettled !== null) return unsettled;
  const confirmed = gather(live.objects, live.rollout, state, context, 'live', policies);
  const decision = decide(confirmed.snapshot, confirmed.policy);
  const confirmedStep = decision.step;
  if (!isDisruptive(confirmedStep) || !sameStep(step, confirmedStep)) {
    log.debug({ cluster: key, step: step.kind }, 'what was just read says otherwise');
    return vetoed;
  }
  if (!context.isLeading()) return {};
  const intent = intendedNow(context, confirmed, confirmedStep);
  const release = fleet.promise(key, intent);
  try {
    const { rollout } = live;
    return await carryOut(
      context,
      { key, rollout, confirmed, decision, step: confirmedStep, intent, confirmingSince },
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
  known: ClusterObjects | null,
  state: ClusterState,
  { api, world }: Context,
  signal: AbortSignal,
): Promise<boolean> {
  if (!known?.statefulSet) return true;
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
  readonly confirmed: Gathered;
  readonly decision: Decision;
  readonly step: DisruptiveStep;
  readonly intent: Intent;
  readonly confirmingSince: number;
}

const tooLate: Acted = {
  result: 'conflict',
  done: [],
  ownWrites: [],
  message: `what was read had become older than ${confirmationMilliseconds} ms before it was written down; the API server is slow`,
  refusedByBudget: false,
  failure: null,
};

async function carryOut(
  context: Context,
  { key, rollout, confirmed, decision, step, intent, confirmingSince }: ConfirmedStep,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Requeue> {
  const { api, world, log, announcer } = context;
  const isFresh = (): boolean => context.isLeading() && world.monotonic() - confirmingSince <= confirmationMilliseconds;
  const startOver = (): Requeue => {
    // Nothing was sent; that an API server is too slow to ever act on is for people to see.
    state.finished ??= finishedOf(step, intent, tooLate);
    log.info({ cluster: key, step: step.kind }, 'the confirmation is too old: starting over');
    return atOnce;
  };
  // An intent that can't be acted on any more is not worth a write.
  if (!isFresh()) return startOver();
  const status = statusOf(confirmed, decision, state, 0, intent.at, intent);
  if (!(await writeStatus(context, rollout, status, state, 'disrupt', signal))) {
    if (state.notKept === null) return vetoed;
    // Whatever of it is written down: nothing was sent.
    state.settledIntent = intent.id;
    return atOnce;
  }
  if (!isFresh()) {
    state.settledIntent = intent.id;
    return startOver();
  }
  const acted = await act(step, confirmed.objects, api.sendingWhile(isFresh), world, signal);
  remember(context, confirmed, step, intent, acted, state);
  announcer.stepEnded(confirmed, step, acted);
  // The hold that a refusal by a budget becomes says when to try again; without a budget there is none.
  const held = acted.refusedByBudget && confirmed.snapshot.budgets.length > 0;
  if (acted.failure !== null && !held) throw acted.failure;
  return acted.result === 'conflict' ? vetoed : atOnce;
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
