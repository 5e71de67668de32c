import { waitsToStart } from '../away-by-node.ts';
import type { ProcedureLine } from '../decision.ts';
import { isBeingResized, isUpdatedAsPrimary, stepInPlace } from '../in-place.ts';
import { keptBecause } from '../lost-members.ts';
import { endingClaims } from '../rules/recreatable.ts';
import { hasNeverFollowed, isRecovering } from '../running-members.ts';
import { descending, dueMembers, type Member, type Situation, target } from '../situation.ts';
import type { Step, StepRule } from '../step.ts';
import { takeBackDemotion } from './demotion.ts';
import { adopt, release } from './hand-over.ts';
import { leavingPrimary, leavingReplicas } from './node-maintenance.ts';

// Which member is next under OnDelete, and how it is replaced: the procedure of DEP-06. Members that do not participate
// are deleted, not evicted, because a PodDisruptionBudget can refuse to evict a pod that is already down.

const isProtected = ({ facts }: Member): boolean => facts.preventDelete;
const remove = (rule: StepRule, members: readonly Member[]): Step => ({
  kind: 'delete',
  rule,
  targets: members.map(target),
});

const due = (situation: Situation, is: (member: Member) => boolean): readonly Member[] =>
  descending(dueMembers(situation).filter((member) => is(member) && !hasTimeToReturn(situation, member)));

/**
 * With `lostMembers: KeepRevision`, a member that waits to start gets time to return at its previous revision, as long
 * as the rollout has other members to update.
 */
function hasTimeToReturn(situation: Situation, member: Member): boolean {
  const { policy, deadlines } = situation;
  if (policy.lostMembers !== 'KeepRevision' || !waitsToStart(situation, member)) return false;
  if (dueMembers(situation).every((other) => waitsToStart(situation, other))) return false;
  if (keptBecause(situation, { ordinal: member.ordinal, member }) !== 'setting') return false;
  return !deadlines.reached(member.facts.mysqldIdleForSeconds, policy.progressDeadlineSeconds);
}

/**
 * Members that have to move anyway come first. Members come last if their next pods would stay Pending. The rest keep
 * their order.
 */
const movingFirst = (members: readonly Member[]): readonly Member[] => {
  const place = ({ facts: { recreatable, leaving } }: Member): number =>
    recreatable.kind === 'asked' && recreatable.tied !== null ? 1 : leaving !== null ? -1 : 0;
  return members.toSorted((one, other) => place(one) - place(other));
};

/** The given members come last. The rest keep their order. */
const last =
  (is: (member: Member) => boolean) =>
  (members: readonly Member[]): readonly Member[] =>
    members.toSorted((one, other) => Number(is(one)) - Number(is(other)));
const unprotectedFirst = last(isProtected);
const primaryAfterOthers = last(({ primary }) => primary);

const downMembers = (situation: Situation): readonly Member[] =>
  due(situation, (member) => member.state === 'down' && !isProtected(member));

function removals(situation: Situation, down: readonly Member[]): readonly Step[] {
  const harmless = down.filter(({ facts }) => endingClaims(facts).length === 0);
  const broken = down.filter((member) => !waitsToStart(situation, member));
  const groups = [
    down,
    ...[harmless, broken].filter(({ length }) => length < down.length),
    ...(down.length > 1 ? down.map((one) => [one]) : []),
  ];
  return groups.filter(({ length }) => length > 0).map((members) => remove('MemberDown', members));
}

export const membersDown: ProcedureLine = {
  takes:
    'due members that are down and not protected, unless all of them wait to start: delete, all of them at once, else those whose deletion destroys no data, else those that do not wait to start, else one of them',
  candidates: (situation) => {
    const down = downMembers(situation);
    return down.every((member) => waitsToStart(situation, member)) ? [] : removals(situation, down);
  },
};

/** A rule that holds these members must not keep the others from being repaired. */
const membersAwaited: ProcedureLine = {
  takes: 'the same members, if all of them wait to start: delete, in the same way',
  candidates: (situation) => {
    const down = downMembers(situation);
    return down.every((member) => waitsToStart(situation, member)) ? removals(situation, down) : [];
  },
  yields: true,
};

/** Nothing is due: the rollout has ended, has gone as far as the user allows, or has not begun. */
export const nothingDue: ProcedureLine = {
  takes:
    'no due member: promoteRevision once every member is updated and Ready and the current revision is another one, else nothing to do',
  candidates: (situation) => {
    const { members, policy, replicas, currentRevision, updateRevision: revision } = situation;
    if (members.some((member) => member.due)) return [];
    // Under OnDelete, Kubernetes before 1.37 does not advance `status.currentRevision`. MOCO then treats the
    // StatefulSet as not ready, and forgets a volume expansion that is requested at that time.
    const isBehind = policy.mode === 'OnDelete' && currentRevision !== revision;
    return isBehind && members.every(({ facts }) => facts.ready)
      ? [{ kind: 'promoteRevision', revision, replicas, for: 'end', before: [] }]
      : [{ kind: 'none' }];
  },
};

const nothingRestarts: ProcedureLine = {
  takes:
    'a due member that works and whose next change in place is of metadata, or of its label alone: updateInPlace, one at a time, replicas first',
  candidates: (situation) => {
    const steps = primaryAfterOthers(due(situation, () => true)).map((member) => stepInPlace(situation, member));
    return steps.filter((step) => step !== null).filter(({ rule }) => rule === 'NothingRestarts');
  },
  yields: true,
};

const isUnreachable = ({ state }: Member): boolean => state === 'unreachable';

/**
 * The kubelet of these members is lost, but their mysqld may still be serving. So these members are replaced one at a
 * time, and the primary is never replaced.
 */
const membersUnreachable: ProcedureLine = {
  takes: 'due replicas whose node does not answer, and that are not protected: delete, one',
  candidates: (situation) =>
    due(situation, (member) => isUnreachable(member) && !member.primary && !isProtected(member)).map((member) =>
      remove('MemberUnreachable', [member]),
    ),
  yields: true,
};

/**
 * The primary runs without participating, for example because its agent is dead. A primary has no relay log to lose. So
 * if no member participates, the primary is replaced first and alone, and the replicas follow once it serves again.
 */
export const primaryRunning: ProcedureLine = {
  takes: 'the due primary that runs without participating: delete',
  candidates: (situation) =>
    due(situation, (member) => member.primary && member.state === 'running').map((member) =>
      remove('PrimaryNotParticipating', [member]),
    ),
  yields: true,
};

/**
 * Running replicas may still acknowledge commits, so they are replaced one at a time. MOCO has not configured a replica
 * that has never followed the primary. So such a replica goes first: a restart is most likely to help it.
 */
export const membersRunning: ProcedureLine = {
  takes:
    'due replicas that run without participating, and are neither protected nor recovering: delete, one, those first that have never followed a primary',
  candidates: (situation) =>
    due(
      situation,
      (member) =>
        member.state === 'running' && !member.primary && !isProtected(member) && !isRecovering(situation, member),
    )
      .toSorted((one, other) => Number(hasNeverFollowed(situation, other)) - Number(hasNeverFollowed(situation, one)))
      .map((member) => remove('MemberNotParticipating', [member])),
};

/** While these members are unavailable, no member of a later line may be replaced. */
const othersUnavailable: ProcedureLine = {
  takes:
    'every other due member that does not participate: protected ones, then those that recover, unreachable ones, and the primary: delete, one',
  candidates: (situation) => {
    const rest = due(situation, (member) => !member.participates);
    const place = (member: Member): number =>
      isProtected(member) && !(member.primary && isUnreachable(member))
        ? 0
        : isRecovering(situation, member)
          ? 1
          : isUnreachable(member)
            ? 2
            : 3;
    return rest
      .toSorted((one, other) => place(one) - place(other))
      .map((member) => remove(ruleOfUnavailable(member), [member]));
  },
};

function ruleOfUnavailable({ state, primary }: Member): StepRule {
  if (state === 'down') return 'MemberDown';
  if (state === 'unreachable') return 'MemberUnreachable';
  return primary ? 'PrimaryNotParticipating' : 'MemberNotParticipating';
}

/**
 * An impaired member is deleted, not evicted. The update may repair its sidecar, and the PodDisruptionBudget already
 * counts the pod as unavailable, so it would refuse an eviction. The Service no longer routes to an impaired primary,
 * and MOCO does not move a primary with a pod that is not ready (MOCO 0.36, clustering/status.go, isDegraded). So an
 * impaired primary is deleted too, under the same gates as a switchover. It goes before healthy replicas, which cannot
 * be evicted while the primary's pod is not ready.
 */
const membersImpaired: ProcedureLine = {
  takes: 'a due member that is impaired, replicas first: delete',
  candidates: (situation) => {
    const impaired = due(situation, ({ state }) => state === 'impaired');
    const [next] = unprotectedFirst(primaryAfterOthers(impaired));
    return next === undefined ? [] : [remove('MemberImpaired', [next])];
  },
};

const healthyReplicas: ProcedureLine = {
  takes:
    'the due replica that is next: those on nodes that are being drained, then from the highest ordinal down, then those that would stay Pending, protected ones last: its change in place, else evict; those whose node may resize them go before the others',
  candidates: (situation) => {
    const replicas = unprotectedFirst(movingFirst(due(situation, ({ primary }) => !primary)));
    const inPlace = replicas.map((member) => stepInPlace(situation, member));
    const [next] = replicas;
    if (next === undefined) return [];
    const resizes = replicas.filter((_, at) => inPlace[at]?.kind === 'resizeInPlace');
    const [first] = [...resizes.filter(({ facts }) => isBeingResized(facts)), ...resizes];
    const change = first === undefined ? inPlace[0] : stepInPlace(situation, first);
    return [change ?? { kind: 'evict', rule: 'ReplicaHealthy', targets: [target(next)] }];
  },
};

/**
 * If another member can take over, MOCO moves the primary's role first. Writes then stop only for the switchover, and
 * the preStop hook of the old primary cannot interfere with the switchover.
 */
const primaryLast: ProcedureLine = {
  takes:
    'the due primary when nothing else is due: its change in place if it is updated as primary, else demote; with one member evict',
  candidates: (situation) => {
    const next = dueMembers(situation).find((member) => member.primary);
    if (next === undefined) return [];
    const inPlace = stepInPlace(situation, next);
    if (inPlace !== null && isUpdatedAsPrimary(situation, inPlace)) return [inPlace];
    if (situation.replicas === 1) return [{ kind: 'evict', rule: 'SingleMember', targets: [target(next)] }];
    return [{ kind: 'demote', rule: 'PrimaryLast', targets: [target(next)], mark: situation.updateRevision }];
  },
};

/** The lines are tried in this order. The first one with an allowed candidate decides. */
export const onDelete = {
  takeBackDemotion, // first, so that our demotion never outlives its reason
  release, // the user has released the cluster
  adopt,
  membersDown, // all at once, because these members do no work
  membersAwaited,
  leavingPrimary, // before a drain evicts the pod of the primary
  nothingDue,
  nothingRestarts,
  membersUnreachable,
  primaryRunning, // a failover would be over by now
  membersRunning,
  othersUnavailable,
  membersImpaired,
  healthyReplicas,
  primaryLast,
  leavingReplicas, // replicas that no update of the rollout moves off their nodes
};
