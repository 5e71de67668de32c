import type { Hold } from './decision.ts';
import type { Situation } from './situation.ts';

/** Between two tries: this long after the first, twice as long after each further one, and at most the longest. */
const firstPauseSeconds = 30;
const longestPauseSeconds = 300;
/** An adoption that is longer ago no longer counts: it has held, or was tried as rarely as can be. */
const adoptionCountsSeconds = 1800;

function pauseSeconds(tries: number): number {
  return Math.min(firstPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
}

/** The StatefulSet carries our label and is at OnDelete: the label keeps it there. */
export function isAdopted({ snapshot: { statefulSet } }: Situation): boolean {
  return statefulSet?.strategy === 'OnDelete' && statefulSet.labelled;
}

/**
 * A dry run has shown that MOCO's next write would not come out as this mode needs it. Asked again after a pause. What is
 * at OnDelete already is not asked about: it stays there, or its next write shows it.
 */
export function admissionNotInForce(situation: Situation): Hold | null {
  const { snapshot, policy, deadlines } = situation;
  const { admissionProblem: problem } = snapshot;
  if (problem === null || policy.mode !== problem.mode) return null;
  if (policy.mode === 'OnDelete' && isAdopted(situation)) return null;
  if (deadlines.reached(problem.sinceSeconds, pauseSeconds(problem.tries))) return null;
  return { rule: 'AdmissionNotInForce', mode: problem.mode, finding: problem.finding };
}

/**
 * A StatefulSet that keeps coming back to RollingUpdate is adopted ever more rarely, so that two programs do not fight
 * over one field. MOCO's partition controller goes on meanwhile.
 */
export function mayAdopt({ snapshot, deadlines }: Situation): boolean {
  const recent = snapshot.adoptionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, adoptionCountsSeconds),
  );
  return recent.length === 0 || deadlines.reached(Math.min(...recent), pauseSeconds(recent.length));
}
