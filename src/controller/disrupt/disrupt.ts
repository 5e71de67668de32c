import { type MySQLRollout, rolloutProblem } from '../../api/rollout.ts';
import type { Intent, RolloutStatus } from '../../api/rollout-status.ts';
import { timestampOf } from '../../base/json.ts';
import type { Step } from '../../core/decision.ts';
import { isConfirmed, kindsOf } from '../../core/effects.ts';
import { type DisruptiveStep, isDisruptive } from '../../core/step.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import { execute } from '../../objects/execute.ts';
import { again, type End, isRefusedByBudget, nothingToReport, tooSlow, vetoed } from '../pass/end.ts';
import { asking } from '../pass/look.ts';
import { newestRollout, type Observation, observeLive } from '../pass/observe.ts';
import type { Context, Pass } from '../pass/pass.ts';
import { rememberAnswers, rememberSeen } from '../pass/remember.ts';
import { type AskedAgain, asksAgain, isOvertaken, toRemember } from '../questions/confirmation.ts';
import { statusOf } from '../status/status-report.ts';
import { writeIntent, writeStatus } from '../status/write.ts';
import { tryFirst } from './dry-runs.ts';
import { intentOf, sameStep } from './intent.ts';
import { settleIntent } from './prepare.ts';

// Performs a step so that it is safe even if this process, its connection or its lease fails on the way.
//
// dry runs ---> confirm ---> intend ---> act ---> result (read all    (status     (one write again, same  with the
// for each target, decision?)   step)       uid and resourceVersion)

/**
 * Performs the step. A step that disrupts a member, or has another effect that requires confirmation, is confirmed
 * first.
 *
 * @param observed the observation from the cache that led to the step
 */
export async function perform(pass: Pass<ClusterApi>, observed: Observation, step: Step): Promise<End> {
  const { rollout, decision } = observed;
  const promotion = promotionToRemember(observed, step);
  if (promotion && rollout) {
    await writeStatus(pass, rollout, { ...rollout.status, promotion }, 'disrupt');
    return { kind: 'nothing', ...again };
  }
  return isConfirmed(kindsOf(decision.effects)) ? disrupt(pass, observed, step) : adjust(pass, observed, step);
}

/** How many requests are reserved for a step that writes the StatefulSet. One or two of the requests are dry runs. */
const mostWritesOfStatefulSet = 4;

/**
 * Makes the dry runs that the step needs, confirms the step, writes an intent if the step acts on pods, and performs
 * the step. The intent stays in the status only if the outcome of the step is unknown. Rejects with the API server's
 * response if a read or the write of the intent fails.
 */
async function disrupt(pass: Pass<ClusterApi>, observed: Observation, step: Step): Promise<End> {
  const { key, memory, api, context } = pass;
  const { objects: known } = observed;
  const tried = isDisruptive(step) ? await tryFirst(observed, step, api) : null;
  if (tried !== null) return tried;
  const writes = isDisruptive(step) ? step.targets.length : mostWritesOfStatefulSet;
  const again = asksAgain(observed.decision.asksAgain, asking(pass, observed), memory.answers);
  const endReservation = step.kind === 'evict' ? context.fleet.evictions.reserve(key) : () => undefined;
  try {
    const ended = await api.withTokens(known, again.requests + writes, (paid) =>
      confirm({ ...pass, api: paid }, observed, step, again),
    );
    return ended ?? nothingToReport;
  } finally {
    endReservation();
  }
}

async function confirm(
  pass: Pass<ClusterApi>,
  { objects: known }: Observation,
  step: Step,
  again: AskedAgain,
): Promise<End> {
  const { key, memory, api, context } = pass;
  // Members may take longer to answer than a confirmation may last, so they are asked first. The core checks how old
  // their answers are.
  rememberAnswers(memory, await again.ask('beforeClock', api));
  const since = context.world.monotonic();
  const [live, answers] = await Promise.all([
    api.readNewest({ objects: known, rollout: newestRollout(pass) }),
    again.ask('withObjects', api),
  ]);
  rememberAnswers(memory, toRemember(answers));
  // The MySQLCluster is gone. The cache is about to receive the deletion.
  if (!live?.rollout) return nothingToReport;
  // An unusable MySQLRollout is not changed: the decision below contains the hold that explains why.
  const unsettled =
    rolloutProblem(live.objects.cluster, live.rollout) === null ? await settleIntent(pass, live.rollout) : null;
  if (unsettled !== null) return unsettled;
  const confirmed = rememberSeen(memory, observeLive(pass, live, { ...memory.answers, ...answers }));
  const { step: confirmedStep, effects } = confirmed.decision;
  const isVetoed = !isConfirmed(kindsOf(effects)) || !sameStep(step, confirmedStep);
  if (isVetoed || isOvertaken(answers, live.objects, context)) {
    context.log.debug({ cluster: key, step: step.kind }, 'Step vetoed by a fresh read');
    return { kind: 'nothing', report: confirmed, ...vetoed };
  }
  if (!context.isLeading()) return nothingToReport;
  if (!isDisruptive(confirmedStep)) return await adjustFresh(pass, confirmed, confirmedStep, since);
  const intent = intendedNow(context, confirmed, confirmedStep);
  const release = context.fleet.promise(key, intent);
  try {
    return await carryOut(pass, live.rollout, confirmed, confirmedStep, intent, since);
  } finally {
    release();
  }
}

/** `confirmed` is the fresh observation that allows the step; `since` is when its confirmation began. */
async function carryOut(
  pass: Pass<ClusterApi>,
  rollout: MySQLRollout,
  confirmed: Observation,
  step: DisruptiveStep,
  intent: Intent,
  since: number,
): Promise<End> {
  const { api, context } = pass;
  const { world } = context;
  const isFresh = freshness(context, since);
  const tooLate = (end: End): End => endedTooLate(pass, step, end);
  const notSent = { kind: 'failed', failure: tooSlow(step, confirmed), report: 'cached' } as const;
  // An intent that is already too old is not written.
  if (!isFresh()) return tooLate(notSent);
  const written = await writeIntent(pass, rollout, statusOf(confirmed, intent));
  if (written === 'overtaken') return { kind: 'nothing', report: 'cached', ...vetoed };
  // Nothing was written and nothing was sent. The next reconciliation reports the hold.
  if (written === 'refused') return { kind: 'nothing', ...again };
  if (!isFresh()) return tooLate({ ...notSent, intent });
  const answer = await execute(step, confirmed, api.sendingWhile(isFresh), world);
  const acted = { kind: 'acted', observation: confirmed, step, intent, report: 'cached', ...answer } as const;
  if (answer.tooLate) return tooLate(acted);
  if (answer.result === 'conflict') return { ...acted, ...vetoed };
  // The step may have happened. The next reconciliation settles the intent before it does anything else.
  const isHeldByBudget = isRefusedByBudget(step, answer) && confirmed.snapshot.budgets.length > 0;
  const isRefused = answer.result === 'refused' && !isHeldByBudget;
  return isRefused ? acted : { ...acted, ...again };
}

/**
 * Performs a confirmed step that acts on no pods. If the StatefulSet has changed since the confirmation, the API server
 * refuses the step because of its preconditions.
 */
async function adjustFresh(pass: Pass<ClusterApi>, confirmed: Observation, step: Step, since: number): Promise<End> {
  const isFresh = freshness(pass.context, since);
  const answer = await execute(step, confirmed, pass.api.sendingWhile(isFresh), pass.context.world);
  const acted = { kind: 'acted', observation: confirmed, step, intent: null, report: 'cached', ...answer } as const;
  return answer.tooLate ? endedTooLate(pass, step, acted) : acted;
}

const freshness =
  ({ isLeading, world, confirmationTimeoutMilliseconds }: Context, since: number) =>
  (): boolean =>
    isLeading() && world.monotonic() - since <= confirmationTimeoutMilliseconds;

function endedTooLate({ key, context }: Pass, step: Step, end: End): End {
  if (!context.isLeading()) return { ...end, report: null };
  context.log.info({ cluster: key, step: step.kind }, 'Confirmation is too old; retrying the step');
  return end;
}

function intendedNow({ world, holder }: Context, { objects, decision }: Observation, step: DisruptiveStep): Intent {
  const id = `${holder}-${Math.floor(world.random() * 2 ** 48).toString(36)}`;
  return intentOf(step, kindsOf(decision.effects), objects.statefulSet, id, holder, timestampOf(world.wall()));
}

/**
 * Performs a step that does not disrupt a member. The uid and resourceVersion of its object are sufficient
 * preconditions. A conflict is not a failure: a newer version is about to reach the cache.
 */
async function adjust(pass: Pass<ClusterApi>, observation: Observation, step: Step): Promise<End> {
  const answer = await execute(step, observation, pass.api, pass.context.world);
  return { kind: 'acted', report: 'cached', observation, step, intent: null, ...answer };
}

/**
 * The two revisions that must be stored before a release replaces the current revision, so that a successor can
 * complete the release after a crash. `undefined` if there is nothing to store, or if the status already contains them.
 */
function promotionToRemember({ snapshot, policy }: Observation, step: Step): RolloutStatus['promotion'] {
  const { statefulSet, promotion, released } = snapshot;
  if (step.kind !== 'promoteRevision' || !statefulSet?.labelled) return undefined;
  if (policy.mode === 'OnDelete' && !released) return undefined;
  const { currentRevision: from } = statefulSet;
  const to = step.revision;
  return promotion?.from === from && promotion.to === to ? undefined : { from, to };
}
