import type { EndingClaim, TiedToNode } from '../../core/on-demand-facts.ts';
import type { ComebackFacts } from '../../moco/cluster-facts.ts';
import type { Json } from '../../moco/json.ts';
import type { PodRecord } from '../../moco/records.ts';

/** What was last read about whether a member can come back, on the monotonic clock. */
export interface KnownComeback {
  /** The claims that the pod mounts. */
  readonly claimNames: readonly string[];
  /** Those of the pod, as the API server has them. */
  readonly tolerations: readonly Json[];
  /** Those of them that are about to go, or have gone. */
  readonly claims: readonly EndingClaim[];
  readonly tied: TiedToNode | null;
  readonly refusal: string | null;
  /** The update revision that it was read for. */
  readonly revision: string;
  readonly atMilliseconds: number;
}

/** What is known of all members, by the uid of the pod. */
export interface ComebackReadings {
  readonly comebacks: ReadonlyMap<string, KnownComeback>;
  /** Whether the node of a pod was to be emptied when that was last read. */
  readonly leavingNodes: ReadonlyMap<string, boolean>;
}

/** The readings of a pod as facts. */
export function comebackFacts(
  { uid }: Pick<PodRecord, 'uid'>,
  { comebacks, leavingNodes }: ComebackReadings,
  revision: string,
  nowMilliseconds: number,
): ComebackFacts {
  const known = comebacks.get(uid);
  const nodeLeaves = leavingNodes.get(uid) === true;
  if (known?.revision !== revision) return { comeback: null, nodeLeaves };
  const { claims, tied, refusal, atMilliseconds } = known;
  return { comeback: { ageSeconds: (nowMilliseconds - atMilliseconds) / 1000, claims, tied, refusal }, nodeLeaves };
}
