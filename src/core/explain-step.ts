import type { ContainerResources, InPlaceChange } from './in-place-changes.ts';
import { restoreRules, type Step, stepRules, undemoteReasons } from './step.ts';

/** What the step does, in a sentence for Events and logs. */
export function explainStep(step: Step): string {
  switch (step.kind) {
    case 'none':
      return 'nothing to do';
    case 'delete':
      return `deleting ${step.targets.map((target) => target.name).join(', ')}: ${stepRules[step.rule] ?? 'stale'}`;
    case 'evict':
      return `evicting ${step.targets[0].name}`;
    case 'updateInPlace':
      return `updating ${step.targets[0].name} in place: ${explainChange(step.change)}`;
    case 'resizeInPlace':
      return `resizing ${step.targets[0].name} in place: ${step.resources.map(explainResources).join('; ')}`;
    case 'demote':
      return `asking MOCO to move the primary away from ${step.targets[0].name}`;
    case 'undemote':
      return step.demoted
        ? `taking back the demotion of ${step.targets[0].name}: ${explainReason(step.reason)}`
        : `removing the mark of a finished demotion from ${step.targets[0].name}`;
    case 'release':
      return 'releasing the StatefulSet to rolling updates by partition';
    case 'setStrategy':
      if (step.newPods === 'UpdateRevision') return 'setting the update strategy of the StatefulSet to OnDelete';
      return step.lasts === 'whileHeld'
        ? 'letting lost members come back at the revision that they had, while the rollout is held'
        : 'letting lost members come back at the revision that they had, until their pods exist again';
    case 'restore':
      return `deleting ${step.targets[0].name}, which comes back at the revision that it had: ${restoreRules[step.rule]}`;
    case 'setPartition':
      return `lowering the partition of the StatefulSet to ${step.partition}${step.targets[0] ? `, which updates ${step.targets[0].name}` : ''}`;
    case 'promoteRevision':
      return `setting the current revision of the StatefulSet to ${step.revision}`;
  }
}

function explainChange({ labels, annotations, containers }: InPlaceChange): string {
  if (containers.length > 0) return `the kubelet restarts ${containers.map(({ name }) => name).join(', ')}`;
  const changed = [...Object.keys(labels), ...Object.keys(annotations)];
  return changed.length === 0 ? 'the revisions differ by nothing' : `only metadata changes (${changed.join(', ')})`;
}

/** `agent gets limits.cpu 500m, and restarts`. */
function explainResources({ name, limits, requests, restarts }: ContainerResources): string {
  const values = Object.entries({ limits, requests }).flatMap(([list, quantities]) =>
    Object.entries(quantities).map(([resource, quantity]) => `${list}.${resource} ${quantity}`),
  );
  return `${name} gets ${values.join(', ')}${restarts ? ', and restarts' : ''}`;
}

function explainReason(reason: string): string {
  return reason in undemoteReasons
    ? undemoteReasons[reason as keyof typeof undemoteReasons].because
    : `rule ${reason} holds`;
}
