import { mysqldOf } from './member.ts';
import { justCreated } from './on-demand-facts.ts';
import type {
  ClusterFacts,
  ClusterSnapshot,
  ContainerFacts,
  LastRun,
  MemberFacts,
  StatefulSetFacts,
} from './snapshot.ts';
import type { Target } from './step.ts';

// The facts that a plan expects after a wait or a step.

/** Every running member serves in its role, and MOCO reports that. */
export function recovered(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { cluster } = snapshot;
  const well = everyMember(snapshot, (member) => serving(member, member.ordinal === cluster.primaryIndex));
  return {
    ...havingWorked(well),
    cluster: {
      ...cluster,
      healthy: true,
      available: true,
      mocoState: 'Healthy',
      syncedReplicas: cluster.replicas,
      errantOrdinals: [],
      primaryUnavailableForSeconds: null,
      primarySettledForSeconds: Number.MAX_SAFE_INTEGER,
    },
    budgets: openBudgets(snapshot),
  };
}

/** Assumes that the mysqld of each member has worked at the revision of its pod. */
function havingWorked(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { members, lastRuns } = snapshot;
  const runs = members.map(({ ordinal, revision }): LastRun => {
    const known = lastRuns.find((one) => one.revision === revision);
    return { ordinal, revision, image: known?.image ?? null, version: known?.version ?? null, worked: true };
  });
  const others = lastRuns.filter(({ ordinal }) => !members.some((member) => member.ordinal === ordinal));
  return { ...snapshot, lastRuns: [...runs, ...others] };
}

/** Assumes that every replica keeps up. In a real rollout only the controller can find that out. */
export function caughtUp(snapshot: ClusterSnapshot): ClusterSnapshot {
  const replicationDelays = snapshot.members.map(({ uid }) => ({
    uid,
    reading: { kind: 'delay', seconds: 0 } as const,
    ageSeconds: 0,
    unknownForSeconds: 0,
  }));
  return { ...snapshot, replicationDelays };
}

/**
 * The StatefulSet controller has recreated the pods of these members, at the update revision by default, and the new
 * pods serve.
 */
export function replaced(
  snapshot: ClusterSnapshot,
  gone: readonly Pick<Target, 'ordinal' | 'resourceVersion'>[],
  revisionOf: (before: MemberFacts) => string = () => snapshot.statefulSet?.updateRevision ?? '',
): ClusterSnapshot {
  const { primaryIndex } = snapshot.cluster;
  return changed(snapshot, gone, (member) =>
    serving(
      {
        ...withoutDemotion(member),
        uid: `${member.uid}'`,
        revision: revisionOf(member),
        terminatingForSeconds: null,
        preventDelete: false,
        recreatable: justCreated,
        node: null,
        leaving: null,
      },
      member.ordinal === primaryIndex,
    ),
  );
}

export function withMissing(
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
        name: `${like.name.slice(0, like.name.lastIndexOf('-') + 1)}${ordinal}`,
        uid: `new-${ordinal}`,
        revision,
        recreatable: justCreated,
        node: null,
        leaving: null,
      },
      ordinal === cluster.primaryIndex,
    ),
  );
  return [...members, ...made].toSorted((a, b) => a.ordinal - b.ordinal);
}

/** MOCO moves the primary away from a member that is about to be replaced, if another member can become primary. */
export function handedOn(snapshot: ClusterSnapshot, taken: readonly Pick<Target, 'ordinal'>[]): ClusterSnapshot {
  const ordinals = taken.map(({ ordinal }) => ordinal);
  const { primaryIndex } = snapshot.cluster;
  return ordinals.includes(primaryIndex) ? (moved(snapshot, ordinals) ?? snapshot) : snapshot;
}

/** MOCO chooses the serving member with the lowest ordinal that is not replaced. `null` if there is no such member. */
export function moved(snapshot: ClusterSnapshot, from: readonly number[]): ClusterSnapshot | null {
  const heir = snapshot.members.find(
    (member) =>
      !from.includes(member.ordinal) && member.terminatingForSeconds === null && mysqldOf(member)?.state === 'running',
  );
  return heir ? withPrimary(snapshot, heir.ordinal) : null;
}

function withPrimary(snapshot: ClusterSnapshot, primaryIndex: number): ClusterSnapshot {
  const primarySettledForSeconds = Number.MAX_SAFE_INTEGER;
  const cluster = { ...snapshot.cluster, primaryIndex, primaryUnavailableForSeconds: null, primarySettledForSeconds };
  const after = { ...snapshot, cluster };
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
    mysqldStartedForSeconds: Number.MAX_SAFE_INTEGER,
    participatingForSeconds: Number.MAX_SAFE_INTEGER,
    revisionForSeconds: Number.MAX_SAFE_INTEGER,
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
    restartsInVain: 0,
    notReadyForSeconds: 0,
  };
}

export function withoutDemotion(member: MemberFacts): MemberFacts {
  return { ...member, demote: false, demotedFor: null, demoteForSeconds: 0 };
}

/** The budgets once all members work again. A budget then stays closed only if MOCO did not create it. */
export function openBudgets({ budgets, cluster }: ClusterSnapshot): ClusterSnapshot['budgets'] {
  return budgets.map((budget) =>
    budget.closed && !budget.ofMoco
      ? budget
      : {
          ...budget,
          observed: true,
          closed: false,
          refusal: null,
          currentHealthy: cluster.replicas,
          disruptionsAllowed: Math.max(1, budget.disruptionsAllowed),
        },
  );
}

export function everyMember(snapshot: ClusterSnapshot, change: (member: MemberFacts) => MemberFacts): ClusterSnapshot {
  return { ...snapshot, members: snapshot.members.map(change) };
}

export function changed(
  snapshot: ClusterSnapshot,
  targets: readonly { readonly ordinal: number }[],
  change: (member: MemberFacts) => MemberFacts,
): ClusterSnapshot {
  const ordinals = new Set(targets.map(({ ordinal }) => ordinal));
  return everyMember(snapshot, (member) => (ordinals.has(member.ordinal) ? change(member) : member));
}

export const withCluster = (snapshot: ClusterSnapshot, change: Partial<ClusterFacts>): ClusterSnapshot => ({
  ...snapshot,
  cluster: { ...snapshot.cluster, ...change },
});

export const withStatefulSet = (snapshot: ClusterSnapshot, change: Partial<StatefulSetFacts>): ClusterSnapshot => ({
  ...snapshot,
  statefulSet: snapshot.statefulSet && { ...snapshot.statefulSet, ...change },
});

/** The kubelet has completed the resize that is in progress. */
export const resized = (inPlace: MemberFacts['inPlace']): MemberFacts['inPlace'] =>
  inPlace?.kind === 'possible' ? { ...inPlace, resize: null } : inPlace;

/** The pod has been resized, and the patch can follow. */
export function afterResize(inPlace: MemberFacts['inPlace']): MemberFacts['inPlace'] {
  const done = resized(inPlace);
  return done?.kind === 'possible' ? { ...done, change: { ...done.change, resources: [] } } : done;
}
