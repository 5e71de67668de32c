import {
  concurrencyOf,
  isBefore,
  type Queued,
  type Sequence,
  type StageCount,
  type StagedCluster,
} from './stage-counts.ts';
import { type FleetHold, type FleetWait, freeSlots, type StageGate } from './waits.ts';

// Why a cluster of a sequence may not begin yet, from the counts of its stages.

/**
 * The reasons for which a cluster of a stage has to wait, the strongest first. A soak is listed even if it is already
 * over.
 */
export function stageGates(
  { name: sequence, stages }: Sequence,
  counts: readonly StageCount[],
  index: number,
): readonly StageGate[] {
  const gates: StageGate[] = [];
  for (const [at, { name: stage, maxFailures }] of stages.entries()) {
    const { failing = 0, failed = null } = counts[at] ?? {};
    if (failed !== null && failing > maxFailures) {
      gates.push({ rule: 'StageFailing', sequence, stage, failing, maxFailures, cluster: failed });
    }
  }
  for (const [at, { name: stage, maxFailures }] of stages.entries()) {
    const { failing = 0, gone = [] } = counts[at] ?? {};
    const failed = gone.filter((one) => one.failing);
    const [one] = at < index ? gone : failing + failed.length > maxFailures ? failed : [];
    if (one !== undefined)
      gates.push({ rule: 'StageMemberGone', sequence, stage, cluster: one.cluster, failing: one.failing });
  }
  const earlier = stages.slice(0, index);
  for (const [at, { name: stage }] of earlier.entries()) {
    const { clusters = 0, upToDate = 0, unfinished: cluster = null } = counts[at] ?? {};
    if (cluster === null) continue;
    gates.push({ rule: 'AwaitingEarlierStage', sequence, stage, clusters, unfinished: clusters - upToDate, cluster });
    break;
  }
  const soaks = earlier.flatMap(({ name: stage, soakSeconds }, at) => {
    const last = counts[at]?.last ?? null;
    return last === null || soakSeconds === 0
      ? []
      : [
          {
            rule: 'AwaitingSoak',
            sequence,
            stage,
            soakSeconds,
            until: last.since + soakSeconds,
            cluster: last.key,
          } as const,
        ];
  });
  return [...gates, ...soaks.toSorted((one, other) => other.until - one.until).slice(0, 1)];
}

/**
 * Why a cluster may not begin its rollout yet, the strongest reason first. A pure function, so every leader gets the
 * same result for the same fleet. `countsOf` returns the counts of a sequence.
 */
export function stageWaits(
  asking: StagedCluster,
  countsOf: (sequence: Sequence) => readonly StageCount[],
  nowSeconds: number,
): readonly FleetWait[] {
  const [place, ...others] = asking.places;
  if (place === undefined) return [];
  if (others.length > 0) {
    const sequences = asking.places.map(({ sequence }) => sequence.name).toSorted();
    return [lasting({ rule: 'SequenceConflict', sequences })];
  }
  const { sequence, stage } = place;
  if (sequence.problem !== null) {
    return [lasting({ rule: 'SequenceInvalid', sequence: sequence.name, problem: sequence.problem })];
  }
  // A cluster does not wait for its own failure.
  const own = asking.failing ? 1 : 0;
  const counts = countsOf(sequence).map((one, at) => (at === stage ? { ...one, failing: one.failing - own } : one));
  const since = asking.waitingSince ?? nowSeconds;
  const settled: FleetHold = {
    rule: 'AwaitingSettle',
    sequence: sequence.name,
    settleSeconds: sequence.settleSeconds,
    until: since + sequence.settleSeconds,
  };
  const timed = (hold: FleetHold & { readonly until: number }): readonly FleetWait[] =>
    hold.until > nowSeconds ? [{ hold, remainingSeconds: hold.until - nowSeconds }] : [];
  return [
    ...stageGates(sequence, counts, stage).flatMap((hold) => ('until' in hold ? timed(hold) : [lasting(hold)])),
    ...timed(settled),
    ...(asking.rolling
      ? []
      : slotWait({ key: asking.key, since: asking.queuedSince ?? since }, sequence, stage, counts[stage])),
  ];
}

const lasting = (hold: FleetHold): FleetWait => ({ hold, remainingSeconds: null });

function slotWait(
  asking: Queued,
  { name: sequence, stages }: Sequence,
  index: number,
  count: StageCount | undefined,
): readonly FleetWait[] {
  const stage = stages[index];
  if (stage === undefined || count === undefined) return [];
  const ahead = count.queue.filter((one) => one.key !== asking.key && isBefore(one, asking)).length;
  const limit = concurrencyOf(stage, count.clusters);
  const free = freeSlots(limit, count.rolling);
  if (ahead < free) return [];
  return [lasting({ rule: 'AwaitingStageSlot', sequence, stage: stage.name, limit, place: ahead - free + 1 })];
}

/** The clusters at the head of the stage's queue, as many as may begin now. */
export function nextInStage({ stages }: Sequence, counts: readonly StageCount[], index: number): readonly string[] {
  const stage = stages[index];
  const count = counts[index];
  if (stage === undefined || count === undefined) return [];
  const free = freeSlots(concurrencyOf(stage, count.clusters), count.rolling);
  return count.queue.slice(0, free).map(({ key }) => key);
}
