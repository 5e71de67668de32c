// The decisions of MOCO's clustering, based on facts only. The stand-in derives the facts from objects, the explorer
// from the cells of a state: neither decides anything itself.

/** A set of members, a bit each; the lowest bit is ordinal 0. */
export type Members = number;

export const memberBit = (ordinal: number): Members => 1 << ordinal;

export function membersWhere(replicas: number, holds: (ordinal: number) => boolean): Members {
  let members = 0;
  for (let ordinal = 0; ordinal < replicas; ordinal++) if (holds(ordinal)) members |= memberBit(ordinal);
  return members;
}

export function has(members: Members, ordinal: number): boolean {
  return (members & memberBit(ordinal)) !== 0;
}

/** The member with the lowest ordinal, or `null`. */
export function lowest(members: Members): number | null {
  return members === 0 ? null : 31 - Math.clz32(members & -members);
}

export function countOf(members: Members): number {
  let counted = 0;
  for (let left = members; left !== 0; left &= left - 1) counted++;
  return counted;
}

/** The facts that one pass of MOCO's clustering uses, of a cluster whose pods all exist. */
export interface ClusteringFacts {
  readonly replicas: number;
  /** `status.currentPrimaryIndex`. */
  readonly primary: number;
  /** Whose pods have the condition Ready. */
  readonly ready: Members;
  /** Whose mysqld answers. */
  readonly answering: Members;
  /** Members that accept no writes and replicate from the primary. */
  readonly following: Members;
  /** Who gets what its source commits. */
  readonly connected: Members;
  /** Who has ever had a source. */
  readonly configured: Members;
  readonly errant: Members;
  /** The database of the primary accepts writes. */
  readonly writable: boolean;
  /** The pod of the primary is terminating or has the demote annotation. */
  readonly stepsDown: boolean;
  /** A replica lags so far behind that MOCO protects the primary. */
  readonly lags: boolean;
  /** Whose role label is wrong, or absent while mysqld answers. */
  readonly mislabelled: Members;
  /** Who answers and does not do what its role asks for. */
  readonly misconfigured: Members;
}

export type DecidedState = 'Healthy' | 'Degraded' | 'Failed' | 'Lost' | 'Incomplete';

/** Everybody but the primary. */
const replicasOf = ({ replicas, primary }: Pick<ClusteringFacts, 'replicas' | 'primary'>): Members =>
  (memberBit(replicas) - 1) & ~memberBit(primary);

/** Replicas that a switchover may choose from. The pod of one of them may be terminating. */
export function candidates(facts: ClusteringFacts): Members {
  const { ready, answering, following, errant } = facts;
  return replicasOf(facts) & ready & answering & following & ~errant;
}

/** Replicas that a failover may choose from. Their mysqld has to run; their pods needn't be ready. */
export function electable(facts: ClusteringFacts): Members {
  const { answering, configured, errant } = facts;
  return replicasOf(facts) & answering & configured & ~errant;
}

/** Whom a failover elects: the first of those that have received most, of whom it may choose; `null` for nobody. */
export function elected(facts: ClusteringFacts, mostAdvanced: Members): number | null {
  const all = electable(facts);
  return lowest(all & mostAdvanced) ?? lowest(all);
}

/** MOCO's questions about the databases, in its order. */
export function stateOf(facts: ClusteringFacts): DecidedState {
  const { replicas, primary, ready, answering, connected, writable } = facts;
  const takesWrites = writable && has(answering, primary);
  const half = Math.floor(replicas / 2);
  if (takesWrites) {
    const good = countOf(candidates(facts));
    const follows = countOf(connected & replicasOf(facts));
    const all = replicas - 1;
    if (good === all && follows === all && countOf(ready) === replicas) return 'Healthy';
    if (has(ready, primary) && follows >= half && good >= half && good !== all) return 'Degraded';
  }
  if (has(answering, primary)) return 'Incomplete';
  return countOf(electable(facts)) > half ? 'Failed' : 'Lost';
}

/** Conditions `Available` and `Healthy`, of which the state is the reason. */
export const isAvailable = (state: string): boolean => state === 'Healthy' || state === 'Degraded';
export const isHealthy = (state: string): boolean => state === 'Healthy';

/** `status.syncedReplicas`. */
export const syncedReplicas = ({ ready }: Pick<ClusteringFacts, 'ready'>): number => countOf(ready);

export type Operation = 'switchover' | 'failover' | 'configure' | 'nothing';

/** The one operation that a state asks for. `isWilling`: nothing keeps MOCO from switching over but its own rules. */
export function operationOf(facts: ClusteringFacts, state: DecidedState, isWilling = true): Operation {
  const switches = isWilling && facts.stepsDown && !facts.lags && candidates(facts) !== 0;
  switch (state) {
    case 'Healthy':
      return switches ? 'switchover' : 'nothing';
    case 'Degraded':
      return switches ? 'switchover' : isConfigured(facts) ? 'nothing' : 'configure';
    case 'Incomplete':
      return isConfigured(facts) ? 'nothing' : 'configure';
    case 'Failed':
      return 'failover';
    case 'Lost':
      return 'nothing';
  }
}

function isConfigured({ writable, mislabelled, misconfigured }: ClusteringFacts): boolean {
  return writable && mislabelled === 0 && misconfigured === 0;
}

/** A switchover needs an answer of both until the index has moved. */
export function switchoverSucceeds(
  { answering, primary }: Pick<ClusteringFacts, 'answering' | 'primary'>,
  to: number,
): boolean {
  return has(answering, primary) && has(answering, to);
}

/** Replicas follow, labels come next, and writes are opened last. */
export type ConfigurationStep = 'labelling' | 'opening' | 'watching';

export function stepAfterLabelling({ writable }: Pick<ClusteringFacts, 'writable'>): ConfigurationStep {
  return writable ? 'watching' : 'opening';
}

/** Who follows the primary once MOCO has configured them: errant replicas and those that don't answer are left out. */
export function repointed(facts: Pick<ClusteringFacts, 'replicas' | 'primary' | 'answering' | 'errant'>): Members {
  return replicasOf(facts) & facts.answering & ~facts.errant;
}

export type Role = 'primary' | 'replica';

/** The desired role label of a member; an errant replica has none. */
export function wantedRole(
  { primary, errant }: Pick<ClusteringFacts, 'primary' | 'errant'>,
  ordinal: number,
): Role | null {
  if (ordinal === primary) return 'primary';
  return has(errant, ordinal) ? null : 'replica';
}

/** `prevent-delete` is set on the primary while a replica lags, and removed from every member once none does. */
export function protectedMembers(before: Members, primary: number, lags: boolean): Members {
  return lags ? before | memberBit(primary) : 0;
}

/** From this many replicas on a cluster has a PodDisruptionBudget. */
const budgetFromReplicas = 3;

/** `maxUnavailable` of the PodDisruptionBudget; `null` if MOCO has none. */
export function budgetMaxUnavailable(replicas: number, backupRuns: boolean): number | null {
  if (replicas < budgetFromReplicas) return null;
  return backupRuns ? 0 : Math.floor(replicas / 2);
}
