import type { Decision, Hold } from '../../core/decision.ts';
import type { EffectKind } from '../../core/effects.ts';
import type { FleetWait } from '../../core/fleet/waits.ts';
import { assumedEnd, ruleGroups } from '../../core/rules/catalogue.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { milliseconds } from '../../moco/json.ts';

/** How long MOCO is expected to take for a switchover. Nothing measures it for a cluster. */
export const switchoverSeconds = 10;

/** How long a wait that ends by itself is expected to last. Some, such as a backup, count as over at once. */
export function waitSeconds(hold: Hold, { requeueAfterSeconds }: Decision, memberSeconds: number): number {
  switch (assumedEnd(hold)?.lasts) {
    case 'member':
      return memberSeconds;
    case 'switchover':
      return switchoverSeconds;
    case 'requeue':
      return requeueAfterSeconds ?? 0;
    default:
      return 0;
  }
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

const absences: ReadonlySet<EffectKind> = new Set(['removes', 'leavesService']);

/** The members that a step makes unavailable for a while. A demotion does so when it has moved the primary. */
export function takenBy({ step, effects }: Pick<Decision, 'step' | 'effects'>): readonly number[] {
  if (step.kind === 'demote') return [];
  const taken = effects.flatMap(({ kind, member }) => (absences.has(kind) && member !== null ? [member.ordinal] : []));
  return [...new Set(taken)];
}
