import type { MySQLRollout } from '../../api/rollout.ts';
import type { PreflightStatus } from '../../api/rollout-status.ts';
import { type AwaitedNode, type NodeRefusal, type Preflight, retryAfterSeconds } from '../../core/on-demand-facts.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { milliseconds } from '../../moco/json.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';

/** The preflight of a revision, as the status has it. */
export interface KnownPreflight extends PreflightStatus {
  /** On the monotonic clock. */
  readonly readAtMilliseconds: number;
}

export type NodeResult = PreflightStatus['nodes'][number];

/** What this process knows of the last preflight, or what the status has of it, for whatever revision. */
export const lastPreflight = (
  known: KnownPreflight | null,
  rollout: Pick<MySQLRollout, 'status'> | null,
): PreflightStatus | null => known ?? rollout?.status?.preflight ?? null;

/** That of the update revision. `null` while the setting is off, or before it has begun. */
export function preflightOf(
  { statefulSet }: Pick<ClusterObjects, 'statefulSet'>,
  { prepull }: Pick<RolloutPolicy, 'prepull'>,
  last: PreflightStatus | null,
): PreflightStatus | null {
  return prepull !== 'Never' && last !== null && last.revision === statefulSet?.updateRevision ? last : null;
}

/** One due member of each node. */
export function dueOnNodes(
  { statefulSet, pods }: Pick<ClusterObjects, 'statefulSet' | 'pods'>,
  { pinnedOrdinals, partition }: Pick<RolloutPolicy, 'pinnedOrdinals' | 'partition'>,
): ReadonlyMap<string, PodRecord> {
  const due = pods.filter(
    ({ node, ordinal, revision, deletionTimestamp }) =>
      node !== null &&
      deletionTimestamp === null &&
      revision !== statefulSet?.updateRevision &&
      ordinal >= partition &&
      !pinnedOrdinals.includes(ordinal),
  );
  return new Map(due.map((pod) => [pod.node ?? '', pod]));
}

/**
 * `null` while the setting is off, or MOCO drives the rollout.
 *
 * @param age seconds since a timestamp of the status, under a name that is its alone
 */
export function preflightFacts(
  objects: ClusterObjects,
  policy: RolloutPolicy,
  last: PreflightStatus | null,
  age: (fact: string, timestamp: string) => number,
): Preflight | null {
  if (policy.prepull === 'Never' || policy.mode === 'MOCO' || objects.statefulSet === null) return null;
  const results = preflightOf(objects, policy, last)?.nodes ?? [];
  const awaited: AwaitedNode[] = [];
  const refusals: NodeRefusal[] = [];
  for (const nodeName of [...dueOnNodes(objects, policy).keys()].toSorted()) {
    const known = results.find(({ name }) => name === nodeName);
    const { result, since, at, message, trying } = known ?? {};
    if (result === undefined || since === undefined || at === undefined) {
      const forSeconds = since === undefined ? 0 : age(`preflight on ${nodeName}`, since);
      awaited.push({ nodeName, forSeconds, message: message ?? null });
    } else if (result === 'ImageUnavailable' || result === 'ConfigurationRefused') {
      const lastedSeconds = ((milliseconds(at) ?? 0) - (milliseconds(since) ?? 0)) / 1000;
      const againInSeconds = Math.max(0, retryAfterSeconds(lastedSeconds) - age(`refusal of ${nodeName}`, at));
      refusals.push({ nodeName, result, message: message ?? '', againInSeconds: trying ? 0 : againInSeconds });
    }
  }
  return { awaited, refusals };
}

/** Whether images of the update revision are on the node, or will be before it is needed there. */
export function fetches(preflight: PreflightStatus | null, { prepull }: RolloutPolicy): (node: string) => boolean {
  return (node) => {
    const result = preflight?.nodes.find(({ name }) => name === node)?.result;
    return prepull !== 'Never' && result !== 'TimedOut' && result !== 'Skipped' && result !== 'Unknown';
  };
}
