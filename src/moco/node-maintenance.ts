import { isConditionTrue, type Json, object, objects, text, texts } from '../base/json.ts';
import { shortened } from '../base/text.ts';

// Detects which nodes are being taken out of service. People, autoscalers and upgrade tools announce this in different
// ways.

/** What announces that a node is being taken out of service, besides `kubectl cordon` and the conditions below. */
export interface LeavingSigns {
  /** The keys of taints, whatever their value and effect. */
  readonly taints: readonly string[];
  /** `KEY` for any value, or `KEY=VALUE` for one value. */
  readonly annotations: readonly string[];
}

/**
 * The defaults: a node that Karpenter is about to remove (karpenter.sh/docs/concepts/disruption), one that Cluster
 * Autoscaler removes (its FAQ, "How does scale-down work?"), and one that is out of service for good (Kubernetes, Node
 * Shutdowns).
 */
export const usualSigns: LeavingSigns = {
  taints: ['karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler', 'node.kubernetes.io/out-of-service'],
  annotations: [],
};

interface LeavingCondition {
  readonly type: string;
  /** A phrase that follows the name of the node. */
  readonly why: string;
}

/** The node is being drained, or is about to be. */
const draining: LeavingCondition = { type: 'DrainInProgress', why: 'is being drained' };

/**
 * Conditions of nodes in Kubernetes 1.37 (alpha, KEP-5683). Conditions about pressure or a missing network are not in
 * this list, because they do not mean that the node is being taken out of service.
 */
const leavingConditions: readonly LeavingCondition[] = [
  { type: 'Drained', why: 'is drained' },
  draining,
  { type: 'GracefulNodeShutdownInProgress', why: 'is shutting down' },
  { type: 'MaintenanceInProgress', why: 'is under maintenance' },
  { type: 'MaintenancePlanned', why: 'is about to be maintained' },
];

/** Longer keys are shortened in messages. Users who may write nodes can choose any key of up to 317 characters. */
const longestKey = 100;

const reasonOf = (node: Json, conditions: readonly LeavingCondition[]): string | null =>
  conditions.find(({ type }) => isConditionTrue(object(node['status']), type))?.why ?? null;

/** Why the node accepts no new pods while it is being drained, even before it is cordoned; otherwise `null`. */
export const drainReason = (node: Json): string | null => reasonOf(node, [draining]);

/**
 * Why the node is being taken out of service, in words that follow its name in a sentence. `null` if the node is not
 * being taken out of service, or is gone.
 */
export function leavingReason(node: Json | null, signs: LeavingSigns): string | null {
  if (node === null) return null;
  const spec = object(node['spec']);
  const condition = reasonOf(node, leavingConditions);
  if (condition !== null) return condition;
  const keys = objects(spec['taints']).map((taint) => text(taint['key']) ?? '');
  const taint = signs.taints.find((key) => keys.includes(key));
  if (taint !== undefined) return `has the taint ${shortened(taint, longestKey)}`;
  const annotations = texts(object(node['metadata'])['annotations']);
  const annotation = signs.annotations.find((sign) => {
    const [key = '', value] = sign.split(/=(.*)/s);
    return value === undefined ? Object.hasOwn(annotations, key) : annotations[key] === value;
  });
  if (annotation !== undefined) return `has the annotation ${shortened(annotation, longestKey)}`;
  return spec['unschedulable'] === true ? 'is cordoned' : null;
}
