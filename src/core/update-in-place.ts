import { isApproved } from './approval.ts';
import type { Hold, Step } from './decision.ts';
import type { InPlaceChange, InPlaceUpdate, Resize } from './in-place.ts';
import { lookAgainSeconds, nextOpening, primarySeconds } from './openings.ts';
import { plural, withoutFullStop } from './sentences.ts';
import { descending, dueMembers, type Member, type Outcome, type Situation, take, target, wait } from './situation.ts';
import type { Moment } from './snapshot.ts';

// The other way to update a member that works: its running pod is changed into what the update revision would have
// created. Under OnDelete a pod counts as updated once its label says so. The label comes last: a member whose resize
// does not end stays stale, and is replaced like any other.

type StepInPlace = Extract<Step, { kind: 'updateInPlace' | 'resizeInPlace' }>;

/** After how long a member is replaced whose resize the kubelet has not made. It tries a deferred one every 3 minutes. */
const resizeLimitSeconds = 300;

/** The next change on the way to an update without another pod, or `null`. Only a member that works is changed. */
export function stepInPlace(situation: Situation, member: Member): StepInPlace | null {
  const change = changeInPlace(situation, member);
  if (change === null) return null;
  const targets = [target(member)] as const;
  const revision = situation.snapshot.statefulSet?.updateRevision ?? '';
  const { resources, containers } = change;
  if (resources.length > 0) {
    const rule = resources.some(({ restarts }) => restarts) ? 'ResizeRestartsContainers' : 'ResizeRestartsNothing';
    return { kind: 'resizeInPlace', rule, targets, revision, resources };
  }
  const rule = containers.length === 0 ? 'NothingRestarts' : 'ContainersRestart';
  return { kind: 'updateInPlace', rule, targets, revision, change };
}

function changeInPlace(situation: Situation, { facts, state, settled }: Member): InPlaceChange | null {
  const { inPlace, restartInPlace } = facts;
  if (situation.policy.inPlaceUpdates.mode === 'Never' || state !== 'participating' || !settled) return null;
  if (inPlace?.kind !== 'possible' || (restartInPlace !== null && restartInPlace.awaited.length > 0)) return null;
  return inPlace.resize === null || isResized(inPlace.resize) ? inPlace.change : null;
}

const isResized = ({ awaited }: Resize): boolean => awaited.length === 0;

export const restartsNothing = (step: Step): boolean =>
  (step.kind === 'updateInPlace' && step.rule === 'NothingRestarts') ||
  (step.kind === 'resizeInPlace' && step.rule === 'ResizeRestartsNothing');

/**
 * Members whose update restarts nothing. No member goes, so the gates for members that work, the fleet and maintenance
 * windows are not asked. Replicas go first, and nobody while another member is being resized.
 */
export function nothingRestarts(situation: Situation): Outcome | null {
  const resizing = awaitingResize(situation);
  // Members that do not participate are looked at first.
  if (resizing !== null) return situation.participating === situation.replicas ? wait(resizing) : null;
  const due = descending(dueMembers(situation));
  for (const member of [...due.filter(({ primary }) => !primary), ...due.filter(({ primary }) => primary)]) {
    const step = stepInPlace(situation, member);
    if (step !== null && restartsNothing(step)) return take(step);
  }
  return null;
}

/** A due member that is being resized, or has been for less than minReadySeconds. No other member that works goes then. */
export function awaitingResize(situation: Situation): Hold | null {
  const { policy, overridden, deadlines } = situation;
  const { minReadySeconds } = policy;
  if (policy.inPlaceUpdates.mode === 'Never' || overridden.has('AwaitingResize')) return null;
  for (const { facts, ordinal } of dueMembers(situation)) {
    const resize = facts.inPlace?.kind === 'possible' ? facts.inPlace.resize : null;
    if (resize === null) continue;
    const { awaited, deferred, forSeconds } = resize;
    const isOver = isResized(resize)
      ? deadlines.reached(Math.min(forSeconds, facts.participatingForSeconds ?? 0), minReadySeconds)
      : deadlines.reached(forSeconds, resizeLimitSeconds);
    if (!isOver) return { rule: 'AwaitingResize', member: ordinal, containers: awaited, deferred, minReadySeconds };
  }
  return null;
}

/**
 * The containers of a primary restart without a switchover. By default not if one of them answers the probes of mysqld:
 * until it is back, the primary may turn not ready. A single member has nobody to switch over to.
 */
export function isUpdatedAsPrimary({ policy, replicas }: Situation, { facts }: Member, step: StepInPlace): boolean {
  const names =
    step.kind === 'updateInPlace' ? step.change.containers : step.resources.filter(({ restarts }) => restarts);
  const restarted = facts.containers.filter(({ name }) => names.some((one) => one.name === name));
  const answersProbes = restarted.some(({ part }) => part === 'agent');
  return (
    replicas === 1 || (policy.inPlaceUpdates.primary ?? (answersProbes ? 'AfterSwitchover' : 'InPlace')) === 'InPlace'
  );
}

/** How a stale member gets to the update revision, in a few words. */
export function explainInPlace(update: InPlaceUpdate): string {
  if (update.kind === 'impossible') return `by another pod: ${update.reasons.map(withoutFullStop).join('; ')}`;
  const { resources, containers } = update.change;
  const resized = [...resources.map(({ name }) => name), ...(update.resize?.awaited ?? [])];
  const names = [...resources.filter(({ restarts }) => restarts), ...containers].map(({ name }) => name);
  const restarted = [...new Set(names)];
  return [
    'in place',
    ...(resized.length === 0 ? [] : [`resize of ${resized.join(', ')}`]),
    restarted.length === 0 ? 'nothing restarts' : `${restarted.join(', ')} ${plural(restarted, 'restarts', 'restart')}`,
  ].join(', ');
}

/** With `inPlace.mode: Only` a member that works is replaced only once somebody allows it, or in a window for that. */
export function restartNeeded(situation: Situation, { facts, ordinal, primary }: Member): Hold | null {
  const { policy, overridden, deadlines } = situation;
  if (policy.inPlaceUpdates.mode !== 'Only' || isApproved(situation) || overridden.has('RestartNeeded')) return null;
  const opening = nextRestartWindow(situation, primary);
  if (opening !== null && deadlines.reached(0, opening.inSeconds)) return null;
  return { rule: 'RestartNeeded', member: ordinal, reasons: whyReplaced(facts.inPlace), opensAt: opening?.at ?? null };
}

/** When the next window for restarts begins that is long enough, be it now; `null` without one in the next 30 days. */
function nextRestartWindow(situation: Situation, primary: boolean): Moment | null {
  const { maintenance } = situation.snapshot;
  if (maintenance === null || maintenance.restartWindows === null) return null;
  const { restartWindows: windows, memberSeconds } = maintenance;
  situation.deadlines.reached(0, lookAgainSeconds);
  return nextOpening({ windows, blackouts: [] }, primary ? primarySeconds(situation, memberSeconds) : memberSeconds);
}

function whyReplaced(inPlace: InPlaceUpdate | null): readonly string[] {
  if (inPlace?.kind === 'impossible') return inPlace.reasons;
  const { awaited = [], deferred = null } = inPlace?.resize ?? {};
  if (awaited.length === 0) return ['its last update in place is not done'];
  const why = deferred === null ? '' : `, and defers it: ${withoutFullStop(deferred)}`;
  return [`the kubelet has not resized ${awaited.join(', ')}${why}`];
}
