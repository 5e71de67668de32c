import { disruptive, type Step, type Target } from './decision.ts';

/** A step that is confirmed and recorded before it is done. */
export type DisruptiveStep = Extract<Step, { readonly targets: readonly Target[] }>;

/** A mark without its `demote` asks MOCO for nothing, so removing it needs only the preconditions. */
export function isDisruptive(step: Step): step is DisruptiveStep {
  return disruptive[step.kind] && !(step.kind === 'undemote' && !step.demoted);
}

/** The label of a step in events, metrics and the status. */
export function ruleOf(step: DisruptiveStep): string {
  return step.kind === 'undemote' ? step.reason : step.rule;
}
