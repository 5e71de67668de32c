import type { StatusView } from './view.ts';

/**
 * What `kubectl rollout status` would show of the StatefulSet while a rollout is under way, which is not the truth here
 * (kubectl 1.35: under OnDelete it refuses; with a partition it calls a rollout complete once the members from the
 * partition up are updated). `null` where there is nothing to mistake.
 */
export function kubectlHint({ name, namespace, strategy, rollout, hold }: StatusView, program: string): string | null {
  // What Kubernetes replaces by itself kubectl shows rightly.
  if (rollout === null || hold?.rule === 'ForcedRollingUpdate') return null;
  const instead = `wait with: ${program} wait ${name} -n ${namespace}`;
  switch (hold?.rule === 'HandedBack' ? 'MOCO' : strategy) {
    case 'OnDelete':
      return `kubectl rollout status knows nothing of a StatefulSet at OnDelete; ${instead}`;
    case 'Partition':
    case 'MOCO':
      return `kubectl rollout status calls this complete at every partition; ${instead}`;
    default:
      return null;
  }
}
