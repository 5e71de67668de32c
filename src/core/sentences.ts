import type { Evidence, MemberState } from './member.ts';

/** A member that is waited for, and why. */
export type Wait =
  | { readonly for: 'state'; readonly state: MemberState; readonly evidence: Evidence | null }
  | { readonly for: 'role' }
  /** The StatefulSet controller, or MOCO, replaces it. */
  | { readonly for: 'revision' }
  /** Containers that an update in place restarts. */
  | { readonly for: 'containers'; readonly containers: readonly string[] }
  | { readonly for: 'minReadySeconds'; readonly minReadySeconds: number };

export function explainWait(wait: Exclude<Wait, { for: 'revision' }>): string {
  switch (wait.for) {
    case 'state':
      if (wait.evidence !== null) return `does not participate: ${explainEvidence(wait.evidence)}`;
      // It may just as well still be pulled or started.
      return wait.state === 'running' ? 'does not participate yet' : `does not participate (${wait.state})`;
    case 'role':
      return 'MOCO has not set its role yet';
    case 'containers':
      return `${wait.containers.join(', ')} ${plural(wait.containers, 'has', 'have')} not restarted with the new image yet`;
    case 'minReadySeconds':
      return `has not participated for ${wait.minReadySeconds} s yet`;
  }
}

export function explainEvidence(evidence: Evidence): string {
  switch (evidence.kind) {
    case 'waiting':
      return `container ${evidence.container} waits: ${evidence.reason}${restarts(evidence.restarts)}`;
    case 'failed':
      return 'the pod has failed';
    case 'unschedulable':
      return `no node takes the pod: ${withoutFullStop(evidence.message)}`;
    case 'idle':
      return 'mysqld has not been running';
    case 'notReady':
      return `container ${evidence.container} is not ready`;
    case 'crashLooping':
      return `container ${evidence.container} has not been ready since it restarted${restarts(evidence.restarts)}`;
    case 'restored':
      return 'a person has asked to give it back the revision that it had';
    case 'errant':
      return 'MOCO lists it as errant';
  }
}

function restarts(count: number): string {
  return count === 0 ? '' : `, ${count} ${count === 1 ? 'restart' : 'restarts'}`;
}

/** Messages of other programs end as they like. */
export function withoutFullStop(sentence: string): string {
  return sentence.replace(/[.\s]+$/, '');
}

/** `one` for a single item, else `several`. */
export function plural(items: readonly unknown[], one: string, several: string): string {
  return items.length === 1 ? one : several;
}
