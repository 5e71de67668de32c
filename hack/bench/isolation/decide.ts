import { decide } from '../../../src/core/decide.ts';
import type { Decision } from '../../../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import { type ClusterBuilder, cluster } from '../../../test/core/cluster-builder.ts';
import { member } from '../../../test/core/member-builder.ts';
import type { Operation } from './operation.ts';

/** A decision about a cluster, and the limit for its median time. */
export interface DecideCase {
  readonly operation: Operation;
  readonly limitNanoseconds: number | null;
}

const limitsNanoseconds: Readonly<Record<number, number>> = { 3: 5_000, 9: 20_000 };
/** The number of different clusters, as in a fleet, so that no decision can reuse the data of the previous decision. */
const clusters = 16;
const times = 160_000;
/** The empty operation is so short that it has to be measured many times. */
const emptyTimes = 50_000_000;

const situations: Readonly<Record<string, (replicas: number) => ClusterBuilder>> = {
  idle: (replicas) => cluster(replicas),
  'mid-rollout': (replicas) => {
    const one = cluster(replicas).templateChanged();
    for (let ordinal = Math.ceil(replicas / 2); ordinal < replicas; ordinal++) one.members(member(ordinal).updated());
    return one;
  },
  held: (replicas) =>
    cluster(replicas).templateChanged().budgets({ closed: true, disruptionsAllowed: 0 }).backupJobs({}),
};

type Decide = (snapshot: ClusterSnapshot, policy: RolloutPolicy) => Decision;

const decided = decide(cluster(1).facts(), defaultPolicy);
/** Stored so that the compiler does not optimize the decision away. */
let last = decided;

export const decideCases: readonly DecideCase[] = [1, 3, 5, 9].flatMap((replicas) =>
  Object.entries(situations).map(([situation, build]): DecideCase => {
    const snapshots = Array.from({ length: clusters }, () => build(replicas).facts());
    const run = (): void => again(decide, snapshots, times);
    const name = `${replicas} ${replicas === 1 ? 'member' : 'members'}, ${situation}`;
    return { operation: { name, times, prepare: () => run }, limitNanoseconds: limitsNanoseconds[replicas] ?? null };
  }),
);

export const emptyDecision: Operation = {
  name: 'a decision that decides nothing',
  times: emptyTimes,
  prepare: () => {
    const snapshots = Array.from({ length: clusters }, () => cluster(3).facts());
    return () => again(() => decided, snapshots, emptyTimes);
  },
};

function again(decideOne: Decide, snapshots: readonly ClusterSnapshot[], often: number): void {
  for (let time = 0; time < often; time += snapshots.length) {
    for (const snapshot of snapshots) last = decideOne(snapshot, defaultPolicy);
  }
}

/** The result of the last decision. */
export const lastStep = (): string => last.step.kind;
