import { type Json, object, objects, strings, texts } from '../base/json.ts';
import type { UnjudgedPlacement } from '../core/on-demand-facts.ts';

// Whether a pod has few enough constraints to compare them with every node. A tenant writes them, and the comparison
// blocks the process. MOCO sets none, and people write a handful.

/** The maximum number of constraints of one kind. Every constraint is compared with every node. */
export const mostConstraints = 64;
/** The maximum number of values of all constraints together. */
export const mostConstraintValues = 256;

/** What a pod adds to the constraints of its template. */
export interface PodConstraints {
  readonly tolerations: number;
  /** Volumes with a claim. Each can be tied to nodes. */
  readonly volumes: number;
}

/**
 * The first kind of constraint that exceeds its limit; `null` if every kind is within its limit. Otherwise, no code may
 * compare the template with nodes.
 */
export function unjudgedPlacement(template: Json, pod: PodConstraints): UnjudgedPlacement | null {
  const spec = object(template['spec']);
  const { nodeAffinity, podAntiAffinity } = object(spec['affinity']);
  const required = (affinity: unknown): unknown => object(affinity)['requiredDuringSchedulingIgnoredDuringExecution'];
  const nodeTerms = objects(object(required(nodeAffinity))['nodeSelectorTerms']);
  const apart = objects(required(podAntiAffinity));
  const spread = objects(spec['topologySpreadConstraints']);
  const expressions = nodeTerms.flatMap((term) => [
    ...objects(term['matchExpressions']),
    ...objects(term['matchFields']),
  ]);
  const selectors = [...apart, ...spread].map((one) => object(one['labelSelector']));
  const selected = selectors.flatMap((selector) => objects(selector['matchExpressions']));
  const keys = [...apart, ...spread].flatMap((one) => [
    ...strings(one['matchLabelKeys']),
    ...strings(one['mismatchLabelKeys']),
  ]);
  const labels = selectors.reduce((sum, selector) => sum + sizeOf(selector['matchLabels']), 0);
  const values = [...expressions, ...selected].reduce((sum, one) => sum + strings(one['values']).length, 0);
  const namespaces = apart.reduce((sum, one) => sum + strings(one['namespaces']).length, 0);
  const kinds: readonly (readonly [what: string, got: number, most: number])[] = [
    ['tolerations in the pod template', objects(spec['tolerations']).length, mostConstraints],
    ['tolerations in the pod', pod.tolerations, mostConstraints],
    ['volumes with a claim in the pod', pod.volumes, mostConstraints],
    ['labels in the nodeSelector of the pod template', sizeOf(spec['nodeSelector']), mostConstraints],
    ['required nodeSelectorTerms in the pod template', nodeTerms.length, mostConstraints],
    ['required node affinity expressions in the pod template', expressions.length, mostConstraints],
    ['required podAntiAffinity terms in the pod template', apart.length, mostConstraints],
    ['topologySpreadConstraints in the pod template', spread.length, mostConstraints],
    [
      'requirements in the label selectors of podAntiAffinity and topologySpreadConstraints in the pod template',
      labels + selected.length + keys.length,
      mostConstraints,
    ],
    [
      'values and namespaces in the affinity and topologySpreadConstraints of the pod template',
      values + namespaces,
      mostConstraintValues,
    ],
  ];
  const [found] = kinds.filter(([, got, most]) => got > most);
  if (found === undefined) return null;
  const [what, got, most] = found;
  return { what, most, got };
}

const sizeOf = (value: unknown): number => Object.keys(texts(value)).length;
