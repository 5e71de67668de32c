import type { FleetHold } from '../fleet/waits.ts';
import type { Asked, AssumedEnd } from './rule.ts';

// The holds that other clusters cause are facts; the rules name them.

type HoldOf<Name extends FleetHold['rule']> = Extract<FleetHold, { readonly rule: Name }>;

/** The wait of that name that is not over, or `null`. */
export function waitFor<Name extends FleetHold['rule']>({ situation }: Asked, name: Name): HoldOf<Name> | null {
  const { snapshot, deadlines } = situation;
  for (const { hold, remainingSeconds } of snapshot.fleetWaits) {
    if (hold.rule !== name) continue;
    if (remainingSeconds === null || !deadlines.reached(0, remainingSeconds)) return hold as HoldOf<Name>;
  }
  return null;
}

/** `plan --fleet` plays the other clusters; a plan of one cluster counts the wait as over. */
export const waitIsOver = (name: FleetHold['rule']): AssumedEnd<unknown> => ({
  lasts: 'moment',
  facts: (snapshot) => ({ ...snapshot, fleetWaits: snapshot.fleetWaits.filter(({ hold }) => hold.rule !== name) }),
});
