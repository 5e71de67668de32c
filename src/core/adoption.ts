import type { Situation } from './situation.ts';
import type { StatefulSetFacts } from './snapshot.ts';

/** The pause after the first attempt. After each further attempt the pause doubles, up to the longest pause. */
const firstPauseSeconds = 30;
const longestPauseSeconds = 300;
/**
 * Adoptions older than this do not count. If the StatefulSet has not stayed adopted since, newer adoptions already lead
 * to the longest pause.
 */
const adoptionCountsSeconds = 1800;

function pauseSeconds(tries: number): number {
  return Math.min(firstPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
}

type StrategyFacts = Pick<StatefulSetFacts, 'labelled' | 'newPods' | 'strategy' | 'partition' | 'replicas'>;

/**
 * Whether admission keeps RollingUpdate with partition = replicas. The StatefulSet controller then replaces no pods,
 * and creates missing pods at the current revision (Kubernetes 1.36.3, stateful_set_utils.go,
 * newVersionedStatefulSetPod).
 */
export const keepsRevisions = (one: StrategyFacts | null): boolean =>
  one !== null &&
  one.labelled &&
  one.newPods === 'CurrentRevision' &&
  one.strategy === 'RollingUpdate' &&
  one.partition === one.replicas;

/** Whether the StatefulSet controller replaces no pods. */
export const replacesNobody = (one: StrategyFacts | null): boolean =>
  one?.strategy === 'OnDelete' || keepsRevisions(one);

/** Whether the StatefulSet has our label and still has the strategy that its labels request. */
export const isAdopted = (one: StrategyFacts | null): boolean => one?.labelled === true && replacesNobody(one);

/** False for a while after a dry run has shown that admission does not keep new pods at the current revision. */
export function mayKeepRevisions({ snapshot: { admissionProblem: problem }, deadlines }: Situation): boolean {
  return problem?.mode !== 'CurrentRevision' || deadlines.reached(problem.sinceSeconds, pauseSeconds(problem.tries));
}

/**
 * The problem that a dry run has found: admission would not change MOCO's next write in the way that the current mode
 * needs. `null` if there is no such problem, or if it is time to try again. A StatefulSet that is already at OnDelete
 * is not checked: if admission stops keeping it there, the next write of the StatefulSet shows that.
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
 * overwriting one field. Between two adoptions, MOCO's partition controller replaces the pods.
 */
export function mayAdopt({ snapshot, deadlines }: Situation): boolean {
  const recent = snapshot.adoptionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, adoptionCountsSeconds),
  );
  return recent.length === 0 || deadlines.reached(Math.min(...recent), pauseSeconds(recent.length));
}

/**
 * A pause never changes which program replaces pods: it blocks a first adoption, but not an adoption that restores
 * protection.
 */
export function isFirstAdoptionPaused({ snapshot, policy }: Situation): boolean {
  const wasAdopted = snapshot.statefulSet?.labelled === true || snapshot.wasAdopted;
  return policy.paused && policy.mode === 'OnDelete' && !wasAdopted;
}
