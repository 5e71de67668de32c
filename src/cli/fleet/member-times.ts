import type { Decision, Hold, HoldRule, Step } from '../../core/decision.ts';
import type { FleetWait } from '../../core/fleet/waits.ts';
import { ruleGroups } from '../../core/rules/catalogue.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { milliseconds } from '../../moco/timestamp.ts';

/** How long MOCO is expected to take for a switchover. Nothing measures it for a cluster. */
export const switchoverSeconds = 10;

/** The rollout waits for a member to come up, or to be replaced by another program. */
const memberWaits: ReadonlySet<HoldRule> = new Set([
  'AwaitingMoco',
  'AwaitingRecovery',
  'BatchNotComplete',
  'ClusterNotHealthy',
  'MaxUnavailableReached',
  'MemberMissing',
  'MemberTerminating',
  'NotEnoughAcknowledging',
  'UpdatedMemberNotParticipating',
]);

const switchoverWaits: ReadonlySet<HoldRule> = new Set([
  'AwaitingFailover',
  'AwaitingSwitchover',
  'RolesNotSettled',
  'SwitchoverInProgress',
]);

const timedWaits: ReadonlySet<HoldRule> = new Set(['RevisionFlapping', 'SwitchoverFailing']);

/** How long a wait that ends by itself is expected to last. Others, such as a backup, count as over at once. */
export function waitSeconds({ rule }: Hold, { requeueAfterSeconds }: Decision, memberSeconds: number): number {
  if (memberWaits.has(rule)) return memberSeconds;
  if (switchoverWaits.has(rule)) return switchoverSeconds;
  return timedWaits.has(rule) ? (requeueAfterSeconds ?? 0) : 0;
}

/** Waits for other clusters or for a window. They end when these change, or at a time that the hold names. */
export const isOutside = (hold: Hold): boolean => hold.rule in ruleGroups.fleet || 'opensAt' in hold;

/** When such a wait ends by time alone, in Unix seconds; `null` if it does not. */
export function endsAt(
  hold: Hold,
  { fleetInterval }: Pick<ClusterSnapshot, 'fleetInterval'>,
  nowSeconds: number,
): number | null {
  if (hold.rule === 'AwaitingFleetInterval' && fleetInterval !== null) {
    return nowSeconds + Math.ceil(fleetInterval.seconds - fleetInterval.sinceSeconds);
  }
  if ('opensAt' in hold) {
    const opening = milliseconds(hold.opensAt);
    return opening === null ? null : Math.ceil(opening / 1000);
  }
  return isTimed(hold) ? Math.ceil(hold.until) : null;
}

type Timed = Extract<FleetWait['hold'], { readonly until: number }>;

const isTimed = (hold: Hold): hold is Timed => hold.rule === 'AwaitingSoak' || hold.rule === 'AwaitingSettle';

/** The members that a step takes. Containers that restart in place count as long as a member that is replaced. */
export function takenBy(step: Step): readonly number[] {
  return (step.kind === 'updateInPlace' && step.rule === 'ContainersRestart') ||
    step.kind === 'delete' ||
    step.kind === 'evict' ||
    step.kind === 'setPartition'
    ? step.targets.map(({ ordinal }) => ordinal)
    : [];
}
