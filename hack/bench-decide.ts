import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decide } from '../src/core/decide.ts';
import type { Decision } from '../src/core/decision.ts';
import { defaultPolicy, type RolloutPolicy } from '../src/core/policy.ts';
import type { ClusterSnapshot } from '../src/core/snapshot.ts';
import { type ClusterBuilder, cluster } from '../test/core/cluster-builder.ts';
import { member } from '../test/core/member-builder.ts';

// How much time of one core one decision takes, however busy the machine is, beside a decision that decides nothing; what it allocates; and whether that
// grows with how many were made before.

const batches = 31;
const warmUpDecisions = 50_000;
const decisionsPerBatch = 10_000;
const nanosecondsPerMicrosecond = 1000;
/** The null decision is so short that only many can be measured. */
const nullDecisionsPerBatch = 1_000_000;
const decisionsForHeap = 100_000;
/** What garbage collection itself leaves differs by some 50 kB from one time to the next. */
const mostGrownBytesEach = 1;
const targetNanoseconds: Readonly<Record<number, number>> = { 3: 5_000, 9: 20_000 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Decide = (snapshot: ClusterSnapshot, policy: RolloutPolicy) => Decision;

const nothing = decide(cluster(1).facts(), defaultPolicy);
const nullDecide: Decide = () => nothing;
/** Kept, so that nothing is optimized away. */
let last: Decision = nothing;

const situations: Readonly<Record<string, (replicas: number) => ClusterBuilder>> = {
  idle: (replicas) => cluster(replicas),
  'mid-rollout': (replicas) => {
    const one = cluster(replicas).templateChanged();
    for (let ordinal = Math.ceil(replicas / 2); ordinal < replicas; ordinal++) one.members(member(ordinal).updated());
    return one;
  },
  held: (replicas) => cluster(replicas).templateChanged().budgets({ closed: true, disruptionsAllowed: 0 }).backupJob(),
};

let missed = false;
console.log('members  situation     decide      null   bytes each   kept of each');
for (const replicas of [1, 3, 5, 9]) {
  for (const [situation, builder] of Object.entries(situations)) {
    // Several clusters, as there are in a fleet: nothing may be remembered from one to the next.
    const snapshots = Array.from({ length: 16 }, () => builder(replicas).facts());
    const nanoseconds = median(decide, snapshots, decisionsPerBatch);
    const nullNanoseconds = median(nullDecide, snapshots, nullDecisionsPerBatch);
    const target = targetNanoseconds[replicas];
    const slow = target !== undefined && nanoseconds > target;
    const { bytesEach, grownBytesEach } = allocations(snapshots);
    const grows = grownBytesEach > mostGrownBytesEach;
    missed ||= slow || grows;
    console.log(
      [
        `${replicas}`.padStart(7),
        `  ${situation.padEnd(12)}`,
        `${nanoseconds.toFixed(0)} ns`.padStart(8),
        `${nullNanoseconds.toFixed(0)} ns`.padStart(9),
        bytesEach.toFixed(0).padStart(12),
        grownBytesEach.toFixed(2).padStart(18),
        slow ? `  more than ${target} ns` : '',
        grows ? '  grows with history' : '',
      ].join(' '),
    );
  }
}
console.log(`the last one: ${last.step.kind}`);
process.exitCode = missed ? 1 : 0;

function median(decideOne: Decide, snapshots: readonly ClusterSnapshot[], perBatch: number): number {
  run(decideOne, snapshots, warmUpDecisions);
  const each = Array.from({ length: batches }, () => {
    const before = process.threadCpuUsage();
    run(decideOne, snapshots, perBatch);
    const { user, system } = process.threadCpuUsage(before);
    return (nanosecondsPerMicrosecond * (user + system)) / perBatch;
  });
  return each.toSorted((a, b) => a - b)[Math.floor(batches / 2)] ?? Number.NaN;
}

function run(decideOne: Decide, snapshots: readonly ClusterSnapshot[], times: number): void {
  for (let index = 0; index < times; index++) {
    const snapshot = snapshots[index % snapshots.length];
    if (snapshot) last = decideOne(snapshot, defaultPolicy);
  }
}

/** What one decision allocates, and what of it is still there after many. */
function allocations(snapshots: readonly ClusterSnapshot[]): { bytesEach: number; grownBytesEach: number } {
  const kept = (times: number): number => {
    run(decide, snapshots, times);
    collectGarbage();
    return getHeapStatistics().used_heap_size;
  };
  kept(decisionsForHeap);
  const once = kept(decisionsForHeap);
  const grownBytesEach = (kept(decisionsForHeap) - once) / decisionsForHeap;
  return { bytesEach: allocatedEach(snapshots), grownBytesEach };
}

/** In runs so short that no garbage is collected within them, as a collection would show by less being used. */
function allocatedEach(snapshots: readonly ClusterSnapshot[]): number {
  const decisions = 50;
  const each = Array.from({ length: 50 }, () => {
    const before = getHeapStatistics().used_heap_size;
    run(decide, snapshots, decisions);
    return (getHeapStatistics().used_heap_size - before) / decisions;
  });
  return each.filter((bytes) => bytes >= 0).toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? Number.NaN;
}
