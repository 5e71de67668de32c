import { conditionOf, isConditionTrue, type Json, object, objects, strings, text, texts } from '../base/json.ts';
import { drainReason } from './node-maintenance.ts';
import { meets } from './selects.ts';

// Whether a node accepts a pod, judged by the node's own object and the constraints of the pod. These are the rules of
// the scheduler's plugins NodeUnschedulable, TaintToleration, NodeAffinity and VolumeBinding (Kubernetes 1.36).
// Resources are not checked. The rules that depend on other pods are in placement.ts.

/** Taints that the node controller sets for conditions and for `unschedulable`. */
export const conditionTaintPrefix = 'node.kubernetes.io/';

const nodeTaint = (name: string): Json => ({ key: `${conditionTaintPrefix}${name}`, effect: 'NoSchedule' });

/**
 * Conditions for which the node controller taints a node a moment later. A node without the condition Ready counts as
 * not ready, because its kubelet has never reported.
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
 * Whether the taint only repeats a condition of the node. The condition may be newer than the taint. People set other
 * taints with the same prefix, such as `out-of-service`.
 */
const isOfCondition = ({ key }: Json): boolean =>
  ['unschedulable', 'unreachable'].some((name) => key === `${conditionTaintPrefix}${name}`) ||
  conditionTaints.some(([, , taint]) => taint['key'] === key);

/** The part of a node that determines which pods it accepts. */
export function schedulingFields({ metadata, spec, status }: Json): Json {
  const { name, labels } = object(metadata);
  const { unschedulable, taints } = object(spec);
  const conditions = objects(object(status)['conditions']).map((one) => ({ type: one['type'], status: one['status'] }));
  return { metadata: { name, labels }, spec: { unschedulable, taints }, status: { conditions } };
}

/**
 * Whether the node lacks disk space. Its kubelet then removes unused images and after that evicts pods, possibly even
 * pods that tolerate the pressure.
 */
export const hasDiskPressure = (node: Json): boolean => isConditionTrue(object(node['status']), 'DiskPressure');

/**
 * Why the node accepts no pod with these tolerations, in phrases that follow the node's name in a sentence. Empty if
 * the node accepts such a pod. `null` stands for a node that is gone.
 */
export function refusalsOf(node: Json | null, tolerations: readonly Json[]): readonly string[] {
  if (node === null) return ['is gone'];
  const spec = object(node['spec']);
  const tolerated = (taint: Json): boolean => tolerations.some((toleration) => tolerates(toleration, taint));
  const taints = objects(spec['taints']).filter(
    (taint) => !isOfCondition(taint) && taint['effect'] !== 'PreferNoSchedule',
  );
  const draining = drainReason(node);
  return [
    ...(spec['unschedulable'] === true && !tolerated(nodeTaint('unschedulable')) ? ['is cordoned'] : []),
    ...(draining === null ? [] : [draining]),
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
  /** A name for the constraint, in messages for people. */
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

/**
 * Whether the node meets the constraint. A term without expressions matches no node, and neither does a term with an
 * operator that Kubernetes does not know.
 */
export const matches = ({ terms }: Tie, node: Json): boolean => terms.some((term) => matchesTerm(term, node));

/** Reads one label without copying all of them, because every constraint reads the labels of every node. */
export const labelOf = (node: Json, key: string): string | undefined =>
  text(object(object(node['metadata'])['labels'])[key]) ?? undefined;

function matchesTerm(term: Json, node: Json): boolean {
  const { name } = object(node['metadata']);
  const [expressions, fields] = [objects(term['matchExpressions']), objects(term['matchFields'])];
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((one) => holds(one, labelOf(node, text(one['key']) ?? ''))) &&
    fields.every((one) => holds(one, one['key'] === 'metadata.name' ? (text(name) ?? undefined) : undefined))
  );
}

/** Node selectors, unlike label selectors, can also compare numbers. */
function holds({ operator: given, values: listed }: Json, value: string | undefined): boolean {
  const [operator, values] = [text(given) ?? '', strings(listed)];
  const met = meets(operator, values, value);
  if (met !== null || value === undefined) return met ?? false;
  const difference = Number(value) - Number(values[0]);
  return (operator === 'Gt' && difference > 0) || (operator === 'Lt' && difference < 0);
}
