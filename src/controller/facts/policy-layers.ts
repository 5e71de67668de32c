import { type PolicyRecord, policySource } from '../../api/rollout-policy.ts';
import { isObject } from '../../base/json.ts';
import type { LabelSelector, Selectable } from '../../moco/records.ts';
import { selects } from '../../moco/selects.ts';

// The sources of settings, in the order of their precedence.

/** The settings from one source. A layer decides each of its fields that no earlier layer has. */
export interface Layer {
  readonly source: string;
  readonly enforced: boolean;
  /** The path of the settings in the object, such as `spec.settings`. */
  readonly path: string;
  /** The settings as stored, not validated yet. `null` if they cannot be read: the layer may then set any field. */
  readonly fields: Readonly<Record<string, unknown>> | null;
  /** Why it is unknown whether the layer applies here, or `null`. Only fields that the layer decides are affected. */
  readonly problem: string | null;
}

/** The layers of all policies that select a cluster, by descending priority, then by name. */
export interface PolicyLayers {
  /** The layers before the cluster's own MySQLRollout. */
  readonly enforced: readonly Layer[];
  /** The layers after the MySQLRollout. */
  readonly settings: readonly Layer[];
}

interface SelectingPolicy {
  readonly policy: PolicyRecord;
  readonly priority: number;
  readonly problem: string | null;
}

/**
 * The API server sets this label to the name of each namespace, so its value is known even if labels cannot be read.
 */
const namespaceNameLabel = 'kubernetes.io/metadata.name';

/**
 * A policy with unreadable selectors counts for every cluster that its readable selector does not exclude. A policy
 * with an unreadable priority comes first. In both cases only fields that this policy decides hold the cluster.
 */
export function policyLayers(policies: readonly PolicyRecord[], cluster: Selectable): PolicyLayers {
  const candidates = candidatesOf(policies, cluster).toSorted(byPrecedence);
  const layers = (part: 'enforced' | 'settings'): readonly Layer[] =>
    candidates.filter(({ policy }) => policy[part] !== undefined).map((candidate) => layerOf(candidate, part));
  return { enforced: layers('enforced'), settings: layers('settings') };
}

/** The policies that select a cluster, or might. */
export const policiesOf = (policies: readonly PolicyRecord[], cluster: Selectable): readonly PolicyRecord[] =>
  candidatesOf(policies, cluster).map(({ policy }) => policy);

/** How much of the fleet's slots the clusters of a namespace may hold, by decision of a policy. */
export interface NamespaceShare {
  readonly percent: number;
  /** The policy, as `MySQLRolloutPolicy/NAME`. */
  readonly source: string;
}

/** The share of a namespace while it is unknown: that of one cluster at a time, which is the least. */
const leastPercent = 1;

/**
 * The share that a policy sets for a namespace, or `null` if none does. The policy with the highest priority decides,
 * then the first by name. A policy that might select the namespace, or whose share cannot be read, never raises it.
 */
export function namespaceShare(
  policies: readonly PolicyRecord[],
  namespace: Omit<Selectable, 'labels'>,
): NamespaceShare | null {
  const known = policies.flatMap((policy): (SelectingPolicy & NamespaceShare)[] => {
    const { maxNamespaceShare: share } = policy;
    if (share === null) return [];
    const candidate = candidateOf({ ...policy, selector: everyCluster }, { ...namespace, labels: {} });
    if (candidate === null) return [];
    const isReadable = typeof share === 'number';
    const problem = candidate.problem ?? (isReadable ? null : share.problem);
    return [{ ...candidate, problem, percent: isReadable ? share : leastPercent, source: policySource(policy.name) }];
  });
  const ordered = known.toSorted(byPrecedence);
  const certain = ordered.findIndex(({ problem }) => problem === null);
  const possible = certain < 0 ? ordered : ordered.slice(0, certain + 1);
  const [least] = possible.toSorted((one, other) => one.percent - other.percent);
  return least === undefined ? null : { percent: least.percent, source: least.source };
}

const everyCluster: LabelSelector = { matchLabels: {}, matchExpressions: [] };

const byPrecedence = (one: SelectingPolicy, other: SelectingPolicy): number =>
  other.priority - one.priority || (one.policy.name < other.policy.name ? -1 : 1);

const candidatesOf = (policies: readonly PolicyRecord[], cluster: Selectable): readonly SelectingPolicy[] =>
  policies.map((policy) => candidateOf(policy, cluster)).filter((candidate) => candidate !== null);

function candidateOf(policy: PolicyRecord, cluster: Selectable): SelectingPolicy | null {
  const { priority, selector, namespaceSelector } = policy;
  const bySelector = 'problem' in selector ? selector.problem : selects(selector, cluster.labels);
  const byNamespace =
    'problem' in namespaceSelector ? namespaceSelector.problem : selectsNamespace(namespaceSelector, cluster);
  if (bySelector === false || byNamespace === false) return null;
  const byPriority = typeof priority === 'number' ? null : priority.problem;
  const problem = [bySelector, byNamespace, byPriority].find((answer) => typeof answer === 'string') ?? null;
  return { policy, priority: typeof priority === 'number' ? priority : Number.MAX_VALUE, problem };
}

function layerOf({ policy, problem }: SelectingPolicy, part: 'enforced' | 'settings'): Layer {
  const fields = policy[part];
  const path = `spec.${part}`;
  const unreadable = isObject(fields) ? null : `expected ${path} to be an object, got ${JSON.stringify(fields)}`;
  const sentence = problem ?? unreadable;
  const source = policySource(policy.name);
  return {
    source,
    enforced: part === 'enforced',
    path,
    fields: isObject(fields) ? fields : null,
    problem: sentence && `${source}: ${sentence}`,
  };
}

/** A message if it is unknown whether the policy selects the cluster. */
function selectsNamespace(selector: LabelSelector, { namespace, namespaceLabels }: Selectable): boolean | string {
  if (namespaceLabels !== null) return selects(selector, namespaceLabels);
  if (keysOf(selector).every((key) => key === namespaceNameLabel)) {
    return selects(selector, { [namespaceNameLabel]: namespace });
  }
  return (
    `cannot read the labels of namespace ${namespace}, which it selects by; let the controller get, list and ` +
    `watch namespaces, or select by ${namespaceNameLabel} alone`
  );
}

const keysOf = ({ matchLabels, matchExpressions }: LabelSelector): readonly string[] => [
  ...Object.keys(matchLabels),
  ...matchExpressions.map(({ key }) => key),
];
