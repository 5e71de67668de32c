import { type Json, object, objects, strings, text, texts } from '../base/json.ts';
import { revisionHashLabel } from './names.ts';
import { matches, refusalsOf, tiesOf } from './nodes.ts';
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

const labelsOf = (node: Json): Readonly<Record<string, string>> => texts(object(node['metadata'])['labels']);
const nameOf = (node: Json): string => text(object(node['metadata'])['name']) ?? '';

/**
 * The nodes that the other members rule out for the next pod of a member.
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
  return [
    ...objects(affinity['requiredDuringSchedulingIgnoredDuringExecution'])
      .filter((term) => concerns(term, namespace))
      .map((term) => apart(term, labels, others, nodes)),
    ...objects(spec['topologySpreadConstraints'])
      .filter((constraint) => constraint['whenUnsatisfiable'] === 'DoNotSchedule')
      .map((constraint) => spread(constraint, labels, template, others, nodes)),
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

function apart(
  term: Json,
  labels: Readonly<Record<string, string>>,
  others: readonly PlacedPod[],
  nodes: readonly Json[],
): Barrier {
  const key = text(term['topologyKey']) ?? '';
  const selector = selectorWith(term, labels);
  const taken = new Set(
    others.filter((pod) => selects(selector, pod.labels)).flatMap(({ node }) => domainOf(nodes, node, key)),
  );
  return {
    what: `the required pod anti-affinity by ${key}`,
    allows: (node) => {
      const domain = labelsOf(node)[key];
      return domain === undefined || !taken.has(domain);
    },
  };
}

function domainOf(nodes: readonly Json[], name: string | null, key: string): readonly string[] {
  const node = nodes.find((one) => nameOf(one) === name);
  const domain = node === undefined ? undefined : labelsOf(node)[key];
  return domain === undefined ? [] : [domain];
}

function spread(
  constraint: Json,
  labels: Readonly<Record<string, string>>,
  template: Json,
  others: readonly PlacedPod[],
  nodes: readonly Json[],
): Barrier {
  const key = text(constraint['topologyKey']) ?? '';
  const selector = selectorWith(constraint, labels);
  const maxSkew = Number(constraint['maxSkew'] ?? 1);
  const counts = new Map(
    nodes
      .filter((node) => countsFor(constraint, template, node))
      .flatMap((node): readonly [string, number][] => {
        const domain = labelsOf(node)[key];
        return domain === undefined ? [] : [[domain, 0]];
      }),
  );
  for (const { node, labels: own, terminating } of others) {
    if (terminating || !selects(selector, own)) continue;
    for (const domain of domainOf(nodes, node, key)) {
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
      const domain = labelsOf(node)[key];
      return domain !== undefined && (counts.get(domain) ?? 0) + own - fewest <= maxSkew;
    },
  };
}

/**
 * Whether the domain of the node counts. By default it counts if the template's node constraints match the node,
 * regardless of taints.
 */
function countsFor(constraint: Json, template: Json, node: Json): boolean {
  const { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint;
  const isTied = nodeAffinityPolicy === 'Honor' && !tiesOf(template).every((tie) => matches(tie, node));
  const tolerations = objects(object(template['spec'])['tolerations']);
  const isTainted = nodeTaintsPolicy === 'Honor' && refusalsOf(node, tolerations).length > 0;
  return !isTied && !isTainted;
}
