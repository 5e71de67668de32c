import { conditionOf, type Json, object, objects, strings, text, texts } from '../base/json.ts';
import { meets } from './selects.ts';

// Whether a node accepts a pod, as far as that follows from the node's own object and the constraints of the pod: the
// rules of the scheduler's plugins NodeUnschedulable, TaintToleration, NodeAffinity and VolumeBinding (Kubernetes
// 1.36), without resources. placement.ts has the rules that depend on other pods.

/** Taints that the node controller sets for conditions and for `unschedulable`. */
export const conditionTaintPrefix = 'node.kubernetes.io/';

const nodeTaint = (name: string): Json => ({ key: `${conditionTaintPrefix}${name}`, effect: 'NoSchedule' });

/**
 * Conditions that make the node controller taint a node a moment later. A node without the condition Ready is not
 * ready: its kubelet has never reported.
 */
const conditionTaints: readonly (readonly [
  type: string,
  bad: (status: unknown) => boolean,
  taint: Json,
  why: string,
])[] = [
  ['Ready', (status) => status !== 'True', nodeTaint('not-ready'), 'is not ready'],
  ['MemoryPressure', (status) => status === 'True', nodeTaint('memory-pressure'), 'is short of memory'],
  ['DiskPressure', (status) => status === 'True', nodeTaint('disk-pressure'), 'is short of disk space'],
  ['PIDPressure', (status) => status === 'True', nodeTaint('pid-pressure'), 'is short of process ids'],
  ['NetworkUnavailable', (status) => status === 'True', nodeTaint('network-unavailable'), 'has no network'],
];

/**
 * The taint mirrors a condition, which may be newer. People set others with the same prefix, such as `out-of-service`.
 */
const isOfCondition = ({ key }: Json): boolean =>
  ['unschedulable', 'unreachable'].some((name) => key === `${conditionTaintPrefix}${name}`) ||
  conditionTaints.some(([, , taint]) => taint['key'] === key);

/** Its kubelet removes unused images and then evicts pods, possibly even those that tolerate the pressure. */
export const hasDiskPressure = (node: Json): boolean =>
  conditionOf(object(node['status']), 'DiskPressure')['status'] === 'True';

/** Alpha in Kubernetes 1.37 (KEP-5683): somebody drains the node, or is about to. */
const isDraining = (node: Json): boolean => conditionOf(object(node['status']), 'DrainInProgress')['status'] === 'True';
const isPlanned = (node: Json): boolean =>
  conditionOf(object(node['status']), 'MaintenancePlanned')['status'] === 'True';

/** It is being drained: every pod on it has to move anyway. */
export const isToBeEmptied = (node: Json | null): boolean =>
  node !== null && (object(node['spec'])['unschedulable'] === true || isDraining(node) || isPlanned(node));

/**
 * Why the node accepts no pod with these tolerations, as ends of a sentence; empty if it accepts one. `null` is a node
 * that is gone.
 */
export function refusalsOf(node: Json | null, tolerations: readonly Json[]): readonly string[] {
  if (node === null) return ['is gone'];
  const spec = object(node['spec']);
  const tolerated = (taint: Json): boolean => tolerations.some((toleration) => tolerates(toleration, taint));
  const taints = objects(spec['taints']).filter(
    (taint) => !isOfCondition(taint) && taint['effect'] !== 'PreferNoSchedule',
  );
  return [
    ...(spec['unschedulable'] === true && !tolerated(nodeTaint('unschedulable')) ? ['is cordoned'] : []),
    ...(isDraining(node) ? ['is being drained'] : []),
    ...taints
      .filter((taint) => !tolerated(taint))
      .map((taint) => `has the taint ${text(taint['key'])}${valueOf(taint)}:${text(taint['effect'])}`),
    ...conditionTaints.flatMap(([type, bad, taint, why]) => {
      const { status } = conditionOf(object(node['status']), type);
      return bad(status) && !tolerated(taint) ? [why] : [];
    }),
  ];
}

const valueOf = (taint: Json): string => (text(taint['value']) ? `=${text(taint['value'])}` : '');

function tolerates(toleration: Json, taint: Json): boolean {
  const [key, effect] = [text(toleration['key']) ?? '', text(toleration['effect']) ?? ''];
  if (effect !== '' && effect !== taint['effect']) return false;
  const exists = toleration['operator'] === 'Exists';
  if (key === '') return exists;
  return key === taint['key'] && (exists || (text(toleration['value']) ?? '') === (text(taint['value']) ?? ''));
}

/** A constraint that ties a pod to nodes: at least one of its terms has to match. */
export interface Tie {
  /** For people. */
  readonly what: string;
  readonly terms: readonly Json[];
}

export function tiesOf(template: Json): readonly Tie[] {
  const spec = object(template['spec']);
  const selected = Object.entries(texts(spec['nodeSelector']));
  const affinity = object(object(spec['affinity'])['nodeAffinity'])['requiredDuringSchedulingIgnoredDuringExecution'];
  const name = text(spec['nodeName']);
  const is = (key: string, value: string): Json => ({ key, operator: 'In', values: [value] });
  return [
    ...(selected.length === 0
      ? []
      : [{ what: 'the nodeSelector', terms: [{ matchExpressions: selected.map(([key, value]) => is(key, value)) }] }]),
    ...(name === null ? [] : [{ what: 'the nodeName', terms: [{ matchFields: [is('metadata.name', name)] }] }]),
    ...(affinity === undefined
      ? []
      : [{ what: 'the node affinity', terms: objects(object(affinity)['nodeSelectorTerms']) }]),
  ];
}

/** The constraint of a PersistentVolume on the pods that mount it, or `null`. */
export function tieOfVolume(volume: Json): Tie | null {
  const required = object(object(volume['spec'])['nodeAffinity'])['required'];
  const what = `the volume ${text(object(volume['metadata'])['name'])}`;
  return required === undefined ? null : { what, terms: objects(object(required)['nodeSelectorTerms']) };
}

/** A term without expressions matches no node, and neither does an operator that Kubernetes does not know. */
export const matches = ({ terms }: Tie, node: Json): boolean => terms.some((term) => matchesTerm(term, node));

function matchesTerm(term: Json, node: Json): boolean {
  const { name, labels } = object(node['metadata']);
  const [expressions, fields] = [objects(term['matchExpressions']), objects(term['matchFields'])];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((one) => holds(one, texts(labels)[text(one['key']) ?? ''])) &&
    fields.every((one) => holds(one, one['key'] === 'metadata.name' ? (text(name) ?? undefined) : undefined))
  );
}

/** Node selectors can also compare numbers. */
function holds({ operator: given, values: listed }: Json, value: string | undefined): boolean {
  const [operator, values] = [text(given) ?? '', strings(listed)];
  const met = meets(operator, values, value);
  if (met !== null || value === undefined) return met ?? false;
  const difference = Number(value) - Number(values[0]);
  return (operator === 'Gt' && difference > 0) || (operator === 'Lt' && difference < 0);
}
