import type { MySQLRollout } from '../../api/rollout.ts';
import { isAdopted } from '../../core/adoption.ts';
import type { Hold, Step } from '../../core/decision.ts';
import { type DisruptiveStep, isDisruptive, ruleOf } from '../../core/step.ts';
import type { World } from '../../kube/world.ts';
import { timestampOf } from '../../moco/json.ts';
import { admissionNotInForce, releaseUnsafe } from '../facts/admission.ts';
import { loweredTo } from '../facts/contention.ts';
import { type Finished, isFailedTry, unreported } from '../facts/ended-step.ts';
import type { FailedStep } from '../facts/known.ts';
import { noteAdmission, noteAdoption, noteKeeper } from '../memory/admission-memory.ts';
import { type ClusterState } from '../memory/cluster-memory.ts';
import {
  type Acted,
  type ActedStep,
  type Result,
  refusedBy,
  type StepFailed,
  sparesSwitchover,
  tooSlow,
} from './result.ts';

/** Remembers what later reconciliations need to know about this one. */
export function remember(state: ClusterState, result: Result, world: World): void {
  switch (result.kind) {
    case 'prepared':
      if (state.stepFailure?.step === null) state.stepFailure = null;
      return;
    case 'settled':
      state.settledIntent = result.intent.id;
      return;
    case 'failed':
      if (result.intent) state.settledIntent = result.intent.id;
      noteFailure(state, result.step, result.failure, world);
      return;
    case 'admission':
      noteAdmission(state, result.mode, result.error, world);
      return;
    case 'inPlace':
      noteAnswers(state, result.revision, result.answers);
      return;
    case 'acted':
      rememberStep(state, result, world);
  }
}

function rememberStep(state: ClusterState, ended: ActedStep, world: World): void {
  const { step, acted, observation } = ended;
  state.ownWrites = acted.ownWrites;
  if (acted.done.length > 0) state.holding = null;
  if (isDisruptive(step)) rememberDisruption(state, step, ended, world);
  else rememberAdjustment(state, step, acted, world);
  noteKeeper(state, acted.strategyKeeper ?? null, world);
  noteAdoption(state, step, observation.objects.statefulSet, acted.result, world);
  const failure = failureOf(ended);
  if (failure === null) state.stepFailure = null;
  else if (failure !== 'passing') noteFailure(state, ended.identity, failure, world);
}

function rememberDisruption(
  state: ClusterState,
  step: DisruptiveStep,
  { observation: { objects }, intent, acted }: ActedStep,
  world: World,
): void {
  if (intent === null) throw new Error(`expected an intent of ${step.kind}, got none`);
  const { result, done, refusedByBudget, message } = acted;
  if (result !== 'unknown') state.settledIntent = intent.id;
  if (step.kind === 'setPartition') state.admissionProblem = null;
  if (step.kind === 'setPartition' && result === 'done') {
    state.lowered = loweredTo(state.lowered, step.partition, objects, world.monotonic());
  }
  if (step.kind === 'delete' || step.kind === 'evict') {
    const taken = done.map(({ ordinal }) => [ordinal, world.monotonic()] as const);
    state.disruptedAtMilliseconds = new Map([...state.disruptedAtMilliseconds, ...taken]);
  }
  if (refusedByBudget) {
    state.refusal = {
      message: message ?? 'too many requests',
      atMilliseconds: world.monotonic(),
      budgets: new Map(objects.budgets.map((budget) => [budget.name, budget.resourceVersion])),
    };
  }
  if ((step.kind === 'updateInPlace' || step.kind === 'resizeInPlace') && result === 'refused') {
    const refusal = message ?? 'no reason given';
    noteAnswers(
      state,
      step.revision,
      step.targets.map(({ uid }) => ({ uid, refusal })),
    );
  }
  // The write of a partition has one target, the StatefulSet, which then replaces the members.
  const lowered = step.kind === 'setPartition' && result === 'done' ? step.targets.length : 0;
  state.finished = {
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
    disrupted: ['delete', 'evict', 'restore'].includes(step.kind) ? done.length : lowered,
    sparesSwitchover: sparesSwitchover(step, objects),
    demotion: demotionOf(step, intent.at),
  };
}

/** A refused member is replaced instead, as long as the update revision is the same. */
function noteAnswers(
  state: ClusterState,
  revision: string,
  answers: Extract<Result, { kind: 'inPlace' }>['answers'],
): void {
  const accepted = new Map(state.inPlace.accepted);
  const refusals = new Map(state.inPlace.refusals);
  for (const { uid, refusal } of answers) {
    if (refusal === null) accepted.set(uid, revision);
    else refusals.set(uid, { revision, message: refusal });
  }
  state.inPlace = { ...state.inPlace, accepted, refusals };
}

function demotionOf(step: DisruptiveStep, askedAt: string): Finished['demotion'] {
  if (step.kind === 'undemote') return takenBackFor(step.reason);
  const { name, uid } = step.targets[0] ?? { name: '', uid: '' };
  return step.kind === 'demote' ? { askedAt, pod: { name, uid } } : null;
}

/** The switchover of a former primary is complete. */
function takenBackFor(reason: string): 'timedOut' | 'takenBack' | null {
  if (reason === 'NoLongerPrimary') return null;
  return isFailedTry(reason) ? 'timedOut' : 'takenBack';
}

/**
 * Remembers a step that does not disrupt a member. Its success shows on the object and is not written to the status.
 */
function rememberAdjustment(state: ClusterState, step: Step, { result, message, failure }: Acted, world: World): void {
  const unsafe = failure?.reason === releaseUnsafe ? failure.message : null;
  state.releaseRefusal = unsafe === null ? null : { message: unsafe, atMilliseconds: world.monotonic() };
  if (failure === null || step.kind === 'none') return;
  const isKept = step.kind === 'setStrategy' && step.newPods === 'CurrentRevision';
  noteAdmission(state, isKept ? 'CurrentRevision' : 'OnDelete', failure, world);
  // An unreported result is kept: a later failure without effect does not replace it.
  state.finished ??= {
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
}

/**
 * Why the same step must not be retried at once. `null` if nothing prevents it, `passing` if a watch event will
 * trigger the retry.
 */
function failureOf({ observation, step, acted }: ActedStep): StepFailed | 'passing' | null {
  const { failure, result, refusedByBudget, tooLate } = acted;
  if (tooLate) return tooSlow;
  if (result === 'conflict' && isDisruptive(step)) return 'passing';
  if (failure === null) return null;
  // A refusal by a budget becomes a hold that says when to retry. Without a budget there is no such hold.
  if (refusedByBudget && observation.snapshot.budgets.length > 0) return null;
  // The result of a dry run is a separate fact: the core decides what it means and when to retry. It does not for a
  // StatefulSet that is adopted already, whose strategy it takes for granted.
  if (failure.reason === releaseUnsafe) return 'passing';
  if (failure.reason === admissionNotInForce && !(setsUpdateRevision(step) && isAdoptedIn(observation)))
    return 'passing';
  return refusedBy(failure);
}

const setsUpdateRevision = (step: Step): boolean => step.kind === 'setStrategy' && step.newPods === 'UpdateRevision';

const isAdoptedIn = ({ objects: { statefulSet } }: ActedStep['observation']): boolean => isAdopted(statefulSet);

/** Counts consecutive failures of the same step. */
function noteFailure(state: ClusterState, step: FailedStep['step'], failure: StepFailed, world: World): void {
  const { stepFailure: before } = state;
  const tries = before?.step === step ? before.tries + 1 : 1;
  state.stepFailure = { step, ...failure, tries, atMilliseconds: world.monotonic() };
}

/** Remembers a written status: `kept` is what the API server stored. */
export function rememberWritten(state: ClusterState, kept: MySQLRollout): void {
  state.rollout = kept;
  state.changedAtMilliseconds = null;
  // A status without an intent does not show whether a status with an intent is accepted.
  if (kept.status?.intent !== undefined || state.statusRefusal?.withIntent === false) state.statusRefusal = null;
  if (unreported(kept.status ?? {}, state) === null) state.finished = null;
}

/** Remembers since when the status has unwritten changes; `null` if it has none. */
export function rememberChange(state: ClusterState, atMilliseconds: number | null): void {
  state.changedAtMilliseconds = atMilliseconds;
}

/** Remembers the overrides that have ended and whose removal was tried. */
export function rememberEndedOverrides(state: ClusterState, ended: string): void {
  state.endedOverrides = ended;
}

/** Remembers what Events, metrics and the log have reported. */
export function rememberReported(
  state: ClusterState,
  reported: { readonly hold: Hold['rule'] | null; readonly logged: string; readonly returned: readonly number[] },
): void {
  state.reported = reported.hold;
  state.logged = reported.logged;
  if (reported.returned.length === 0) return;
  const away = [...state.disruptedAtMilliseconds].filter(([ordinal]) => !reported.returned.includes(ordinal));
  state.disruptedAtMilliseconds = new Map(away);
}

/** Remembers that the API server refused a status with fields that its CRD does not know. */
export function rememberStatusRefused(
  state: ClusterState,
  message: string,
  withIntent: boolean,
  atMilliseconds: number,
): void {
  state.statusRefusal = { message, withIntent, atMilliseconds };
}
