import { wasEndedByNode } from './member.ts';
import type { Member, Situation } from './situation.ts';

// Members that are away because of their nodes, as far as a pod says so. Nothing of that is evidence for or against a
// revision.

/** Reasons of the condition DisruptionTarget of pods that their node, or the loss of it, ends (Kubernetes 1.36). */
const endedByNode: ReadonlySet<string> = new Set([
  'DeletionByTaintManager',
  'DeletionByPodGC',
  'TerminationByKubelet',
  'PreemptionByScheduler',
]);

/** What the scheduler says of nodes that are out, or are not where a volume is (Kubernetes 1.36, its plugins). */
const wordsOfNodes = ['volume node affinity conflict', 'were unschedulable', 'untolerated taint'] as const;
/** What it says of what the pod itself asks for: the new template may be why. */
const wordsOfPods = ['Insufficient', "didn't match", "didn't have free ports", 'Too many pods'] as const;

const saysOneOf = (message: string, words: readonly string[]): boolean => words.some((word) => message.includes(word));

/**
 * The node of the member does not answer, has ended its pod, or is the only one that may have the next pod. A pod that
 * no node takes counts only if the scheduler says nothing of what the pod asks for.
 */
function isAwayByNode({ state, facts, evidence }: Member): boolean {
  if (state === 'unreachable' || wasEndedByNode(facts)) return true;
  if (state === 'terminating') return endedByNode.has(facts.disruption ?? '');
  if (evidence?.kind !== 'unschedulable') return false;
  return saysOneOf(evidence.message, wordsOfNodes) && !saysOneOf(evidence.message, wordsOfPods);
}

/** At least one member is away, and each that is away is so because of its node. */
export function awaitsNodesAlone({ members, missing }: Situation): boolean {
  const away = members.filter(({ participates }) => !participates);
  return missing.length === 0 && away.length > 0 && away.every(isAwayByNode);
}
