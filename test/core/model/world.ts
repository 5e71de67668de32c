import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';

/** What mysqld of a pod does. `crashed` is between two attempts; a broken revision never gets further than that. */
type Body = 'creating' | 'starting' | 'up' | 'crashed';

export interface Pod {
  readonly uid: number;
  readonly revision: number;
  readonly body: Body;
  /** It has crashed and not been ready since. */
  readonly looping: boolean;
  readonly lagging: boolean;
  readonly role: 'primary' | 'replica' | null;
  readonly terminating: boolean;
  /** Its node is gone. */
  readonly lost: boolean;
  readonly sidecarBroken: boolean;
  readonly demote: 'ours' | 'foreign' | null;
  /** The revision in our mark. */
  readonly mark: number | null;
  /** Ages, one bit each: longer than minReadySeconds, than the idle limit, than the switchover may take. */
  readonly participatesLong: boolean;
  readonly idleLong: boolean;
  readonly demotedLong: boolean;
}

/** A cluster, MOCO, its nodes and what the controller has written down; every move makes a new one. */
export interface World {
  readonly pods: readonly (Pod | null)[];
  readonly primary: number;
  readonly template: number;
  readonly currentRevision: number;
  readonly brokenRevisions: readonly number[];
  /** How far MOCO is with a switchover or failover, in its order. */
  readonly roles: 'steady' | 'index moved' | 'unhealthy' | 'labelled';
  /** What MOCO said last. */
  readonly report: { readonly healthy: boolean; readonly available: boolean; readonly synced: number };
  /** What the disruption controller counted last. */
  readonly disruptionsAllowed: number;
  readonly backup: boolean;
  /** The maintenance window is open. */
  readonly windowOpen: boolean;
  readonly unavailableLong: boolean;
  /** Longer than a failover may take. */
  readonly primarySettledLong: boolean;
  readonly verified: boolean;
  readonly takenDown: readonly number[];
  readonly tries: number;
  readonly triedLong: boolean;
  readonly progressLong: boolean;
  readonly lastUid: number;
  readonly switchovers: number;
  /** What the user wants. */
  readonly policy: RolloutPolicy;
  /** Members that worked and were given a revision that is broken. */
  readonly spent: Readonly<Record<number, number>>;
}

export const fresh = (uid: number, revision: number): Pod => ({
  uid,
  revision,
  body: 'creating',
  looping: false,
  lagging: false,
  role: null,
  terminating: false,
  lost: false,
  sidecarBroken: false,
  demote: null,
  mark: null,
  participatesLong: false,
  idleLong: false,
  demotedLong: false,
});

/** All at revision 1 and serving, and the template has just become revision 2. */
export function staleWorld(replicas: number, primary: number, policy: RolloutPolicy = defaultPolicy): World {
  const pods = Array.from({ length: replicas }, (_, ordinal): Pod => {
    const role = ordinal === primary ? 'primary' : 'replica';
    return { ...fresh(ordinal, 1), body: 'up', role, participatesLong: true };
  });
  return {
    pods,
    primary,
    template: 2,
    currentRevision: 1,
    brokenRevisions: [],
    roles: 'steady',
    report: { healthy: true, available: true, synced: replicas },
    disruptionsAllowed: Math.floor(replicas / 2),
    backup: false,
    windowOpen: true,
    unavailableLong: false,
    primarySettledLong: true,
    verified: false,
    takenDown: [],
    tries: 0,
    triedLong: false,
    progressLong: false,
    lastUid: replicas,
    switchovers: 0,
    policy,
    spent: {},
  };
}

export function withPod(world: World, ordinal: number, change: Partial<Pod> | null): World {
  const pods = world.pods.map((pod, index) => {
    if (index !== ordinal) return pod;
    return pod === null || change === null ? null : { ...pod, ...change };
  });
  return { ...world, pods };
}

export const podAt = ({ pods }: World, ordinal: number): Pod | null => pods[ordinal] ?? null;

/** mysqld runs, configured by MOCO or not, and can be reached. */
export const runs = (pod: Pod | null): boolean =>
  pod !== null && !pod.lost && (pod.body === 'up' || pod.body === 'starting');

/** Its probe says ready: a replica replicates from a primary that runs. */
export function mysqldReady(world: World, ordinal: number): boolean {
  const pod = podAt(world, ordinal);
  if (pod?.body !== 'up' || pod.role === null || pod.lagging) return false;
  const primary = podAt(world, world.primary);
  return ordinal === world.primary || (runs(primary) && primary?.body === 'up');
}

export function serves(world: World, ordinal: number): boolean {
  const pod = podAt(world, ordinal);
  return mysqldReady(world, ordinal) && pod?.lost === false && !pod.terminating;
}

export const isPrimarySettled = (world: World): boolean =>
  serves(world, world.primary) && podAt(world, world.primary)?.role === 'primary';

export const ordinals = ({ pods }: World): readonly number[] => pods.map((_, ordinal) => ordinal);

export const roleOf = (world: World, ordinal: number): 'primary' | 'replica' =>
  ordinal === world.primary ? 'primary' : 'replica';
