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

/** The same with other gates, so that tests can show what each gate prevents. */
export function decideBy(by: Guards, snapshot: ClusterSnapshot, policy: RolloutPolicy): Decision {
  const situation = survey(snapshot, policy);
  const procedure = procedures[policy.mode];
  const stale = situation.members.filter((member) => !member.updated).length;
  const complete = isComplete(situation, stale);
  lookAgain(situation);
  const { next, unread } = choose(situation, procedure, by);
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

/** These questions also cover members that were passed over. */
const ofMembers: readonly QuestionKind[] = ['recreatable', 'clones'];

/**
 * Chooses the next candidate: the first one whose effects no gate holds, otherwise the first hold. A candidate whose
 * write failed keeps its place, since that write is retried first. So does a candidate that only waits until new pods
 * start at the update revision: a hold of another member would keep new pods at the current revision forever. If a
 * candidate only waits for the cluster's turn, that is what the rollout waits for, even if other candidates are held
 * too.
 *
 * `unread` has the holds of candidates that were passed over and whose facts have to be read again before they may be
 * replaced.
 */
function choose(
  situation: Situation,
  procedure: Procedure,
  all: Guards,
): { readonly next: NextStep; readonly unread: readonly Hold[] } {
  const by = asksOutOfTurn(situation) ? turnsLast(all) : all;
  const unread: Hold[] = [];
  let turn: NextStep | null = null;
  for (const { candidates, yields } of Object.values(procedure)) {
    let first: NextStep | null = null;
    for (const candidate of candidates(situation)) {
      const hold = closed(situation, candidate, by);
      const other = hold?.rule === 'RevisionsKept' ? closed(situation, candidate, withoutKept(by)) : hold;
      if (other === null || isOfItsWrite(other.rule)) return { next: { candidate, hold }, unread };
      if (other.rule === 'RecreationUnknown' || other.rule === 'CloneUnknown') unread.push(other);
      if (isTurn(other.rule)) turn ??= { candidate, hold };
      first ??= { candidate, hold };
    }
    if (first !== null && !yields) return { next: turn ?? first, unread };
  }
  return { next: turn ?? { candidate: { kind: 'none' }, hold: null }, unread };
}

/**
 * An answer blocked the step when the cluster had its turn. The cluster asks again without a turn, so that it does not
 * occupy one that it could not use.
 */
const asksOutOfTurn = ({ snapshot: { memory } }: Situation): boolean => memory.shown !== null && isAnswer(memory.shown);

const turnsLast = (by: Guards): Guards =>
  new Map([...by].toSorted(([one], [other]) => Number(isTurn(one)) - Number(isTurn(other))));

const withoutKept = (by: Guards): Guards => new Map([...by].filter(([rule]) => rule !== 'RevisionsKept'));

/** The revision of new pods is set first. It does not change what the rollout waits for. */
function withNewPods(
  situation: Situation,
  outcome: NextStep,
  by: Guards,
): Pick<Decision, 'step' | 'hold'> & { readonly blocked: Hold | null } {
  const { candidate, hold } = outcome;
  const change = newPodsStep(situation, outcome);
  const blocked = change === null ? null : closed(situation, change, by);
  if (change === null || blocked !== null) {
    const isBlocked = hold?.rule === 'RevisionsKept' || blocked?.rule === 'ClaimTerminating';
    return hold === null
      ? { step: candidate, hold, blocked }
      : { step: { kind: 'none' }, hold: (isBlocked ? blocked : null) ?? hold, blocked };
  }
  const isOver = change.kind === 'setStrategy' && change.newPods === 'UpdateRevision' && hold?.rule === 'RevisionsKept';
  return { step: change, hold: isOver ? null : hold, blocked };
}

/** The rule only waits for an answer that is asked for last, so nothing else is missing. */
function awaitsLast({ rule }: Hold): boolean {
  const kind = awaitedBy(rule);
  return kind !== undefined && asked[kind].last === true;
}

/** What the candidate needs to know in addition to the question of its hold, if nothing else holds it. */
function asksBeside(situation: Situation, { candidate, hold }: NextStep, by: Guards): readonly Question[] {
  const beside: Question[] = [];
  // Questions alone set no deadline.
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

/** A hold that is covered by another one has not ended: users see it again later with the time at which it began. */
function beneath(situation: Situation, { candidate }: NextStep, hold: Hold | null, by: Guards): readonly Hold[] {
  if (hold === null) return [];
  const { shown, earlier } = situation.snapshot.memory;
  return [...by].flatMap(([rule, kinds]) =>
    rule !== hold.rule && (rule === shown || earlier.includes(rule))
      ? (closed(situation, candidate, new Map([[rule, kinds]])) ?? [])
      : [],
  );
}

/** Questions that no rule asks, since no hold depends on their answers. */
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

/** A rollout is over once it is complete, not once every pod has the new label. */
function isStuck(situation: Situation, complete: boolean, hold: Hold | null): boolean {
  const { snapshot, policy, deadlines } = situation;
  if (complete || (hold !== null && isRequestedByUser(hold.rule))) return false;
  const { sinceProgressSeconds } = snapshot.memory;
  const cloneSeconds = hold?.rule === 'Cloning' ? cloneAdvancedForSeconds(situation, hold.member) : null;
  const sinceSeconds = Math.min(sinceProgressSeconds, cloneSeconds ?? sinceProgressSeconds);
  return deadlines.reached(sinceSeconds, policy.progressDeadlineSeconds);
}

/** A member that only waits for its role counts as done: MOCO sets the role without another step. */
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
