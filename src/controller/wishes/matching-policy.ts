import { selects } from '../../moco/label-selector.ts';
import type { LabelSelector } from '../../moco/records.ts';
import { type PolicyRecord, policySource, type RolloutPolicySpec } from '../policy-resource.ts';
import type { CommonWishes } from '../rollout-resource.ts';
import { checkCommonWishes, checkSelection } from './checks.ts';

type Labels = Readonly<Record<string, string>>;

/** What policies select a cluster by. */
export interface Selectable {
  readonly namespace: string;
  readonly labels: Labels;
  /** Of its namespace; `null` while they aren't known, or may not be read. */
  readonly namespaceLabels: Labels | null;
}

export type Matching =
  | { readonly kind: 'policy'; readonly name: string; readonly source: string; readonly wishes: CommonWishes }
  | { readonly kind: 'none' }
  /** Which one it is can't be known, or what it says can't be read. */
  | { readonly kind: 'problem'; readonly problem: string };

/** The API server puts this label on every namespace, with its name; so it is known even where no label may be read. */
const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** The one policy whose wishes count for a cluster: of those that select it, the one of the highest weight. */
export function matchingPolicy(policies: readonly PolicyRecord[], cluster: Selectable): Matching {
  const matching: { readonly name: string; readonly spec: RolloutPolicySpec }[] = [];
  for (const { name, spec: unchecked } of policies) {
    const unreadable = checkSelection(unchecked, 'spec');
    if (unreadable !== null) return problem(`${policySource(name)}: ${unreadable}`);
    const spec = unchecked as RolloutPolicySpec;
    const isSelected = isSelectedBy(spec, cluster);
    if (isSelected === null) return problem(namespaceUnknown(name, cluster));
    if (isSelected) matching.push({ name, spec });
  }
  const highest = Math.max(...matching.map(({ spec }) => weightOf(spec)));
  const [policy, ...rivals] = matching.filter(({ spec }) => weightOf(spec) === highest);
  if (policy === undefined) return { kind: 'none' };
  if (rivals.length > 0) return problem(tie([policy, ...rivals].map(({ name }) => name).toSorted(), highest));
  const unreadable = checkCommonWishes(policy.spec, 'spec');
  if (unreadable !== null) return problem(`${policySource(policy.name)}: ${unreadable}`);
  const { name, spec: wishes } = policy;
  return { kind: 'policy', name, source: policySource(name), wishes };
}

const weightOf = ({ weight = 0 }: RolloutPolicySpec): number => weight;

/** `null` where that can't be known. */
function isSelectedBy(
  { selector, namespaceSelector }: RolloutPolicySpec,
  { namespace, labels, namespaceLabels }: Selectable,
): boolean | null {
  if (!selects(whole(selector), labels)) return false;
  const byNamespace = whole(namespaceSelector);
  if (namespaceLabels !== null) return selects(byNamespace, namespaceLabels);
  return keysOf(byNamespace).every((key) => key === namespaceNameLabel)
    ? selects(byNamespace, { [namespaceNameLabel]: namespace })
    : null;
}

/** Of a policy, unlike of a PodDisruptionBudget, a selector that is left out selects everything. */
function whole({ matchLabels = {}, matchExpressions = [] }: Partial<LabelSelector> = {}): LabelSelector {
  return { matchLabels, matchExpressions };
}

const keysOf = ({ matchLabels, matchExpressions }: LabelSelector): readonly string[] => [
  ...Object.keys(matchLabels),
  ...matchExpressions.map(({ key }) => key),
];

const problem = (sentence: string): Matching => ({ kind: 'problem', problem: sentence });

function namespaceUnknown(name: string, { namespace }: Selectable): string {
  return (
    `expected to know the labels of namespace ${namespace}, by which ${policySource(name)} selects, and can't read ` +
    `them; let the controller get, list and watch namespaces, or select by ${namespaceNameLabel} alone`
  );
}

function tie(names: readonly string[], weight: number): string {
  const [first, second, ...more] = names.map(policySource);
  return (
    `expected one MySQLRolloutPolicy of the highest weight to select this cluster, got ${first} and ${second}` +
    `${more.length > 0 ? ` and ${more.length} more` : ''}, all of weight ${weight}; change the weight of all but one`
  );
}
