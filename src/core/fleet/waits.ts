/** So many rollouts fail that none may begin (--max-failing-rollouts). */
export interface FailingFleet {
  readonly failing: number;
  /** So many failing rollouts stop the others. */
  readonly limit: number;
  /** One of them, as `namespace/name`. */
  readonly cluster: string;
}

/** Why a cluster may not begin a rollout, because of other clusters. */
export type FleetHold = { readonly rule: 'FleetFailing' } & FailingFleet;

/** A hold that others cause, and the seconds until time alone ends it; `null` if time does not end it. */
export interface FleetWait {
  readonly hold: FleetHold;
  readonly remainingSeconds: number | null;
}
