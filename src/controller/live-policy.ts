import type { ClusterObjects } from '../moco/records.ts';
import type { Context } from './context.ts';
import type { PolicyRecord } from './policy-resource.ts';
import { matchingPolicy } from './wishes/matching-policy.ts';

/** The MySQLRolloutPolicies as a confirmation sees them: the one in force as it was just read, the others as cached. */
export interface LivePolicies {
  readonly policies: readonly PolicyRecord[];
  /** The one that was read; `null` where none is in force. */
  readonly read: string | null;
}

/** One request at most, however many policies there are: of all that select a cluster one alone counts. */
export async function readPolicyInForce(
  { cluster }: ClusterObjects,
  { cache, api }: Pick<Context, 'cache' | 'api'>,
  signal: AbortSignal,
): Promise<LivePolicies> {
  const { policies: cached, cluster: selected } = cache.said(cluster);
  const matching = matchingPolicy(cached, selected);
  if (matching.kind !== 'policy') return { policies: cached, read: null };
  const live = await api.readPolicy(matching.name, signal);
  const others = cached.filter(({ name }) => name !== matching.name);
  return { policies: live === null ? others : [...others, live], read: matching.name };
}

/** By what was just read another policy is in force than the one that was read: its turn comes with the next pass. */
export function isAnotherInForce(
  { policies, read }: LivePolicies,
  { cluster }: ClusterObjects,
  { cache }: Pick<Context, 'cache'>,
): boolean {
  const matching = matchingPolicy(policies, cache.said(cluster).cluster);
  return matching.kind === 'policy' && matching.name !== read;
}
