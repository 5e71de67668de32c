import { type PolicyRecord, policyKind, policySource, projectPolicy } from '../../api/rollout-policy.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import { decidingPolicies } from '../facts/settings-in-force.ts';
import type { Row, Sources } from './asking.ts';

/** The MySQLRolloutPolicies for a confirmation. Those in `names` were read again; the others come from the cache. */
interface ReadPolicies {
  readonly names: readonly string[];
  readonly policies: readonly PolicyRecord[];
}

/** At most two policies decide each setting, so the number of reads does not grow with the number of policies. */
export const policies: Row<'policies', ReadPolicies | null> = {
  asks: 'the API server: the MySQLRolloutPolicies that decide a setting of the cluster',
  lasts: 'as long as the policies are in the cache; a confirmation reads them again',
  silence: 'no step',
  initial: null,
  facts: () => ({}),
  confirm: {
    order: 'withObjects',
    plan: (_, { observed: { objects }, sources }) => {
      const names = policiesToRead(objects, sources);
      return { requests: names.length, ask: (api) => readPolicies(names, objects, sources, api) };
    },
    isForgotten: true,
    isOvertaken: (answer, objects, sources) => answer !== null && isAnotherInForce(answer, objects, sources),
  },
  status: { whileOutstanding: 'its hold' },
};

function policiesToRead({ cluster }: ClusterObjects, { cache }: Pick<Sources, 'cache'>): readonly string[] {
  const sources = cache.settingsSources(cluster);
  const deciding = decidingPolicies(sources);
  return sources.policies.map(({ name }) => name).filter((name) => deciding.has(policySource(name)));
}

async function readPolicies(
  names: readonly string[],
  { cluster }: ClusterObjects,
  { cache }: Pick<Sources, 'cache'>,
  api: ClusterReader,
): Promise<ReadPolicies> {
  const live = await Promise.all(names.map((name) => api.read(policyKind, { name })));
  const others = cache.settingsSources(cluster).policies.filter(({ name }) => !names.includes(name));
  return { names, policies: [...others, ...live.filter((policy) => policy !== null).map(projectPolicy)] };
}

/** Whether a policy that was not read again now decides a setting. If so, the next reconciliation reads it. */
function isAnotherInForce(
  { names, policies: read }: ReadPolicies,
  { cluster }: ClusterObjects,
  { cache }: Pick<Sources, 'cache'>,
): boolean {
  const deciding = decidingPolicies({ ...cache.settingsSources(cluster), policies: read });
  return read.some(({ name }) => deciding.has(policySource(name)) && !names.includes(name));
}
