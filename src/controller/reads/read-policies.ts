import { type PolicyRecord, policyKind, policySource, projectPolicy } from '../../api/rollout-policy.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { Dependencies } from '../facts/collect-facts.ts';
import { decidingPolicies } from '../facts/settings-in-force.ts';
import type { Pass } from '../pass/pass.ts';

/** The names of the policies to read: at most two for each setting, whatever the number of policies. */
export function policiesToRead({ cluster }: ClusterObjects, { cache }: Pick<Dependencies, 'cache'>): readonly string[] {
  const sources = cache.settingsSources(cluster);
  const deciding = decidingPolicies(sources);
  return sources.policies.map(({ name }) => name).filter((name) => deciding.has(policySource(name)));
}

/** The MySQLRolloutPolicies for a confirmation: these are read again, the others are cached. */
export async function readPolicies(
  names: readonly string[],
  { cluster }: ClusterObjects,
  { api, context: { cache } }: Pass,
): Promise<readonly PolicyRecord[]> {
  const live = await Promise.all(names.map((name) => api.read(policyKind, { name })));
  const others = cache.settingsSources(cluster).policies.filter(({ name }) => !names.includes(name));
  return [...others, ...live.filter((policy) => policy !== null).map(projectPolicy)];
}

/** Whether a policy that was not read decides a setting after the read. The next reconciliation reads it. */
export function isAnotherInForce(
  policies: readonly PolicyRecord[],
  read: readonly string[],
  { cluster }: ClusterObjects,
  { cache }: Pick<Dependencies, 'cache'>,
): boolean {
  const deciding = decidingPolicies({ ...cache.settingsSources(cluster), policies });
  return policies.some(({ name }) => deciding.has(policySource(name)) && !read.includes(name));
}
