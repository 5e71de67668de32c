import { isAdopted, keepsRevisions, mayKeepRevisions } from '../adoption.ts';
import { isAt, mayGoBackTo } from '../data.ts';
import type { NextStep } from '../decision.ts';
import { effects, kindsOf, membersOf } from '../effects.ts';
import { failingMember, isVerified } from '../failing-revision.ts';
import { isOverridden } from '../gates.ts';
import { awaitingResize } from '../in-place.ts';
import {
  awaitsOwnPod,
  createdWhileHeld,
  isAboutToBeCreated,
  isGoing,
  isNew,
  isRestoring,
  isUntaken,
  keptBecause,
  type Lost,
  lostMembers,
  revisionToKeep,
  suitsEveryMember,
  wouldSetBack,
} from '../lost-members.ts';
import { type Hold, isBrief, isRoutine } from '../rules/catalogue.ts';
import { type Member, type Situation, target, toRestore } from '../situation.ts';
import { markOfLeavingNode, type RestoreRule, type Step } from '../step.ts';

// Which revision new pods get. Under OnDelete the StatefulSet controller creates each pod at the update revision, no
// matter who deleted its predecessor. Under RollingUpdate with partition = replicas, the StatefulSet controller
// replaces no pods and creates each missing pod at the current revision, even for a member that was already updated.

/**
 * The step that changes the revision of new pods, or that restores the previous revision of a member; `null` if no such
 * step is needed or possible.
 *
 * @param outcome what the rollout does next, or why it does nothing
 */
export function newPodsStep(situation: Situation, outcome: NextStep): Step | null {
  if (situation.policy.mode !== 'OnDelete' || !isAdopted(situation.snapshot.statefulSet)) return null;
  if (outcome.hold === null && outcome.candidate.kind === 'undemote') return null;
  const isNext = bringsNow(situation, outcome);
  const taken = isNext ? membersOf(situation, outcome.candidate).map(({ ordinal }) => ordinal) : [];
  const lost = lostMembers(situation).filter(
    (one) =>
      !taken.includes(one.ordinal) && (isRestoring(situation, one.ordinal) || keptBecause(situation, one) !== null),
  );
  const kept = awaitsOwnPod(situation, lost) ? null : keptForSome(situation, lost);
  if (kept !== null) return kept.step;
  if (isNext) return updateNew(situation);
  if (isHeldAtRest(situation, outcome)) return keep(situation, [], 'whileHeld');
  const isByWebhook = situation.snapshot.strategyKeeper === 'webhook';
  return isByWebhook || mustUpdateNew(situation) || isBringing(situation) ? updateNew(situation) : null;
}

/**
 * Keeps the previous revision for members with missing pods. If no pod is missing, restores a member that has to get
 * its previous revision back. `null` if neither is needed, or if it is not allowed.
 */
function keptForSome(situation: Situation, lost: readonly Lost[]): { readonly step: Step | null } | null {
  const revision = revisionToKeep(situation, lost);
  if (revision === null || wouldSetBack(situation, revision)) return null;
  const isShort = suitsEveryMember(situation, revision) || lost.some((one) => isAboutToBeCreated(situation, one));
  if (lost.length > 0) return isShort ? { step: keep(situation, lost, 'untilCreated') } : null;
  const restored = memberToRestore(situation, revision);
  return restored === null ? null : { step: keep(situation, [], 'untilCreated') ?? restore(situation, restored) };
}

/** Whether the next step would update a member, and only the revision of new pods blocks it. */
function bringsNow(situation: Situation, { candidate, hold }: NextStep): boolean {
  if (hold !== null && hold.rule !== 'RevisionsKept') return false;
  return kindsOf(effects(situation, candidate)).includes('brings');
}

/**
 * Whether the hold may last, no step is in progress, and the data of every member that has data belong to one earlier
 * revision. Then no member could start on data newer than its own revision.
 */
function isHeldAtRest(situation: Situation, { hold }: NextStep): boolean {
  const { members, snapshot } = situation;
  if (!isLasting(hold) || snapshot.strategyKeeper === 'webhook') return false;
  const revision = members.every(({ updated }) => updated) ? null : revisionToKeep(situation, []);
  return revision !== null && suitsEveryMember(situation, revision) && !isUnderWay(situation);
}

/**
 * Whether a step of the rollout is still in progress, even if its pod seems untouched. If the member of a step fails at
 * the update revision, that step is over: the next pod of the member would also fail, perhaps before the controller
 * sees the pod run.
 */
function isUnderWay(situation: Situation): boolean {
  const { members, missing } = situation;
  const failing = failingMember(situation)?.member;
  const isAwaited = (ordinal: number): boolean =>
    ordinal !== failing && !isUntaken(situation, ordinal) && !isNew(situation, ordinal);
  return (
    isBringing(situation) ||
    missing.some(isAwaited) ||
    members.some((member) => (isGoing(member) || !member.updated) && isAwaited(member.ordinal))
  );
}

/**
 * Whether an update is still in progress: the pod that a step replaced has not come back updated, or the second half of
 * a step is missing.
 */
function isBringing(situation: Situation): boolean {
  const { members } = situation;
  return (
    awaitingResize(situation) !== null ||
    members.some(({ facts }) => facts.demotedFor !== null && facts.demotedFor !== markOfLeavingNode) ||
    members.some((member) => !member.updated && isGoing(member) && !isUntaken(situation, member.ordinal))
  );
}

const isLasting = (hold: Hold | null): boolean => hold !== null && !isBrief(hold.rule) && !isRoutine(hold.rule);

/** Whether no member is stale, or some member could start on data newer than its own revision. */
const mustUpdateNew = (situation: Situation): boolean =>
  situation.members.every(({ updated }) => updated) || !suitsEveryMember(situation, situation.currentRevision);

/** The step that makes new pods start at the previous revision. `null` if they already do, or cannot. */
function keep(situation: Situation, lost: readonly Lost[], lasts: 'whileHeld' | 'untilCreated'): Step | null {
  const { members, currentRevision } = situation;
  const revision = revisionToKeep(situation, lost);
  if (revision === null || !mayKeepRevisions(situation)) return null;
  if (currentRevision !== revision) {
    const replicas = members.filter(({ facts }) => facts.revision === revision).length;
    return { kind: 'promoteRevision', revision, replicas, for: 'keep', before: [] };
  }
  return keepsRevisions(situation.snapshot.statefulSet)
    ? null
    : { kind: 'setStrategy', newPods: 'CurrentRevision', lasts };
}

function updateNew({ snapshot }: Situation): Step | null {
  return snapshot.statefulSet?.newPods === 'CurrentRevision'
    ? { kind: 'setStrategy', newPods: 'UpdateRevision' }
    : null;
}

interface Restorable {
  readonly member: Member;
  readonly rule: RestoreRule;
}

/**
 * An updated member that has to get its previous revision back. In the first case a person has requested that, the
 * member fails, and MySQL supports the downgrade if mysqld has started. In the second case another program or person
 * deleted the pod of a held member, and the mysqld of the update revision has not started since. A working member is
 * left alone.
 */
function memberToRestore(situation: Situation, revision: string): Restorable | null {
  const requested = toRestore(situation);
  for (const member of situation.members) {
    if (!member.updated || member.participates || isGoing(member)) continue;
    const { ordinal } = member;
    if (
      requested.includes(ordinal) &&
      fails(member) &&
      wouldStay(situation, member) &&
      mayGoBackTo(situation, ordinal, revision)
    ) {
      return { member, rule: 'RestoreRequested' };
    }
    const isHeld = keptBecause(situation, { ordinal, member }) !== null;
    const isUnopened = createdWhileHeld(situation, member) === 'created' && isAt(situation, ordinal, revision);
    if (isHeld && isUnopened) return { member, rule: 'UpdatedByOthers' };
  }
  return null;
}

const fails = ({ state, crashLoop }: Member): boolean => state === 'down' || crashLoop !== null;

/** Whether the restored member would keep its previous revision, instead of being updated again immediately. */
const wouldStay = (situation: Situation, { pinned, ordinal }: Member): boolean =>
  pinned ||
  ordinal < situation.policy.partition ||
  (!isVerified(situation) && !isOverridden(situation, 'UpdateRevisionFailing'));

/** Restores the member, but only once new pods start at its previous revision. */
function restore(situation: Situation, { member, rule }: Restorable): Step | null {
  return keepsRevisions(situation.snapshot.statefulSet) ? { kind: 'restore', rule, targets: [target(member)] } : null;
}
