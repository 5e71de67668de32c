import { type Json, object, objects, strings, text, texts } from '../base/json.ts';
import { revisionHashLabel } from './names.ts';
import { labelOf, matches, refusalsOf, tiesOf } from './nodes.ts';
import type { LabelSelector } from './records.ts';
import { selectorOf, selects } from './selects.ts';

// Where a pod may run, given the other members of its cluster: the required rules of the scheduler's plugins
// InterPodAffinity and PodTopologySpread (Kubernetes 1.36). Pods of other workloads are unknown. So if only such pods
// rule out a node, the node counts as accepting the pod.

/** Another member of the cluster, and where it runs now. */
export interface PlacedPod {
  readonly name: string;
  /** The name of its node. */
  readonly node: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly terminating: boolean;
}

/** A constraint that rules nodes out. */
export interface Barrier {
  /** A name for the constraint, in messages for people. */
  readonly what: string;
  readonly allows: (node: Json) => boolean;
}

const nameOf = (node: Json): string => text(object(node['metadata'])['name']) ?? '';

/** What all constraints share. It is computed once, because there may be thousands of nodes. */
interface Cluster {
  readonly labels: Readonly<Record<string, string>>;
  readonly others: readonly PlacedPod[];
  readonly byName: ReadonlyMap<string, Json>;
  /** The nodes whose domains count for a topology spread constraint, according to its policies. */
  readonly counted: (constraint: Json) => readonly Json[];
}

/**
 * The nodes that the other members rule out for the next pod of a member. Call only if `unjudgedPlacement` returns
 * `null`, because the cost grows with the product of constraints and nodes.
 *
 * @param template the template of the update revision
 * @param nodes all nodes
 */
export function barriersOf(
  template: Json,
  revision: string,
  namespace: string,
  others: readonly PlacedPod[],
  nodes: readonly Json[],
): readonly Barrier[] {
  const spec = object(template['spec']);
  const labels = { ...texts(object(template['metadata'])['labels']), [revisionHashLabel]: revision };
  const affinity = object(object(spec['affinity'])['podAntiAffinity']);
  const byName = new Map(nodes.map((node) => [nameOf(node), node]));
  const cluster: Cluster = { labels, others, byName, counted: countedBy(template, nodes) };
  return [
    ...objects(affinity['requiredDuringSchedulingIgnoredDuringExecution'])
      .filter((term) => concerns(term, namespace))
      .map((term) => apart(term, cluster)),
    ...objects(spec['topologySpreadConstraints'])
      .filter((constraint) => constraint['whenUnsatisfiable'] === 'DoNotSchedule')
      .map((constraint) => spread(constraint, cluster)),
  ];
}

/** Whether the template excludes nodes because of the pods on them. */
export function keepsApart(template: Json): boolean {
  const spec = object(template['spec']);
  const affinity = object(object(spec['affinity'])['podAntiAffinity']);
  return (
    objects(affinity['requiredDuringSchedulingIgnoredDuringExecution']).length > 0 ||
    objects(spec['topologySpreadConstraints']).some(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
  );
}

/**
 * Whether the term selects pods of this namespace. If the term has a namespace selector, the answer is assumed to be
 * yes.
 */
function concerns(term: Json, namespace: string): boolean {
  const names = strings(term['namespaces']);
  if (term['namespaceSelector'] !== undefined) return true;
  return names.length === 0 || names.includes(namespace);
}

/**
 * An absent selector selects no pods. With `matchLabelKeys`, a selected pod must have the same values as the pod
 * itself.
 */
function selectorWith(given: Json, labels: Readonly<Record<string, string>>): LabelSelector | null {
  if (given['labelSelector'] === undefined || given['labelSelector'] === null) return null;
  const selector = selectorOf(given['labelSelector']);
  const requirements = (keys: unknown, operator: string) =>
    strings(keys).flatMap((key) => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]));
  return {
    ...selector,
    matchExpressions: [
      ...selector.matchExpressions,
      ...requirements(given['matchLabelKeys'], 'In'),
      ...requirements(given['mismatchLabelKeys'], 'NotIn'),
    ],
  };
}

function apart(term: Json, { labels, others, byName }: Cluster): Barrier {
  const key = text(term['topologyKey']) ?? '';
  const selector = selectorWith(term, labels);
  const taken = new Set(
    others.filter((pod) => selects(selector, pod.labels)).flatMap(({ node }) => domainOf(byName, node, key)),
  );
  return {
    what: `the required pod anti-affinity by ${key}`,
    allows: (node) => {
      const domain = labelOf(node, key);
      return domain === undefined || !taken.has(domain);
    },
  };
}

function domainOf(byName: ReadonlyMap<string, Json>, name: string | null, key: string): readonly string[] {
  const node = name === null ? undefined : byName.get(name);
  const domain = node === undefined ? undefined : labelOf(node, key);
  return domain === undefined ? [] : [domain];
}

function spread(constraint: Json, { labels, others, byName, counted }: Cluster): Barrier {
  const key = text(constraint['topologyKey']) ?? '';
  const selector = selectorWith(constraint, labels);
  const maxSkew = Number(constraint['maxSkew'] ?? 1);
  const counts = new Map(
    counted(constraint).flatMap((node): readonly [string, number][] => {
      const domain = labelOf(node, key);
      return domain === undefined ? [] : [[domain, 0]];
    }),
  );
  for (const { node, labels: own, terminating } of others) {
    if (terminating || !selects(selector, own)) continue;
    for (const domain of domainOf(byName, node, key)) {
      const count = counts.get(domain);
      if (count !== undefined) counts.set(domain, count + 1);
    }
  }
  const isEnough = counts.size >= Number(constraint['minDomains'] ?? 1);
  const fewest = isEnough ? Math.min(...counts.values()) : 0;
  const own = selects(selector, labels) ? 1 : 0;
  return {
    what: `the topology spread by ${key}`,
    allows: (node) => {
      const domain = labelOf(node, key);
      return domain !== undefined && (counts.get(domain) ?? 0) + own - fewest <= maxSkew;
    },
  };
}

/**
 * The nodes whose domains count. By default these are the nodes that match the template's node constraints, regardless
 * of taints.
 */
function countedBy(template: Json, nodes: readonly Json[]): Cluster['counted'] {
  const ties = tiesOf(template);
  const tolerations = objects(object(template['spec'])['tolerations']);
  const matching = once(() => nodes.filter((node) => ties.every((tie) => matches(tie, node))));
  const accepting = once(() => new Set(nodes.filter((node) => refusalsOf(node, tolerations).length === 0)));
  return ({ nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' }) => {
    const tied = nodeAffinityPolicy === 'Honor' ? matching() : nodes;
    return nodeTaintsPolicy === 'Honor' ? tied.filter((node) => accepting().has(node)) : tied;
  };
}

/** Calls the function when its value is first needed, and never again. */
function once<Value extends object>(make: () => Value): () => Value {
  let value: Value | null = null;
  return () => (value ??= make());
}
