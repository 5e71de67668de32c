import type { Situation } from './situation.ts';
import type { StatefulSetFacts } from './snapshot.ts';

/** The pause after the first attempt. It doubles after each further attempt, up to the longest. */
const firstPauseSeconds = 30;
const longestPauseSeconds = 300;
/** Older adoptions do not count: either the adoption lasted, or the attempts were already as rare as they get. */
const adoptionCountsSeconds = 1800;

function pauseSeconds(tries: number): number {
  return Math.min(firstPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
}

type StrategyFacts = Pick<StatefulSetFacts, 'labelled' | 'newPods' | 'strategy' | 'partition' | 'replicas'>;

/**
 * Admission keeps RollingUpdate with partition = replicas: the StatefulSet controller replaces no pod, and creates
 * missing ones at the current revision (Kubernetes 1.36.3, stateful_set_utils.go, newVersionedStatefulSetPod).
 */
export const keepsRevisions = (one: StrategyFacts | null): boolean =>
  one !== null &&
  one.labelled &&
  one.newPods === 'CurrentRevision' &&
  one.strategy === 'RollingUpdate' &&
  one.partition === one.replicas;

/** The StatefulSet controller replaces no pod. */
export const replacesNobody = (one: StrategyFacts | null): boolean =>
  one?.strategy === 'OnDelete' || keepsRevisions(one);

/** It has our label and the strategy that its labels request, and admission keeps it that way. */
export const isAdopted = (one: StrategyFacts | null): boolean => one?.labelled === true && replacesNobody(one);

/** A dry run has shown that admission does not keep them. The controller tries again after a pause. */
export function mayKeepRevisions({ snapshot: { admissionProblem: problem }, deadlines }: Situation): boolean {
  return problem?.mode !== 'CurrentRevision' || deadlines.reached(problem.sinceSeconds, pauseSeconds(problem.tries));
}

/**
 * A dry run has shown that admission would not change MOCO's next write as this mode needs it. The controller tries
 * again after a pause. A StatefulSet that is already at OnDelete is not checked: it stays there, or its next write
 * shows that it does not.
 */
export function admissionProblem(
  situation: Situation,
): { readonly mode: 'OnDelete' | 'Partition'; readonly finding: string } | null {
  const { snapshot, policy, deadlines } = situation;
  const { admissionProblem: problem } = snapshot;
  if (problem === null || problem.mode === 'CurrentRevision' || policy.mode !== problem.mode) return null;
  if (policy.mode === 'OnDelete' && isAdopted(snapshot.statefulSet)) return null;
  if (deadlines.reached(problem.sinceSeconds, pauseSeconds(problem.tries))) return null;
  return { mode: problem.mode, finding: problem.finding };
}

/**
 * A StatefulSet that keeps returning to RollingUpdate is adopted less and less often, so that two programs do not keep
 * overwriting one field. Meanwhile MOCO's partition controller continues.
 */
export function mayAdopt({ snapshot, deadlines }: Situation): boolean {
  const recent = snapshot.adoptionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, adoptionCountsSeconds),
  );
  return recent.length === 0 || deadlines.reached(Math.min(...recent), pauseSeconds(recent.length));
}

/** A pause never changes who replaces pods: it holds a first adoption, and allows one that restores protection. */
export function isFirstAdoptionPaused({ snapshot, policy }: Situation): boolean {
  const wasAdopted = snapshot.statefulSet?.labelled === true || snapshot.wasAdopted;
  return policy.paused && policy.mode === 'OnDelete' && !wasAdopted;
}
