import { decide } from './decide.ts';
import type { Hold, Step, Target } from './decision.ts';
import type { RolloutPolicy } from './policy.ts';
import type { ClusterSnapshot, ContainerFacts, MemberFacts } from './snapshot.ts';

/** One line of a plan: a step, or a wait that is expected to end by itself. */
export type PlanEntry =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'wait'; readonly hold: Hold }
  | { readonly kind: 'switchover'; readonly from: number; readonly to: number };

export interface Plan {
  readonly entries: readonly PlanEntry[];
  readonly switchovers: number;
  /** What the rollout can't get past without a person; `null` when it ends with every due member updated. */
  readonly stopsAt: Hold | null;
}

/** More than any rollout can take: a plan that is longer is cut there. */
const entriesPerMember = 12;

/**
 * Plays the rollout forward to its end, without a cluster: pods start, MOCO follows, budgets open, time passes. Waits
 * are in it where they come first; the steps are those that `decide` takes. Pure, and always ends.
 */
export function plan(snapshot: ClusterSnapshot, policy: RolloutPolicy): Plan {
  const entries: PlanEntry[] = [];
  const limit = entriesPerMember * (snapshot.cluster.replicas + 2);
  let now = snapshot;
  let switchovers = 0;
  let waitedFor: Hold | null = null;
  while (entries.length < limit) {
    const { step, hold } = decide(now, policy);
    if (step.kind === 'none' && hold === null) return { entries, switchovers, stopsAt: null };
    // A wait that its own end didn't lift would be waited for for ever.
    const after = hold === null ? afterStep(now, step) : isSameWait(hold, waitedFor) ? null : afterWait(now, hold);
    if (after === null) return { entries, switchovers, stopsAt: hold };
    entries.push(hold === null ? { kind: 'step', step } : { kind: 'wait', hold });
    waitedFor = hold;
    const [from, to] = [now.cluster.primaryIndex, after.cluster.primaryIndex];
    if (from !== to) {
      entries.push({ kind: 'switchover', from, to });
      switchovers++;
    }
    now = after;
  }
  return { entries, switchovers, stopsAt: decide(now, policy).hold };
}

/** Where somebody else replaces one member after the other, a wait for the next one is another wait. */
function isSameWait(hold: Hold, before: Hold | null): boolean {
  if (hold.rule !== before?.rule) return false;
  const next = (one: Hold): number | null =>
    one.rule === 'AwaitingMoco' ? one.partition : isReplacement(one) ? one.member : null;
  return next(hold) === next(before);
}

type Replacement = Extract<Hold, { rule: 'UpdatedMemberNotParticipating' }>;

const isReplacement = (hold: Hold): hold is Replacement =>
  hold.rule === 'UpdatedMemberNotParticipating' && hold.wait.for === 'revision';

/** The world as it is when the step has had its effect and everything has started. */
function afterStep(snapshot: ClusterSnapshot, step: Step): ClusterSnapshot {
  const { statefulSet } = snapshot;
  switch (step.kind) {
    case 'none':
      return snapshot;
    case 'delete':
    case 'evict':
      return replaced(handedOn(snapshot, step.targets), step.targets);
    case 'demote':
      return handedOn(
        changed(snapshot, step.targets, (member) => ({ ...member, demote: true, demotedFor: step.revision })),
        step.targets,
      );
    case 'undemote':
      return changed(snapshot, step.targets, withoutDemotion);
    case 'handBack':
      return {
        ...snapshot,
        statefulSet: statefulSet && {
          ...statefulSet,
          strategy: 'RollingUpdate',
          labelled: false,
          partition: snapshot.cluster.replicas,
        },
      };
    case 'setStrategy':
      return {
        ...snapshot,
        statefulSet: statefulSet && { ...statefulSet, strategy: 'OnDelete', labelled: true, partition: null },
      };
    case 'setPartition':
      return replaced(
        {
          ...handedOn(snapshot, step.targets),
          statefulSet: statefulSet && { ...statefulSet, partition: step.partition },
        },
        step.targets,
      );
    case 'promoteRevision':
      return { ...snapshot, statefulSet: statefulSet && { ...statefulSet, currentRevision: step.revision } };
  }
}

/** The world in which a wait is over, or `null` where only a person can end it. */
function afterWait(snapshot: ClusterSnapshot, hold: Hold): ClusterSnapshot | null {
  const { cluster, statefulSet } = snapshot;
  switch (hold.rule) {
    case 'AwaitingOwnWrite':
      return { ...snapshot, ownWritePending: null };
    case 'StatefulSetNotObserved':
      return statefulSet?.updateRevision ? { ...snapshot, statefulSet: { ...statefulSet, observed: true } } : null;
    case 'NotReconciled':
      return {
        ...snapshot,
        cluster: { ...cluster, reconciledGeneration: cluster.generation, succeededGeneration: cluster.generation },
      };
    case 'AwaitingFleetSlot':
      return { ...snapshot, fleetQueue: null };
    case 'AwaitingFleetInterval':
      return { ...snapshot, fleetInterval: null };
    case 'RevisionFlapping':
      return { ...snapshot, memory: { ...snapshot.memory, recentRevisionAgesSeconds: [] } };
    case 'SwitchoverFailing':
      return hold.retries ? { ...snapshot, memory: { ...snapshot.memory, switchoverTries: 0 } } : null;
    case 'BackupRunning':
      return { ...snapshot, backupJobActive: false, budgets: openBudgets(snapshot) };
    case 'BlockedByPDB':
      return hold.cause === 'several' ? null : { ...snapshot, budgets: openBudgets(snapshot) };
    case 'PrimaryProtected':
      return everyMember(snapshot, (member) => ({ ...member, preventDelete: false }));
    case 'AwaitingSwitchover':
    case 'SwitchoverInProgress':
      return moved(snapshot, [hold.member]);
    case 'AwaitingFailover':
      return moved(snapshot, [hold.primary]);
    case 'MemberMissing':
      return hold.message === null && statefulSet !== null
        ? { ...snapshot, members: withMissing(snapshot, hold.members, statefulSet.updateRevision) }
        : null;
    case 'MemberLeaving':
      return replaced(
        snapshot,
        snapshot.members.filter((member) => member.leavingForSeconds !== null),
      );
    case 'AwaitingMoco': {
      const taken = snapshot.members.filter(
        ({ ordinal, revision }) => ordinal === hold.member && revision !== statefulSet?.updateRevision,
      );
      return replaced(
        {
          ...handedOn(snapshot, taken),
          statefulSet: statefulSet && { ...statefulSet, partition: hold.partition },
        },
        taken,
      );
    }
    case 'UpdatedMemberNotParticipating': {
      const behind = snapshot.members.filter(({ ordinal }) => isReplacement(hold) && ordinal === hold.member);
      return recovered(replaced(handedOn(snapshot, behind), behind));
    }
    case 'RolesNotSettled':
    case 'AwaitingRecovery':
    case 'BudgetUsed':
    case 'BatchNotComplete':
    case 'ClusterNotHealthy':
    case 'NotEnoughAcknowledging':
      return recovered(snapshot);
    default:
      return null;
  }
}

/** Everything that runs comes to serve, in its role, and MOCO says so. */
function recovered(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { cluster } = snapshot;
  const well = everyMember(snapshot, (member) => serving(member, member.ordinal === cluster.primaryIndex));
  return {
    ...well,
    cluster: {
      ...cluster,
      healthy: true,
      available: true,
      syncedReplicas: cluster.replicas,
      errantOrdinals: [],
      primaryAwayForSeconds: null,
    },
    budgets: openBudgets(snapshot),
  };
}

/** The StatefulSet has made their pods anew, from the update revision, and they serve. */
function replaced(
  snapshot: ClusterSnapshot,
  gone: readonly Pick<Target, 'ordinal' | 'resourceVersion'>[],
): ClusterSnapshot {
  const revision = snapshot.statefulSet?.updateRevision ?? '';
  const { primaryIndex } = snapshot.cluster;
  return changed(snapshot, gone, (member) =>
    serving(
      { ...withoutDemotion(member), uid: `${member.uid}'`, revision, leavingForSeconds: null, preventDelete: false },
      member.ordinal === primaryIndex,
    ),
  );
}

function withMissing(
  { members, cluster }: ClusterSnapshot,
  missing: readonly number[],
  revision: string,
): readonly MemberFacts[] {
  const [like] = members;
  if (!like) return members;
  const made = missing.map((ordinal) =>
    serving(
      {
        ...withoutDemotion(like),
        ordinal,
        name: `${like.name.replace(/\d+$/, '')}${ordinal}`,
        uid: `new-${ordinal}`,
        revision,
      },
      ordinal === cluster.primaryIndex,
    ),
  );
  return [...members, ...made].toSorted((a, b) => a.ordinal - b.ordinal);
}

/** MOCO moves the primary away from a member that is taken, where there is one to take over. */
function handedOn(snapshot: ClusterSnapshot, taken: readonly Pick<Target, 'ordinal'>[]): ClusterSnapshot {
  const ordinals = taken.map(({ ordinal }) => ordinal);
  const { primaryIndex } = snapshot.cluster;
  return ordinals.includes(primaryIndex) ? (moved(snapshot, ordinals) ?? snapshot) : snapshot;
}

/** MOCO chooses the lowest ordinal that serves and stays; `null` where there is none. */
function moved(snapshot: ClusterSnapshot, from: readonly number[]): ClusterSnapshot | null {
  const heir = snapshot.members.find(
    (member) =>
      !from.includes(member.ordinal) &&
      member.leavingForSeconds === null &&
      member.containers.some(({ part, state }) => part === 'mysqld' && state === 'running'),
  );
  return heir ? withPrimary(snapshot, heir.ordinal) : null;
}

function withPrimary(snapshot: ClusterSnapshot, primaryIndex: number): ClusterSnapshot {
  const after = { ...snapshot, cluster: { ...snapshot.cluster, primaryIndex, primaryAwayForSeconds: null } };
  return everyMember(after, (member) => {
    const roled = withoutDemotion({ ...member, role: member.ordinal === primaryIndex ? 'primary' : 'replica' });
    return member.ordinal === primaryIndex ? serving(roled, true) : roled;
  });
}

function serving(member: MemberFacts, primary: boolean): MemberFacts {
  return {
    ...member,
    role: primary ? 'primary' : 'replica',
    phase: 'Running',
    ready: true,
    readinessGateClosed: false,
    unschedulable: null,
    containers: member.containers.map(runningWell),
    initContainers: member.initContainers.map((container) => ({
      ...container,
      state: 'terminated',
      reason: 'Completed',
      ready: true,
    })),
    mysqldIdleForSeconds: 0,
    settledForSeconds: Number.MAX_SAFE_INTEGER,
  };
}

function runningWell(container: ContainerFacts): ContainerFacts {
  return {
    ...container,
    state: 'running',
    reason: null,
    ready: true,
    started: true,
    readySinceRestart: true,
    notReadyForSeconds: 0,
  };
}

function withoutDemotion(member: MemberFacts): MemberFacts {
  return { ...member, demote: false, demotedFor: null, demoteForSeconds: 0 };
}

function openBudgets({ budgets, cluster }: ClusterSnapshot): ClusterSnapshot['budgets'] {
  return budgets.map((budget) => ({
    ...budget,
    observed: true,
    closed: false,
    refusal: null,
    currentHealthy: cluster.replicas,
    disruptionsAllowed: Math.max(1, budget.disruptionsAllowed),
  }));
}

function everyMember(snapshot: ClusterSnapshot, change: (member: MemberFacts) => MemberFacts): ClusterSnapshot {
  return { ...snapshot, members: snapshot.members.map(change) };
}

function changed(
  snapshot: ClusterSnapshot,
  targets: readonly { readonly ordinal: number }[],
  change: (member: MemberFacts) => MemberFacts,
): ClusterSnapshot {
  const ordinals = new Set(targets.map(({ ordinal }) => ordinal));
  return everyMember(snapshot, (member) => (ordinals.has(member.ordinal) ? change(member) : member));
}
