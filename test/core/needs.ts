import type { Step, StepRule } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';
import { crashes, down, impaired, lost, owes, participates, rolesMove } from './judged-members.ts';

type Taking = Extract<Step, { rule: StepRule }>;

/** What a step can need of the whole cluster; true when it is met. */
type Need = (snapshot: ClusterSnapshot, policy: RolloutPolicy, going: readonly MemberFacts[]) => boolean;

const serving = (snapshot: ClusterSnapshot): readonly MemberFacts[] =>
  snapshot.members.filter((one) => participates(snapshot, one));
const primaryOf = ({ cluster, members }: ClusterSnapshot): MemberFacts | undefined =>
  members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
const allAre =
  (is: (snapshot: ClusterSnapshot, member: MemberFacts) => boolean): Need =>
  (snapshot, _policy, going) =>
    going.every((one) => is(snapshot, one));

const everybody: Need = (snapshot) => serving(snapshot).length >= snapshot.cluster.replicas;
const everyOther: Need = (snapshot, _policy, going) =>
  serving(snapshot).filter((one) => !going.includes(one)).length >= snapshot.cluster.replicas - 1;
const majorityServes: Need = (snapshot) =>
  snapshot.cluster.replicas === 1 || serving(snapshot).length > snapshot.cluster.replicas / 2;
const nobodyServes: Need = (snapshot) => serving(snapshot).length === 0;
const graceOver: Need = ({ cluster }, policy) => (cluster.primaryAwayForSeconds ?? 0) >= policy.failoverGraceSeconds;
const primaryServesOrGraceOver: Need = (snapshot, policy, going) =>
  serving(snapshot).some((one) => one === primaryOf(snapshot)) || graceOver(snapshot, policy, going);
const rolesRest: Need = (snapshot, policy) => {
  const primary = primaryOf(snapshot);
  if (rolesMove(snapshot, policy) || (primary?.leavingForSeconds ?? null) !== null) return false;
  const asked = primary?.demote === true && primary.demotedFor === null;
  return !asked || primary.demoteForSeconds >= policy.switchoverTimeoutSeconds;
};
const nobodyLeaves: Need = ({ members }) => members.every(({ leavingForSeconds }) => leavingForSeconds === null);
const nobodyOwes: Need = (snapshot, policy) => !snapshot.members.some((one) => owes(snapshot, policy, one));
const noBackup: Need = ({ backupJobActive, budgets }) => !backupJobActive && !budgets.some(({ closed }) => closed);
const noForeignDemote: Need = ({ members }) =>
  !members.some((one) => one.demote && one.demotedFor === null && one.leavingForSeconds === null);
const healthy: Need = ({ cluster }) => cluster.healthy && cluster.syncedReplicas === cluster.replicas;
const budgetAllows: Need = ({ budgets }) =>
  budgets.length <= 1 && budgets.every((one) => one.observed && one.disruptionsAllowed >= 1);
const retryDelaysSeconds = [0, 300, 900, 2700];
const notTooManyTries: Need = ({ memory }) =>
  memory.switchoverTries === 0 ||
  memory.sinceLastTrySeconds >= (retryDelaysSeconds[memory.switchoverTries] ?? Infinity);
const oneOnly: Need = (_snapshot, _policy, going) => going.length === 1;
const primaryOnly: Need = allAre(({ cluster }, { ordinal }) => ordinal === cluster.primaryIndex);
const replicaOnly: Need = allAre(({ cluster }, { ordinal }) => ordinal !== cluster.primaryIndex);
const running: Need = allAre(
  (snapshot, one) =>
    !participates(snapshot, one) && !down(snapshot, one) && !lost(one) && one.leavingForSeconds === null,
);
/** MOCO has applied what is wanted, the cluster has begun its life, and it has its size. */
const applied: Need = ({ cluster, statefulSet, members }) =>
  cluster.reconciledGeneration === cluster.generation &&
  cluster.succeededGeneration === cluster.generation &&
  cluster.initialized &&
  statefulSet?.replicas === cluster.replicas &&
  members.length === cluster.replicas;
const revisionStands: Need = (snapshot, policy) => !revisionFails(snapshot, policy);
const revisionStandsOrQuorumLost: Need = (snapshot, policy) =>
  !revisionFails(snapshot, policy) ||
  (snapshot.memory.sinceProgressSeconds >= policy.progressDeadlineSeconds &&
    serving(snapshot).length <= snapshot.cluster.replicas / 2);

/** An updated member is down or crash-loops for a reason that its revision can have, and none has ever served. */
function revisionFails(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { memory, members, statefulSet } = snapshot;
  const updated = members.filter(({ revision }) => revision === statefulSet?.updateRevision);
  if (memory.proven || updated.some((one) => !owes(snapshot, policy, one))) return false;
  return updated.some((one) => {
    if (participates(snapshot, one) || one.leavingForSeconds !== null || lost(one)) return false;
    if (memory.takenDown.includes(one.ordinal)) return false;
    return crashes(one) || (down(snapshot, one) && (one.phase === 'Failed' || one.unschedulable === null));
  });
}

const standing = { applied, revisionStands };
const calm = { ...standing, oneOnly, rolesRest, nobodyLeaves, nobodyOwes, noBackup };
const healthyOnes = { ...calm, everybody, noForeignDemote, healthy, budgetAllows };

/** For every rule what it needs before it may take anybody; the compiler demands a line for each. */
const needs: Readonly<Record<StepRule, Readonly<Record<string, Need>>>> = {
  MemberDown: { down: allAre(down), revisionStandsOrQuorumLost },
  MemberUnreachable: { ...standing, oneOnly, replicaOnly, everyOther, lost: allAre((_snapshot, one) => lost(one)) },
  MemberNotParticipating: { ...calm, replicaOnly, primaryServesOrGraceOver, running },
  PrimaryNotParticipating: { ...standing, oneOnly, primaryOnly, graceOver, majorityServes, running },
  NobodyParticipates: { ...standing, nobodyServes, graceOver, reachable: allAre((_snapshot, one) => !lost(one)) },
  MemberImpaired: { ...calm, everyOther, impaired: allAre((_snapshot, one) => impaired(one)) },
  ReplicaHealthy: { ...healthyOnes, replicaOnly },
  PrimaryLast: { ...healthyOnes, primaryOnly, notTooManyTries },
  SingleMember: { ...healthyOnes, primaryOnly, single: ({ cluster }) => cluster.replicas === 1 },
};

/** What the rule of a step needs and has not got. */
export function unmetNeeds(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Taking): readonly string[] {
  const going = snapshot.members.filter(({ ordinal }) => step.targets.some((target) => target.ordinal === ordinal));
  return Object.entries(needs[step.rule])
    .filter(([, need]) => !need(snapshot, policy, going))
    .map(([name]) => `${step.rule} needs ${name}`);
}
