import { awaitsNodesAlone } from './away-by-node.ts';
import { newPodsStep } from './candidates/new-pods.ts';
import { onDelete } from './candidates/on-delete.ts';
import { mocoDrives, partition } from './candidates/partition.ts';
import { dueRecords, unreadData } from './data.ts';
import { Deadlines } from './deadlines.ts';
import type { Decision, NextStep, Procedure } from './decision.ts';
import { effects } from './effects.ts';
import { failingMember, isVerified } from './failing-revision.ts';
import { closed, firstHold, type Guards, guards, isOverridden } from './gates.ts';
import { lookAgain } from './maintenance.ts';
import type { RolloutPolicy } from './policy.ts';
import { asked, askedAgain, type Question, type QuestionKind, together } from './questions.ts';
import { reports } from './reports.ts';
import { asksOf, awaitedBy, type Hold, isAnswer, isRequestedByUser, isTurn } from './rules/catalogue.ts';
import { cloneAdvancedForSeconds } from './rules/cloning.ts';
import { asksMoco } from './rules/moco.ts';
import { isOfItsWrite } from './rules/not-done.ts';
import { asksNodesStill } from './rules/preflight.ts';
import { type Situation, survey } from './situation.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { watched } from './watched.ts';

// The decision. Everything else in the core serves it, and it has no other inputs than its two arguments.
//
//     snapshot, policy
//           |
//       situation ----> members, who is due
//           |
//       procedure ----> candidates: steps in order of preference       (candidates/)
//           |
//        effects  ----> what each step does to whom                    (effects.ts)
//           |
//         gates   ----> the first rule that holds, if any              (gates.ts, rules/)
//           |
//       Decision: one step, or one hold; verdicts; asks: what to find out first

const procedures: Readonly<Record<RolloutPolicy['mode'], Procedure>> = {
  OnDelete: onDelete,
  Partition: partition,
  MOCO: mocoDrives,
};

/**
 * Returns the one step that may be done now, or the hold that blocks it, and a verdict for every member. Pure: the same
 * facts give the same decision. Never throws: inconsistent facts give the hold `SnapshotInconsistent`.
 */
export const decide = (snapshot: ClusterSnapshot, policy: RolloutPolicy): Decision =>
  decideBy(guards, snapshot, policy);

/** Decides with a different table of gates, so that tests can show what each gate prevents. */
export function decideBy(by: Guards, snapshot: ClusterSnapshot, policy: RolloutPolicy): Decision {
  const situation = survey(snapshot, policy);
  const procedure = procedures[policy.mode];
  const stale = situation.members.filter((member) => !member.updated).length;
  const complete = isComplete(situation, stale);
  lookAgain(situation);
  const { next, unread, beside } = choose(situation, procedure, by);
  const { outcome, asks, pass } = watched(situation, next, complete);
  const { step, hold, blocked } = withNewPods(situation, outcome, by);
  const stepEffects = effects(situation, step);
  const kinds = stepEffects.map(({ kind }) => kind);
  return {
    step,
    effects: stepEffects,
    hold,
    beneath: beneath(situation, outcome, hold, by),
    members: reports(situation, procedure, outcome),
    stale,
    verified: isVerified(situation),
    failing: isOverridden(situation, 'UpdateRevisionFailing') ? null : failingMember(situation),
    complete,
    progressDeadlineExceeded: isStuck(situation, complete, hold),
    awaitsNodes: awaitsNodesAlone(situation),
    asks: together([
      ...asksOf(hold, situation),
      ...asksBeside(situation, outcome, by),
      ...beside.flatMap((one) => [...asksOf(one.hold, situation), ...asksBeside(situation, one, by)]),
      ...[blocked, ...unread].flatMap((one) => asksOf(one, situation)).filter(({ kind }) => ofMembers.includes(kind)),
      ...(asks ? [{ kind: 'checks' } as const] : []),
      ...ofFacts(situation),
      ...(step.kind === 'none' ? [detailsOf(situation)] : []),
    ]),
    asksAgain: askedAgain(step, kinds, situation),
    checksPass: pass,
    requeueAfterSeconds: situation.deadlines.soonestSeconds,
  };
}

/** Questions of these kinds also cover members that were passed over. */
const ofMembers: readonly QuestionKind[] = ['recreatable', 'clones'];

/**
 * Chooses the next candidate: the first one without a hold or, if all have holds, the first one. A candidate whose
 * write failed keeps its place, because that write is retried first. A candidate that only waits until new pods start
 * at the update revision also keeps its place: otherwise a hold of another member would keep new pods at the current
 * revision forever. If a candidate only waits for the cluster's turn, the rollout waits for that turn, even if other
 * candidates are held too.
 *
 * A line outside the rollout is tried even while the rollout is held or has nothing to do.
 *
 * `unread` has the holds of candidates that were passed over because their facts have to be read again before a
 * replacement. `beside` has the held candidates outside the rollout. Each of these candidates has its questions asked:
 * otherwise the first candidate would keep the others waiting for answers.
 */
function choose(
  situation: Situation,
  procedure: Procedure,
  all: Guards,
): { readonly next: NextStep; readonly unread: readonly Hold[]; readonly beside: readonly NextStep[] } {
  const by = asksOutOfTurn(situation) ? turnsLast(all) : all;
  const unread: Hold[] = [];
  let turn: NextStep | null = null;
  let ofRollout: NextStep | null = null;
  const beside: NextStep[] = [];
  for (const line of Object.values(procedure)) {
    if (ofRollout !== null && !line.beside) continue;
    let first: NextStep | null = null;
    for (const candidate of line.candidates(situation)) {
      const hold = closed(situation, candidate, by);
      const other = hold?.rule === 'RevisionsKept' ? closed(situation, candidate, withoutKept(by)) : hold;
      if (other === null || isOfItsWrite(other.rule)) {
        if (candidate.kind !== 'none') return { next: { candidate, hold }, unread, beside: [] };
        first = { candidate, hold };
        break;
      }
      if (other.rule === 'RecreationUnknown' || other.rule === 'CloneUnknown') unread.push(other);
      if (line.beside) beside.push({ candidate, hold });
      if (isTurn(other.rule)) turn ??= { candidate, hold };
      first ??= { candidate, hold };
    }
    if (!line.beside && first !== null && !line.yields) ofRollout = first.hold === null ? first : (turn ?? first);
  }
  const next = ofRollout ?? turn ?? { candidate: { kind: 'none' }, hold: null };
  const isIdle = next.candidate.kind === 'none' && next.hold === null;
  return { next: isIdle ? (beside[0] ?? next) : next, unread, beside };
}

/**
 * When the cluster had its turn, a missing answer blocked the step. The cluster then asks again without a turn, so that
 * it does not occupy a turn that it cannot use.
 */
const asksOutOfTurn = ({ snapshot: { memory } }: Situation): boolean => memory.shown !== null && isAnswer(memory.shown);

const turnsLast = (by: Guards): Guards =>
  new Map([...by].toSorted(([one], [other]) => Number(isTurn(one)) - Number(isTurn(other))));

const withoutKept = (by: Guards): Guards => new Map([...by].filter(([rule]) => rule !== 'RevisionsKept'));

/**
 * If new pods have to start at a different revision, the step that changes this comes first. The hold that is reported
 * stays the same.
 */
function withNewPods(
  situation: Situation,
  outcome: NextStep,
  by: Guards,
): Pick<Decision, 'step' | 'hold'> & { readonly blocked: Hold | null } {
  const { candidate, hold } = outcome;
  const change = newPodsStep(situation, outcome);
  const blocked = change === null ? null : closed(situation, change, by);
  if (change === null || blocked !== null) {
    const isBlocked =
      hold?.rule === 'RevisionsKept' || blocked?.rule === 'ClaimTerminating' || blocked?.rule === 'CloneImpossible';
    return hold === null
      ? { step: candidate, hold, blocked }
      : { step: { kind: 'none' }, hold: (isBlocked ? blocked : null) ?? hold, blocked };
  }
  const isOver = change.kind === 'setStrategy' && change.newPods === 'UpdateRevision' && hold?.rule === 'RevisionsKept';
  return { step: change, hold: isOver ? null : hold, blocked };
}

/** Whether the rule only waits for an answer to a question that is asked last, once nothing else blocks the step. */
function awaitsLast({ rule }: Hold): boolean {
  const kind = awaitedBy(rule);
  return kind !== undefined && asked[kind].last === true;
}

/**
 * More questions than the one that the candidate's hold asks. They come from the next holds, as long as each of these
 * only waits for an answer to a question that is asked last.
 */
function asksBeside(situation: Situation, { candidate, hold }: NextStep, by: Guards): readonly Question[] {
  const beside: Question[] = [];
  // These questions must not set a deadline.
  const now = { ...situation, deadlines: new Deadlines() };
  let left = by;
  for (let awaited = hold; awaited !== null && awaitsLast(awaited); ) {
    const { rule } = awaited;
    left = new Map([...left].filter(([other]) => other !== rule));
    awaited = closed(now, candidate, left);
    if (awaited !== null && awaitsLast(awaited)) beside.push(...asksOf(awaited, now));
  }
  return beside;
}

/**
 * Earlier holds that are now hidden by another hold but have not ended. When users see such a hold again, it still
 * shows the time at which it began.
 */
function beneath(situation: Situation, { candidate }: NextStep, hold: Hold | null, by: Guards): readonly Hold[] {
  if (hold === null) return [];
  const { shown, earlier } = situation.snapshot.memory;
  return [...by].flatMap(([rule, kinds]) =>
    rule !== hold.rule && (rule === shown || earlier.includes(rule))
      ? (closed(situation, candidate, new Map([[rule, kinds]])) ?? [])
      : [],
  );
}

/** Questions that no rule asks, because no hold depends on their answers. */
function ofFacts(situation: Situation): readonly Question[] {
  const { statefulSet, members } = situation.snapshot;
  const mayUpdateInPlace = statefulSet?.observed === true && members.some(({ inPlace }) => inPlace !== null);
  const [unread, notes] = [unreadData(situation), dueRecords(situation)];
  return [
    ...(unread.length > 0 || notes.length > 0 ? [{ kind: 'data', members: unread, notes } as const] : []),
    ...(mayUpdateInPlace ? [{ kind: 'inPlace' } as const] : []),
    ...asksMoco(situation),
    ...asksNodesStill(situation),
  ];
}

const detailsOf = ({ snapshot }: Situation): Question => ({
  kind: 'details',
  createFailure: false,
  contention: snapshot.contention !== null,
});

/** A rollout is over once it is complete. That may be later than the moment at which every pod has the new label. */
function isStuck(situation: Situation, complete: boolean, hold: Hold | null): boolean {
  const { snapshot, policy, deadlines } = situation;
  if (complete || (hold !== null && isRequestedByUser(hold.rule))) return false;
  const { sinceProgressSeconds } = snapshot.memory;
  const cloneSeconds = hold?.rule === 'Cloning' ? cloneAdvancedForSeconds(situation, hold.member) : null;
  const sinceSeconds = Math.min(sinceProgressSeconds, cloneSeconds ?? sinceProgressSeconds);
  return deadlines.reached(sinceSeconds, policy.progressDeadlineSeconds);
}

/** A member that only waits for its role counts as done, because MOCO sets the role without another step. */
function isComplete(situation: Situation, stale: number): boolean {
  const { snapshot, members, missing } = situation;
  return (
    stale === 0 &&
    missing.length === 0 &&
    snapshot.statefulSet?.observed === true &&
    !snapshot.statefulSet.deleting &&
    firstHold(situation, { kind: 'none' }, [{ kind: 'completes', member: null }]) === null &&
    members.every(
      ({ state, unsettled }) => state === 'participating' && (unsettled === null || unsettled.for === 'role'),
    )
  );
}
