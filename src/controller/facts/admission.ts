import type { AdmissionProblem, ClusterSnapshot } from '../../core/snapshot.ts';

/** The reason of a failure that this program detects: a dry run showed that admission has no effect. */
export const admissionNotInForce = 'AdmissionNotInForce';

/** The reason of a refusal that this program detects: a dry run of a release would update members. */
export const releaseUnsafe = 'ReleaseUnsafe';

/** After this time another dry run shows whether a webhook has given way to the admission policy. */
const webhookCountsMilliseconds = 600_000;

/** Who keeps the strategy of StatefulSets with our label. */
export type StrategyKeeper = NonNullable<ClusterSnapshot['strategyKeeper']>;

export interface AdmissionFinding {
  readonly mode: AdmissionProblem['mode'];
  readonly finding: string;
  readonly tries: number;
  readonly atMilliseconds: number;
}

export interface KnownKeeper {
  readonly keeper: StrategyKeeper;
  readonly atMilliseconds: number;
}

/** `null` if it is not known, or no longer. */
export function keeperKnown(known: KnownKeeper | null, nowMilliseconds: number): StrategyKeeper | null {
  const isOld = known !== null && nowMilliseconds - known.atMilliseconds > webhookCountsMilliseconds;
  return known === null || (known.keeper === 'webhook' && isOld) ? null : known.keeper;
}
