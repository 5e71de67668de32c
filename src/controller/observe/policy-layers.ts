import { type PolicyRecord, policySelection, policySource } from '../../api/policy.ts';
import { problemOf } from '../../api/schema.ts';
import { selects } from '../../moco/label-selector.ts';
import type { LabelSelector } from '../../moco/records.ts';

type Labels = Readonly<Record<string, string>>;

/** What policies select a cluster by. */
export interface Selectable {
  readonly namespace: string;
  readonly labels: Labels;
  /** The labels of its namespace. `null` while they are unknown or may not be read. */
  readonly namespaceLabels: Labels | null;
}

/** The settings from one source. A layer decides each of its fields that no earlier layer decides. */
export interface Layer {
  readonly source: string;
  readonly enforced: boolean;
  /** The path of the settings in the object, such as `spec.settings`. */
  readonly path: string;
  /** The settings as stored, not validated yet. `null` if they cannot be read: the layer may then have any field. */
  readonly fields: Readonly<Record<string, unknown>> | null;
  /**
   * Why it is unknown whether the layer belongs at this place, or `null`. Only fields that the layer decides are
   * affected.
   */
  readonly problem: string | null;
}

/** The layers of all policies that select a cluster, by descending priority, then by name. */
export interface PolicyLayers {
  /** The layers before the cluster's own MySQLRollout. */
  readonly enforced: readonly Layer[];
  /** The layers after the MySQLRollout. */
  readonly settings: readonly Layer[];
}

interface Candidate {
  readonly name: string;
  readonly priority: number;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly problem: string | null;
}

/**
 * The API server sets this label to the name of each namespace. So its value is known even if labels may not be read.
 */
const namespaceNameLabel = 'kubernetes.io/metadata.name';

/**
 * A policy with unreadable selectors counts for every cluster that its readable selector does not exclude. A policy
 * with an unreadable priority comes first. In both cases the cluster is held only for fields that this policy decides.
 */
export function policyLayers(policies: readonly PolicyRecord[], cluster: Selectable): PolicyLayers {
  const candidates = policies
    .map((policy) => candidateOf(policy, cluster))
    .filter((candidate) => candidate !== null)
    .toSorted((one, other) => other.priority - one.priority || (one.name < other.name ? -1 : 1));
  const layers = (part: 'enforced' | 'settings'): readonly Layer[] =>
    candidates.filter(({ spec }) => spec[part] !== undefined).map((candidate) => layerOf(candidate, part));
  return { enforced: layers('enforced'), settings: layers('settings') };
}

function candidateOf({ name, spec }: PolicyRecord, cluster: Selectable): Candidate | null {
  if (!isObject(spec)) {
    const problem = problemOf(policySelection, spec, 'spec');
    return { name, priority: Number.MAX_VALUE, spec: { enforced: null, settings: null }, problem };
  }
  const { selector, namespaceSelector, priority = 0 } = spec;
  const unreadable = (field: 'selector' | 'namespaceSelector' | 'priority'): string | null =>
    spec[field] === undefined ? null : problemOf(policySelection.shape[field], spec[field], `spec.${field}`);
  const bySelector = unreadable('selector') ?? selects(whole(selector), cluster.labels);
  const byNamespace = unreadable('namespaceSelector') ?? selectsNamespace(whole(namespaceSelector), cluster);
  if (bySelector === false || byNamespace === false) return null;
  const unreadablePriority = unreadable('priority');
  const problem = [bySelector, byNamespace, unreadablePriority].find((answer) => typeof answer === 'string') ?? null;
  return { name, priority: unreadablePriority === null ? Number(priority) : Number.MAX_VALUE, spec, problem };
}

function layerOf({ name, spec, problem }: Candidate, part: 'enforced' | 'settings'): Layer {
  const fields = spec[part];
  const path = `spec.${part}`;
  const unreadable = isObject(fields) ? null : `expected ${path} to be an object, got ${JSON.stringify(fields)}`;
  const sentence = problem ?? unreadable;
  return {
    source: policySource(name),
    enforced: part === 'enforced',
    path,
    fields: isObject(fields) ? fields : null,
    problem: sentence && `${policySource(name)}: ${sentence}`,
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

/** An absent selector of a policy selects everything, unlike that of a PodDisruptionBudget. */
function whole(selector: unknown): LabelSelector {
  const { matchLabels = {}, matchExpressions = [] } = (selector ?? {}) as Partial<LabelSelector>;
  return { matchLabels, matchExpressions };
}

const keysOf = ({ matchLabels, matchExpressions }: LabelSelector): readonly string[] => [
  ...Object.keys(matchLabels),
  ...matchExpressions.map(({ key }) => key),
];

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
