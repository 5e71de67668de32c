import { type PolicyRecord, policySource } from '../../api/rollout-policy.ts';
import { isObject } from '../../base/json.ts';
import type { LabelSelector, Selectable } from '../../moco/records.ts';
import { selects } from '../../moco/selects.ts';

// The sources of settings, in the order of their precedence.

/**
 * The settings from one source. A layer decides each field that it sets, unless an earlier layer sets that field too.
 */
export interface Layer {
  readonly source: string;
  readonly enforced: boolean;
  /** The path of the settings in their object, such as `spec.settings`. */
  readonly path: string;
  /** The settings as stored, before validation. `null` if they cannot be read: the layer may then set any field. */
  readonly fields: Readonly<Record<string, unknown>> | null;
  /**
   * Why it is unknown whether the layer applies to the cluster, or `null`. It affects only the fields that the layer
   * decides.
   */
  readonly problem: string | null;
}

/** The layers of all policies that select a cluster, by descending priority, then by name. */
export interface PolicyLayers {
  /** The layers that override the cluster's own MySQLRollout. */
  readonly enforced: readonly Layer[];
  /** The layers that the cluster's own MySQLRollout overrides. */
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
 * A policy with an unreadable selector is assumed to select every cluster, except clusters that its other selector
 * excludes. A policy with an unreadable priority comes first. In both cases a cluster is held only if the policy
 * decides one of the cluster's settings.
 */
export function policyLayers(policies: readonly PolicyRecord[], cluster: Selectable): PolicyLayers {
  const candidates = candidatesOf(policies, cluster).toSorted(byPrecedence);
  const layers = (part: 'enforced' | 'settings'): readonly Layer[] =>
    candidates.filter(({ policy }) => policy[part] !== undefined).map((candidate) => layerOf(candidate, part));
  return { enforced: layers('enforced'), settings: layers('settings') };
}

/** The policies that select a cluster, or may select it. */
export const policiesOf = (policies: readonly PolicyRecord[], cluster: Selectable): readonly PolicyRecord[] =>
  candidatesOf(policies, cluster).map(({ policy }) => policy);

/** The share of the fleet's slots that the clusters of one namespace may occupy, as set by a policy. */
export interface NamespaceShare {
  readonly percent: number;
  /** The policy, as `MySQLRolloutPolicy/NAME`. */
  readonly source: string;
}

/**
 * The share of a namespace if the share in its policy cannot be read. It is the smallest share: one cluster at a time.
 */
const leastPercent = 1;

/**
 * The share that a policy sets for a namespace, or `null` if none does. The policy with the highest priority decides,
 * or the first by name if several have that priority. A policy never raises the share if it is unknown whether it
 * selects the namespace, or if its share cannot be read.
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

/** Whether the selector matches the namespace. If that is unknown, a message that says why. */
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
