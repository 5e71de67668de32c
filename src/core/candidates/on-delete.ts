import type { ProcedureLine } from '../decision.ts';
import { isBeingResized, isUpdatedAsPrimary, stepInPlace } from '../in-place.ts';
import { endingClaims } from '../rules/recreatable.ts';
import { hasNeverFollowed, isRecovering } from '../running-members.ts';
import { descending, dueMembers, type Member, type Situation, target } from '../situation.ts';
import type { Step, StepRule } from '../step.ts';
import { takeBackDemotion } from './demotion.ts';
import { adopt, release } from './hand-over.ts';

// Which member is next, and how it is replaced, under OnDelete: the procedure of DEP-06. Members that do not
// participate are deleted, not evicted: a PodDisruptionBudget can refuse to evict a pod that is already down.

const isProtected = ({ facts }: Member): boolean => facts.preventDelete;
const remove = (rule: StepRule, members: readonly Member[]): Step => ({
  kind: 'delete',
  rule,
  targets: members.map(target),
});

const due = (situation: Situation, is: (member: Member) => boolean): readonly Member[] =>
  descending(dueMembers(situation).filter(is));

/**
 * Members that have to move anyway come first, members that would stay Pending come last. The others keep their order.
 */
const movingFirst = (members: readonly Member[]): readonly Member[] => {
  const place = ({ facts: { recreatable, nodeLeaves } }: Member): number =>
    recreatable.kind === 'asked' && recreatable.tied !== null ? 1 : nodeLeaves ? -1 : 0;
  return members.toSorted((one, other) => place(one) - place(other));
};

/** The others keep their order. */
const last =
  (is: (member: Member) => boolean) =>
  (members: readonly Member[]): readonly Member[] =>
    members.toSorted((one, other) => Number(is(one)) - Number(is(other)));
const unprotectedFirst = last(isProtected);
const primaryAfterOthers = last(({ primary }) => primary);

export const membersDown: ProcedureLine = {
  takes:
    'due members that are down and not protected: delete, all of them at once, else those whose deletion destroys no data, else one of them',
  candidates: (situation) => {
    const down = due(situation, (member) => member.state === 'down' && !isProtected(member));
    const harmless = down.filter(({ facts }) => endingClaims(facts).length === 0);
    const groups = [
      down,
      ...(harmless.length < down.length ? [harmless] : []),
      ...(down.length > 1 ? down.map((one) => [one]) : []),
    ];
    return groups.filter(({ length }) => length > 0).map((members) => remove('MemberDown', members));
  },
};

/** The rollout has ended, has gone as far as the user allows, or has not begun. */
export const nothingDue: ProcedureLine = {
  takes:
    'no due member: promoteRevision once every member is updated and Ready and the current revision is another one, else nothing to do',
  candidates: (situation) => {
    const { members, policy, replicas, currentRevision, updateRevision: revision } = situation;
    if (members.some((member) => member.due)) return [];
    // Under OnDelete `status.currentRevision` stays behind on Kubernetes before 1.37, and MOCO then believes that the
    // StatefulSet is not ready. It forgets a volume expansion that is requested at that moment.
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
 * mysqld may still serve although its kubelet is lost. So these members are replaced one at a time, and the primary
 * never.
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
 * For example, a primary with a dead agent. It has no relay log to lose: if no member participates, the primary goes
 * first and alone, and the replicas follow once it serves again.
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
 * Running replicas may still acknowledge commits, so they are replaced one at a time. A replica that has never followed
 * the primary has not been configured by MOCO, so it goes first: a restart is most likely to help it.
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

/** While these members are unavailable, no member of the lines below may be replaced. */
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
 * The update may repair the sidecar, and the PodDisruptionBudget would refuse an eviction, since it already counts the
 * pod as unavailable. The Service no longer routes to an impaired primary, and MOCO moves no primary whose pod is not
 * ready (MOCO 0.36, clustering/status.go, isDegraded). So an impaired primary is deleted under the same gates as a
 * primary that moves. It goes before healthy replicas, which cannot be evicted while its pod is not ready.
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
 * If another member can take over, MOCO moves the role first. Writes then stop only for the switchover, and the
 * switchover never races with the preStop hook.
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
    return [{ kind: 'demote', rule: 'PrimaryLast', targets: [target(next)], revision: situation.updateRevision }];
  },
};

/** The first line with a candidate that is allowed decides. */
export const onDelete = {
  takeBackDemotion, // our demotion never outlives its reason, whatever else holds
  release, // the user released the cluster
  adopt,
  membersDown, // they do no work: all at once
  nothingDue,
  nothingRestarts,
  membersUnreachable,
  primaryRunning, // a failover had its time
  membersRunning,
  othersUnavailable,
  membersImpaired,
  healthyReplicas,
  primaryLast,
};
