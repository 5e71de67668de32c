import type { InPlaceChange, InPlaceUpdate, Resize } from './in-place-changes.ts';
import { nextOpening, primarySeconds } from './maintenance.ts';
import type { NotAsked } from './on-demand-facts.ts';
import { plural, withoutFullStop } from './sentences.ts';
import { dueMembers, isApproved, type Member, type Situation, target } from './situation.ts';
import type { MemberFacts, Moment } from './snapshot.ts';
import type { Step } from './step.ts';

// The other way to update a working member: its running pod is changed into what the update revision would have
// created. Under OnDelete a pod counts as updated if its label names the update revision. The label is written last. So
// if a resize never ends, the member stays stale and is replaced like any other member.

export type StepInPlace = Extract<Step, { kind: 'updateInPlace' | 'resizeInPlace' }>;

/**
 * How long the kubelet may take for a resize before the member is replaced. The kubelet retries a deferred resize every
 * 3 minutes.
 */
const resizeLimitSeconds = 300;

/**
 * The next change in place that brings the member closer to the update revision, or `null`. Only a working member is
 * changed.
 */
export function stepInPlace(situation: Situation, member: Member): StepInPlace | null {
  const change = changeInPlace(situation, member);
  if (change === null) return null;
  const targets = [target(member)] as const;
  const { updateRevision: revision } = situation;
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
  return supersedes(inPlace) || inPlace.resize === null || isResized(inPlace.resize) ? inPlace.change : null;
}

/** The member needs another resize, which replaces its earlier resize for another revision. */
const supersedes = (inPlace: MemberFacts['inPlace']): boolean =>
  inPlace?.kind === 'possible' && inPlace.change.resources.length > 0;

/** A resize of the member is in progress. */
export const isBeingResized = ({ inPlace }: MemberFacts): boolean =>
  inPlace?.kind === 'possible' && inPlace.resize !== null && !isResized(inPlace.resize);

const isResized = ({ awaited }: Resize): boolean => awaited.length === 0;

/** A member that is being resized, and what the kubelet reports about the resize. */
export interface AwaitedResize {
  readonly member: number;
  readonly containers: readonly string[];
  /** Why the kubelet defers the resize, or `null`. */
  readonly deferred: string | null;
  readonly minReadySeconds: number;
}

/**
 * The first due member that is being resized, or that was resized less than minReadySeconds ago. Until that time has
 * passed, no other working member is replaced.
 *
 * @param asked members that do not wait for their own earlier resize, because their next resize replaces it
 */
export function awaitingResize(situation: Situation, asked: readonly Member[] = []): AwaitedResize | null {
  const { policy, deadlines } = situation;
  const { minReadySeconds } = policy;
  for (const { facts, ordinal } of dueMembers(situation)) {
    const resize = facts.inPlace?.kind === 'possible' ? facts.inPlace.resize : null;
    if (resize === null || (supersedes(facts.inPlace) && asked.some((one) => one.ordinal === ordinal))) continue;
    const { awaited, deferred, forSeconds } = resize;
    const isOver = isResized(resize)
      ? deadlines.reached(Math.min(forSeconds, facts.participatingForSeconds ?? 0), minReadySeconds)
      : deadlines.reached(forSeconds, resizeLimitSeconds);
    if (!isOver) return { member: ordinal, containers: awaited, deferred, minReadySeconds };
  }
  return null;
}

/**
 * Whether the primary is changed without a switchover. No switchover is needed if no container restarts, and none is
 * possible in a single-member cluster. If a restarted container cannot start, the pod is not ready, and then the
 * primary's Service has no endpoint. So the primary moves first, unless the user wants it changed in place.
 */
export function isUpdatedAsPrimary({ policy, replicas }: Situation, step: StepInPlace): boolean {
  const restarts = step.rule === 'ContainersRestart' || step.rule === 'ResizeRestartsContainers';
  return replicas === 1 || !restarts || policy.inPlaceUpdates.primary === 'InPlace';
}

/** How a stale member reaches the update revision, in a few words. */
export function explainInPlace(update: InPlaceUpdate | NotAsked): string {
  if (update.kind === 'notAsked') return 'not known yet';
  if (update.kind === 'impossible') return `by another pod: ${update.reasons.map(withoutFullStop).join('; ')}`;
  const { resources, containers } = update.change;
  const resized = [...new Set([...resources.map(({ name }) => name), ...(update.resize?.awaited ?? [])])];
  const names = [...resources.filter(({ restarts }) => restarts), ...containers].map(({ name }) => name);
  const restarted = [...new Set(names)];
  return [
    'in place',
    ...(resized.length === 0 ? [] : [`resize of ${resized.join(', ')}`]),
    restarted.length === 0 ? 'nothing restarts' : `${restarted.join(', ')} ${plural(restarted, 'restarts', 'restart')}`,
  ].join(', ');
}

export interface NeededRestart {
  readonly member: number;
  readonly reasons: readonly string[];
  /** When the next sufficiently long window for restarts opens, within 30 days. */
  readonly opensAt: string | null;
}

/** With `inPlace.mode: Only`, a working member is replaced only after an approval or during a restart window. */
export function restartNeeded(situation: Situation, member: Member): NeededRestart | null {
  const { policy, deadlines } = situation;
  if (policy.mode !== 'OnDelete' || policy.inPlaceUpdates.mode !== 'Only' || isApproved(situation)) return null;
  if (stepInPlace(situation, member) !== null) return null;
  const { facts, ordinal, primary } = member;
  const opening = nextRestartWindow(situation, primary);
  if (opening !== null && deadlines.reached(0, opening.inSeconds)) return null;
  return { member: ordinal, reasons: whyReplaced(facts.inPlace), opensAt: opening?.at ?? null };
}

/**
 * The start of the next (or current) window for restarts of at least this length; `null` if there is none in the next
 * 30 days.
 */
function nextRestartWindow(situation: Situation, primary: boolean): Moment | null {
  const { maintenance } = situation.snapshot;
  if (maintenance === null || maintenance.restartWindows === null) return null;
  const { restartWindows: windows, memberSeconds } = maintenance;
  return nextOpening({ windows, blackouts: [] }, primary ? primarySeconds(situation, memberSeconds) : memberSeconds);
}

function whyReplaced(inPlace: MemberFacts['inPlace']): readonly string[] {
  if (inPlace?.kind === 'impossible') return inPlace.reasons;
  if (inPlace?.kind === 'notAsked') return ['it is not known yet what differs'];
  const { awaited = [], deferred = null } = inPlace?.resize ?? {};
  if (awaited.length === 0) return ['its last update in place is not done'];
  const why = deferred === null ? '' : ` and is deferring the resize (${withoutFullStop(deferred)})`;
  return [`the kubelet has not resized ${awaited.join(', ')}${why}`];
}
