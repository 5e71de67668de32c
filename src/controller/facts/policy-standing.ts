import { type PolicyRecord, type PolicyStatus, policySource } from '../../api/rollout-policy.ts';
import type { Condition } from '../../api/rollout-status.ts';
import { isObject, milliseconds } from '../../base/json.ts';
import { conditionsAfter } from './policy-in-force.ts';
import { type Layer, namespaceShare, policiesOf } from './policy-layers.ts';
import { decidingLayers, type SettingsSources } from './settings-in-force.ts';

export interface Governed extends SettingsSources {
  readonly replicas: number;
}

export function policyStatuses(
  policies: readonly PolicyRecord[],
  clusters: readonly Governed[],
  nowTimestamp: string,
): ReadonlyMap<string, PolicyStatus> {
  const decided = clusters.map((one) => ({
    ...one,
    selecting: policiesOf(policies, one.cluster),
    by: new Map<string, Layer>(decidingLayers(one, milliseconds(nowTimestamp) ?? 0)),
    shareOf: namespaceShare(policies, one.cluster)?.source,
  }));
  const statusOf = (policy: PolicyRecord): PolicyStatus => {
    const selected = decided.filter(({ selecting }) => selecting.includes(policy));
    const decides = (part: string, name: string): number =>
      selected.filter(({ by }) => {
        const layer = by.get(name);
        return layer?.source === policySource(policy.name) && layer.enforced === (part === 'enforced');
      }).length;
    const source = policySource(policy.name);
    const share = { name: 'maxNamespaceShare', clusters: selected.filter(({ shareOf }) => shareOf === source).length };
    return {
      observedGeneration: policy.generation,
      clusters: selected.length,
      members: selected.reduce((sum, { replicas }) => sum + replicas, 0),
      settings: [
        ...(['enforced', 'settings'] as const).flatMap((part) =>
          namesIn(policy[part]).map((name) => ({ name: `${part}.${name}`, clusters: decides(part, name) })),
        ),
        ...(policy.maxNamespaceShare === null ? [] : [share]),
      ],
      conditions: policyConditions(policy, selected.length, clusters, nowTimestamp),
    };
  };
  return new Map(policies.map((policy) => [policy.name, statusOf(policy)]));
}

const namesIn = (settings: unknown): readonly string[] => (isObject(settings) ? Object.keys(settings).toSorted() : []);

/** `Readable`: every field is valid. `Selects`: the policy applies to at least one MySQLCluster. */
function policyConditions(
  policy: PolicyRecord,
  selected: number,
  clusters: readonly Governed[],
  nowTimestamp: string,
): readonly Condition[] {
  const one = conditionsAfter(policy.status.conditions, policy.generation, nowTimestamp);
  const condition = (type: string, is: boolean, reason: string, message: string): Condition =>
    one(type, { status: is ? 'True' : 'False', reason, message });
  const { problem } = policy;
  return [
    problem === null
      ? condition('Readable', true, 'Valid', '')
      : condition('Readable', false, 'Invalid', `${problem}; the clusters for which it decides settings are held`),
    selected > 0
      ? condition('Selects', true, 'ClustersSelected', '')
      : condition('Selects', false, 'NothingSelected', whyNothing(policy, clusters)),
  ];
}

function whyNothing(policy: PolicyRecord, clusters: readonly Governed[]): string {
  if (clusters.length === 0) return 'there is no MySQLCluster';
  const all = { ...policy, selector: { matchLabels: {}, matchExpressions: [] } };
  const here = clusters.filter(({ cluster }) => policiesOf([all], cluster).length > 0).length;
  return here === 0
    ? `namespaceSelector selects none of the namespaces of the ${clusters.length} MySQLClusters`
    : `selector selects none of the ${here} MySQLClusters in the selected namespaces: check the names and values of its labels`;
}
