import { type MySQLRollout, rolloutProblem } from '../../api/rollout.ts';
import type { Intent } from '../../api/rollout-status.ts';
import { type EffectKind, kindsOf } from '../../core/effects.ts';
import { type DisruptiveStep, isDisruptive } from '../../core/step.ts';
import { ApiError } from '../../kube/api-error.ts';
import { timestampOf } from '../../moco/json.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { admissionNotInForce } from '../facts/admission.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { newestRollout, type Observation, observe } from '../pass/observe.ts';
import { confirmationMilliseconds, type Result, tooSlow } from '../pass/result.ts';
import { confirmComebacks, readsAgain } from '../reads/read-comebacks.ts';
import { readDelays } from '../reads/read-delays.ts';
import { readMysql } from '../reads/read-mysql.ts';
import { isAnotherInForce, policiesToRead, readPolicies } from '../reads/read-policies.ts';
import { reportIntent } from '../status/pass-report.ts';
import { writeIntent } from '../status/write-intent.ts';
import { provePartitionHeld } from './adopt.ts';
import { type Context, type Ended, nothingToReport, requeueNow, vetoed } from './context.ts';
import { act } from './execute.ts';
import { intentOf, sameStep } from './intent.ts';
import { settleIntent } from './settle.ts';

/**
 * Confirms the step, writes the intent, and acts. An intent stays in the status only if its outcome is unknown.
 * Rejects with the API server's response if a read or the write of the intent fails.
 *
 * @param step the step that was decided from the cache
 * @param kinds its effects
 * @param identity identifies the step when its failures are counted
 */
export async function disrupt(
  context: Context,
  key: string,
  step: DisruptiveStep,
  kinds: readonly EffectKind[],
  identity: string,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { cache, api, fleet } = context;
  const known = cache.objects(key);
  if (known === null) return nothingToReport;
  const wrong = step.kind === 'setPartition' ? await partitionNotHeld(step.partition, known, context, signal) : null;
  if (wrong !== null) return { requeue: {}, report: 'cached', result: wrong };
  const policies = policiesToRead(known, context);
  const endReservation = step.kind === 'evict' ? fleet.evictions.reserve(key) : () => undefined;
  try {
    const calls = policies.length + step.targets.length + readsAgain(step.targets, state);
    const ended = await api.withTokens(known, calls, signal, (paid) =>
      confirm({ ...context, api: paid }, key, known, policies, step, kinds, identity, state, signal),
    );
    return ended ?? nothingToReport;
  } finally {
    endReservation();
  }
}

async function confirm(
  context: Context,
  key: string,
  known: ClusterObjects,
  policyNames: readonly string[],
  step: DisruptiveStep,
  kinds: readonly EffectKind[],
  identity: string,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { api, cache, world, log, fleet } = context;
  // Members may take longer than a confirmation. The core checks the age of what they say.
  const moves = kinds.includes('movesPrimary');
  await Promise.all([
    moves && readDelays(known, state, context, signal),
    (moves || kinds.includes('stops')) && readMysql(known, moves, state, context, signal),
  ]);
  const confirmingSince = world.monotonic();
  const [live, policies] = await Promise.all([
    api.readNewest({ objects: known, rollout: newestRollout(key, state, cache) }, signal),
    readPolicies(policyNames, known, context, signal),
    confirmComebacks(step.targets, known, state, context, signal),
  ]);
  // The MySQLCluster is gone. The delete event is about to reach the cache.
  if (!live?.rollout) return nothingToReport;
  // An unusable MySQLRollout is not changed: the decision below is the hold that explains why.
  const unsettled =
    rolloutProblem(live.objects.cluster, live.rollout) === null
      ? await settleIntent(context, key, live.rollout, state, signal)
      : null;
  if (unsettled !== null) return unsettled;
  const confirmed = observe(live.objects, live.rollout, state, context, 'live', policies.policies);
  const { step: confirmedStep } = confirmed.decision;
  const isVetoed = !isDisruptive(confirmedStep) || !sameStep(step, confirmedStep);
  if (isVetoed || isAnotherInForce(policies, live.objects, context)) {
    log.debug({ cluster: key, step: step.kind }, 'the step is vetoed by a fresh read');
    return { requeue: vetoed, report: confirmed, result: null };
  }
  if (!context.isLeading()) return nothingToReport;
  const intent = intendedNow(context, confirmed, confirmedStep);
  const release = fleet.promise(key, intent);
  try {
    const { rollout } = live;
    const confirmedNow = { key, rollout, confirmed, step: confirmedStep, identity, intent, confirmingSince };
    return await carryOut(context, confirmedNow, state, signal);
  } finally {
    release();
  }
}

/** Whether MOCO's next write would not be reset to partition = replicas. */
async function partitionNotHeld(
  partition: number,
  { statefulSet }: ClusterObjects,
  { api }: Context,
  signal: AbortSignal,
): Promise<Result | null> {
  if (statefulSet === null) return null;
  try {
    await provePartitionHeld(statefulSet, partition, api, signal);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== admissionNotInForce) throw error;
    return { kind: 'admission', mode: 'Partition', error };
  }
}

/** Performs a step that is allowed by the objects as they were just read. */
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
  const { api, world, log } = context;
  const isFresh = (): boolean => context.isLeading() && world.monotonic() - confirmingSince <= confirmationMilliseconds;
  const tooLate = (result: Result): Ended => {
    if (!context.isLeading()) return { ...nothingToReport, result };
    log.info({ cluster: key, step: step.kind }, 'the confirmation is too old; the step will be retried');
    return { requeue: {}, report: 'cached', result };
  };
  const notSent = { kind: 'failed', step: identity, failure: tooSlow } as const;
  // An intent that is already too old is not written.
  if (!isFresh()) return tooLate(notSent);
  const written = await writeIntent(context, rollout, reportIntent(confirmed, intent), state, signal);
  if (written === 'overtaken') return { requeue: vetoed, report: 'cached', result: null };
  // Nothing was written and nothing was sent. The next reconciliation reports the hold.
  if (written === 'refused') return { requeue: requeueNow, report: null, result: null };
  if (!isFresh()) return tooLate({ ...notSent, intent });
  const acted = await act(step, confirmed.objects, api.sendingWhile(isFresh), world, signal);
  const result = { kind: 'acted', observation: confirmed, step, identity, intent, acted } as const;
  if (acted.tooLate) return tooLate(result);
  if (acted.result === 'conflict') return { requeue: vetoed, report: 'cached', result };
  // The step may have happened. The next reconciliation settles the intent first.
  const isHeldByBudget = acted.refusedByBudget && confirmed.snapshot.budgets.length > 0;
  const isRefused = acted.result === 'refused' && !isHeldByBudget;
  return isRefused ? { requeue: {}, report: 'cached', result } : { requeue: requeueNow, report: null, result };
}

function intendedNow({ world, holder }: Context, { objects, decision }: Observation, step: DisruptiveStep): Intent {
  const id = `${holder}-${Math.floor(world.random() * 2 ** 48).toString(36)}`;
  return intentOf(step, kindsOf(decision.effects), objects.statefulSet, id, holder, timestampOf(world.wall()));
}
