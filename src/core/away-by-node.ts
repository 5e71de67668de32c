import { dataOf } from './data.ts';
import { isSlow } from './failing-revision.ts';
import { hasNeverStarted, wasEndedByNode } from './member.ts';
import type { Member, Situation } from './situation.ts';

// Members that are away because of their nodes, judged by their pods. Such a member is no evidence for or against a
// revision.

/**
 * Reasons of the condition DisruptionTarget. Each of them means that the node, or the loss of the node, ended the pod
 * (Kubernetes 1.36).
 */
const endedByNode: ReadonlySet<string> = new Set([
  'DeletionByTaintManager',
  'DeletionByPodGC',
  'TerminationByKubelet',
  'PreemptionByScheduler',
]);

/**
 * Parts of the scheduler's messages about nodes that are out of service or that cannot reach the pod's volume (plugins
 * of the scheduler in Kubernetes 1.36).
 */
const wordsOfCordonAndVolume = ['were unschedulable', 'volume node affinity conflict'] as const;
const wordsOfNodes = [...wordsOfCordonAndVolume, 'untolerated taint'] as const;
/** Parts of the scheduler's messages about the requests of the pod itself, which may come from the new template. */
const wordsOfPods = ['Insufficient', "didn't match", "didn't have free ports", 'Too many pods'] as const;

/**
 * Parts of the scheduler's messages that show that a node is cordoned or cannot reach the pod's volume, whatever keeps
 * the pod from the other nodes. The last one is what newer schedulers say about the volume. Taints are not among them:
 * those of the control plane are in every message.
 */
const wordsOfOwnNode = [...wordsOfCordonAndVolume, "didn't match PersistentVolume's node affinity"] as const;

const saysOneOf = (message: string, words: readonly string[]): boolean => words.some((word) => message.includes(word));

/**
 * Whether the node of the member does not answer, has ended the pod, or is the only node that can run the next pod. An
 * unschedulable pod counts only if the scheduler's message is not about the pod's own requests.
 */
function isAwayByNode({ state, facts, evidence }: Member): boolean {
  if (state === 'unreachable' || wasEndedByNode(facts)) return true;
  if (state === 'terminating') return endedByNode.has(facts.disruption ?? '');
  if (evidence?.kind !== 'unschedulable') return false;
  return saysOneOf(evidence.message, wordsOfNodes) && !saysOneOf(evidence.message, wordsOfPods);
}

/**
 * Whether a stale member is down only because its node keeps its pod away, or because its pod is still starting: the
 * node pulls an image or attaches a volume. Such a member works again without the update revision. Its pod may have
 * been created at the previous revision on purpose, because the rollout is held.
 */
export function waitsToStart(situation: Situation, member: Member): boolean {
  if (situation.policy.mode !== 'OnDelete' || member.updated || member.state !== 'down') return false;
  return (
    isAwayByNode(member) ||
    lacksItsNode(situation, member) ||
    (hasNeverStarted(member.facts) && isSlow(situation, member))
  );
}

/**
 * Whether the node where the stale member has run keeps its pod away. The pod has the template with which the member
 * has run, so what keeps it from the other nodes has always done so. If the member is known not to have run with it,
 * for example because that revision was never able to start, the template itself may be wrong.
 */
function lacksItsNode(situation: Situation, { ordinal, facts: { revision }, evidence }: Member): boolean {
  if (evidence?.kind !== 'unschedulable') return false;
  const data = dataOf(situation, ordinal);
  return (data === null || data.revision === revision) && saysOneOf(evidence.message, wordsOfOwnNode);
}

/** Whether at least one member is away, and every member that is away is away because of its node. */
export function awaitsNodesAlone({ members, missing }: Situation): boolean {
  const away = members.filter(({ participates }) => !participates);
  return missing.length === 0 && away.length > 0 && away.every(isAwayByNode);
}
