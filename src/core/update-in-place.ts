import { isApproved } from './approval.ts';
import type { Hold, Step } from './decision.ts';
import type { InPlaceChange, InPlaceUpdate } from './in-place.ts';
import { plural, withoutFullStop } from './sentences.ts';
import { descending, dueMembers, type Member, type Outcome, type Situation, take, target } from './situation.ts';

// The other way to update a member that works: its running pod is changed into what the update revision would have
// created. Under OnDelete a pod counts as updated once its label says so.

/** The change that updates the member without another pod, or `null`. Only a member that works is changed. */
export function changeInPlace({ policy }: Situation, { facts, state, settled }: Member): InPlaceChange | null {
  const { inPlace, restartInPlace } = facts;
  if (policy.inPlaceUpdates.mode === 'Never' || state !== 'participating' || !settled) return null;
  if (inPlace?.kind !== 'possible' || (restartInPlace !== null && restartInPlace.awaited.length > 0)) return null;
  return inPlace.change;
}

/**
 * Members whose update restarts nothing. No member goes, so the gates for members that work, the fleet and maintenance
 * windows are not asked.
 */
export function nothingRestarts(situation: Situation): Outcome | null {
  for (const member of descending(dueMembers(situation))) {
    const change = changeInPlace(situation, member);
    if (change?.containers.length === 0) return take(updateInPlace(situation, member, change));
  }
  return null;
}

export function updateInPlace({ snapshot }: Situation, member: Member, change: InPlaceChange): Step {
  return {
    kind: 'updateInPlace',
    rule: change.containers.length === 0 ? 'NothingRestarts' : 'ContainersRestart',
    targets: [target(member)],
    revision: snapshot.statefulSet?.updateRevision ?? '',
    change,
  };
}

/**
 * The containers of a primary restart without a switchover. By default not if one of them answers the probes of mysqld:
 * until it is back, the primary may turn not ready. A single member has nobody to switch over to.
 */
export function isUpdatedAsPrimary({ policy, replicas }: Situation, { facts }: Member, change: InPlaceChange): boolean {
  const restarted = facts.containers.filter(({ name }) => change.containers.some((one) => one.name === name));
  const answersProbes = restarted.some(({ part }) => part === 'agent');
  return (
    replicas === 1 || (policy.inPlaceUpdates.primary ?? (answersProbes ? 'AfterSwitchover' : 'InPlace')) === 'InPlace'
  );
}

/** How a stale member gets to the update revision, in a few words. */
export function explainInPlace(update: InPlaceUpdate): string {
  if (update.kind === 'impossible') return `by another pod: ${update.reasons.map(withoutFullStop).join('; ')}`;
  const { containers } = update.change;
  if (containers.length === 0) return 'in place, nothing restarts';
  return `in place, ${containers.map(({ name }) => name).join(', ')} ${plural(containers, 'restarts', 'restart')}`;
}

/** With `inPlace.mode: Only` a member that works is replaced only once somebody allows it. */
export function restartNeeded(situation: Situation, { facts, ordinal }: Member): Hold | null {
  const { policy, overridden } = situation;
  if (policy.inPlaceUpdates.mode !== 'Only' || isApproved(situation) || overridden.has('RestartNeeded')) return null;
  const { inPlace } = facts;
  const reasons = inPlace?.kind === 'impossible' ? inPlace.reasons : ['its last update in place is not done'];
  return { rule: 'RestartNeeded', member: ordinal, reasons };
}
