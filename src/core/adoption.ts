import type { Situation } from './situation.ts';
import * as strategy from './strategy.ts';

/** The pause after the first try. It doubles after each further try, up to the longest. */
const firstPauseSeconds = 30;
const longestPauseSeconds = 300;
/** Older adoptions do not count: either the adoption lasted, or it was tried as rarely as possible. */
const adoptionCountsSeconds = 1800;

function pauseSeconds(tries: number): number {
  return Math.min(firstPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
}

/** The StatefulSet has our label and the strategy that its labels ask for. Admission keeps it so. */
export const isAdopted = ({ snapshot: { statefulSet } }: Situation): boolean =>
  statefulSet !== null && strategy.isAdopted(statefulSet);

/** New pods come up at the current revision. */
export const keepsRevisions = ({ snapshot: { statefulSet } }: Situation): boolean =>
  statefulSet !== null && strategy.keepsRevisions(statefulSet);

/** A dry run has shown that admission does not do that. It is tried again after a pause. */
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
  if (policy.mode === 'OnDelete' && isAdopted(situation)) return null;
  if (deadlines.reached(problem.sinceSeconds, pauseSeconds(problem.tries))) return null;
  return { mode: problem.mode, finding: problem.finding };
}

/**
 * A StatefulSet that keeps returning to RollingUpdate is adopted less and less often, so that two programs do not keep
 * overwriting one field. Meanwhile MOCO's partition controller goes on.
 */
export function mayAdopt({ snapshot, deadlines }: Situation): boolean {
  const recent = snapshot.adoptionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, adoptionCountsSeconds),
  );
  return recent.length === 0 || deadlines.reached(Math.min(...recent), pauseSeconds(recent.length));
}

/** A pause never changes who replaces pods: it holds a first adoption, and allows one that protects pods again. */
export function isFirstAdoptionPaused({ snapshot, policy }: Situation): boolean {
  const wasAdopted = snapshot.statefulSet?.labelled === true || snapshot.wasAdopted;
  return policy.paused && policy.mode === 'OnDelete' && !wasAdopted;
}
