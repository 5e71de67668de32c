import type { ProcedureLine } from '../decision.ts';
import { type Member, type Situation, target } from '../situation.ts';
import { comesUpUpdated, doesNotWork, partitionOf } from '../statefulset-controller.ts';
import type { Step, StepRule } from '../step.ts';
import { takeBackDemotion } from './demotion.ts';
import { release } from './hand-over.ts';
import { membersDown, membersRunning, nothingDue, primaryRunning } from './on-delete.ts';

// Which member is next if the StatefulSet controller deletes the pods: the member just below the partition.

/**
 * A cluster that serves no clients, because it has never been initialized or because none of its members works. The
 * partition reaches members one after the other, so those members would wait forever for a corrected template. So they
 * are recreated at the update revision; in a cluster that is cloning, only members that are down. For the first start,
 * MOCO's documents solve the same problem by leaving the partition unset.
 *
 * Some of the deletions can fail while other members start to serve. So once the current revision is the update
 * revision, a member that is down is always deleted: it comes back updated at any partition.
 */
const startUnserved: ProcedureLine = {
  takes:
    'due members that are down, in a cluster that was never initialized or in which no member works, or once the current revision is the update revision: promoteRevision, then delete, all at once',
  candidates: (situation) => {
    const { members, snapshot } = situation;
    const atWork = members.some((member) => member.state !== 'down' && member.state !== 'terminating');
    if (snapshot.cluster.initialized && atWork && !comesUpUpdated(situation)) return [];
    return membersDown.candidates(situation).map((step) => atUpdateRevision(situation, step));
  },
};

/**
 * Members run, but none of them has participated for longer than a failover takes: a restart may help. The primary is
 * restarted first and alone. The replicas follow once it serves as primary again.
 */
const restartUnserved: ProcedureLine = {
  takes:
    'the primary that runs while no member participates: promoteRevision, then delete; afterwards replicas that have run without participating for longer than a failover takes',
  candidates: (situation) => {
    const { participating } = situation;
    if (participating === 0) {
      return primaryRunning.candidates(situation).map((step) => atUpdateRevision(situation, step));
    }
    if (!comesUpUpdated(situation)) return [];
    const stopped = situation.members.filter((member) => doesNotWork(situation, member)).map(({ ordinal }) => ordinal);
    return membersRunning
      .candidates(situation)
      .filter((step) => 'targets' in step && step.targets.every(({ ordinal }) => stopped.includes(ordinal)));
  },
  yields: true,
};

function atUpdateRevision(situation: Situation, step: Step): Step {
  if (comesUpUpdated(situation) || step.kind !== 'delete') return step;
  const { replicas, updateRevision: revision } = situation;
  return { kind: 'promoteRevision', revision, replicas, for: 'start', before: step.targets };
}

/**
 * The rollout is done if no member is stale and no new pod would be stale. The partition may then stay where it is,
 * because the next write by MOCO resets it anyway.
 */
const isDone = (situation: Situation): boolean =>
  situation.members.every(({ updated }) => updated) && comesUpUpdated(situation);

/**
 * The step that lowers the partition to the next member. If that member is already updated, the partition goes below
 * it.
 */
function lower(situation: Situation): readonly Step[] {
  const partition = partitionOf(situation) - 1;
  const next = situation.members.find(({ ordinal }) => ordinal === partition);
  if (next === undefined) return [];
  return [{ kind: 'setPartition', rule: ruleOf(next), partition, targets: next.updated ? [] : [target(next)] }];
}

function ruleOf({ updated, state }: Member): StepRule {
  if (updated) return 'AlreadyUpdated';
  switch (state) {
    case 'participating':
      return 'ReplicaHealthy';
    case 'impaired':
      return 'MemberImpaired';
    case 'down':
      return 'MemberDown';
    default:
      return 'MemberNotParticipating';
  }
}

const passUpdated: ProcedureLine = {
  takes: 'the member just below the partition, if it is updated: setPartition, by one, which replaces no member',
  candidates: (situation) =>
    lowerPartition.candidates(situation).filter((step) => 'targets' in step && step.targets.length === 0),
  yields: true,
};

const lowerPartition: ProcedureLine = {
  takes: "the member just below the partition, if that is above the policy's: setPartition, by one",
  candidates: (situation) =>
    isDone(situation) || !(partitionOf(situation) - 1 >= situation.policy.partition) ? [] : lower(situation),
};

const waitForMoco: ProcedureLine = {
  takes:
    "while a member is stale, the member just below the partition: setPartition, which only MOCO's own partition controller does",
  candidates: (situation) => (situation.members.every(({ updated }) => updated) ? [] : lower(situation)),
};

/** The StatefulSet controller still has to replace a member, or a replaced member has not settled yet. */
const stillAtWork: ProcedureLine = {
  takes: 'no member',
  candidates: () => [{ kind: 'none' }],
};

/**
 * The procedure of partition mode. It has the same gates as OnDelete mode. Its main step lowers the partition, and the
 * StatefulSet controller deletes the pods.
 */
export const partition = {
  takeBackDemotion,
  release, // the StatefulSet was at OnDelete before
  startUnserved,
  passUpdated,
  restartUnserved,
  lowerPartition,
  nothingDue,
  stillAtWork,
};

/** MOCO lowers the partition. This program only releases StatefulSets that it adopted earlier. */
export const mocoDrives = {
  takeBackDemotion,
  release,
  waitForMoco,
  nothingDue,
  stillAtWork,
};
