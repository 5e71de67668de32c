import type { ProcedureLine } from '../decision.ts';
import { type Member, type Situation, target } from '../situation.ts';
import { comesUpUpdated, doesNotWork, partitionOf } from '../statefulset-controller.ts';
import type { Step, StepRule } from '../step.ts';
import { takeBackDemotion } from './demotion.ts';
import { release } from './hand-over.ts';
import { membersDown, membersRunning, nothingDue, primaryRunning } from './on-delete.ts';

// Which member is next where the StatefulSet controller deletes the pods: the member just below the partition.

/**
 * A cluster that serves no one: it has never been initialized, or none of its members works. Waiting for the partition
 * would keep a corrected template from those members forever, since it reaches them one after the other. So they are
 * recreated at the update revision; in a cluster that clones, only members that are down. MOCO's documents solve the
 * same problem for the first start by terminating the partition unset.
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
 * The same applies once no member has participated for longer than a failover takes, although they run: a restart may
 * help. The primary goes first and alone; replicas follow once it serves as primary again.
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
 * The partition may stay where it is if no member is stale and no new pod would be stale: every write by MOCO resets
 * it.
 */
const isDone = (situation: Situation): boolean =>
  situation.members.every(({ updated }) => updated) && comesUpUpdated(situation);

/** The step that lowers the partition to the next member, or below it if that member is already updated. */
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

/** The StatefulSet controller has not replaced a member yet, or the member is not settled. */
const stillAtWork: ProcedureLine = {
  takes: 'no member',
  candidates: () => [{ kind: 'none' }],
};

/**
 * Partition mode has the same gates. Its main step lowers the partition, and the StatefulSet controller deletes the
 * pods.
 */
export const partition = {
  takeBackDemotion,
  release, // it was at OnDelete before
  startUnserved,
  passUpdated,
  restartUnserved,
  lowerPartition,
  nothingDue,
  stillAtWork,
};

/** MOCO lowers the partition. This program only releases clusters that it still controls. */
export const mocoDrives = {
  takeBackDemotion,
  release,
  waitForMoco,
  nothingDue,
  stillAtWork,
};
