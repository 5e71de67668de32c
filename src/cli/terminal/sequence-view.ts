import type { SequenceRecord, StageStatus } from '../../api/rollout-sequence.ts';
import { isTrue, type RolloutStatus } from '../../api/rollout-status.ts';
import type { Stages } from '../../controller/fleet/sequence-stages.ts';
import { sequenceStatus } from '../../controller/fleet/sequence-status.ts';
import { concurrencyOf, type Stage, type StagedCluster } from '../../core/fleet/stage-counts.ts';
import { stageGates } from '../../core/fleet/stage-waits.ts';
import type { FleetHold } from '../../core/fleet/waits.ts';
import { explainHold } from '../../core/rules/catalogue.ts';

/** What a cluster of a stage does, those first that a person should look at. */
export const cellStates = ['failing', 'notHealthy', 'held', 'rolling', 'waiting', 'upToDate'] as const;
export type CellState = (typeof cellStates)[number];

export interface StageView extends StageStatus {
  /** How many of its clusters may be rolling at a time. */
  readonly limit: number;
  /** One for each cluster, by name. */
  readonly cells: readonly CellState[];
  /** What its clusters that have not begun wait for. */
  readonly waitsFor: { readonly rule: string; readonly message: string } | null;
  /** The rules that hold clusters by themselves, the most frequent one first. */
  readonly heldBy: readonly { readonly rule: string; readonly clusters: number }[];
  /** The names of the clusters that a reader may look for. */
  readonly rollingClusters: readonly string[];
  readonly failingClusters: readonly string[];
}

/** A MySQLRolloutSequence as its clusters are now. */
export type SequenceView = ReturnType<typeof sequenceViewOf>;

/** Uses the functions of the controller, so that it shows what the controller decides by. */
export function sequenceViewOf(
  record: SequenceRecord,
  stages: Pick<Stages, 'countsOf' | 'conflictsOf' | 'clustersOf' | 'waits'>,
  statusOf: (key: string) => RolloutStatus,
  nowSeconds: number,
) {
  const { name, sequence } = record;
  const counts = stages.countsOf(sequence);
  const status = sequenceStatus({ record, counts, conflicts: stages.conflictsOf(name), nowSeconds });
  const { stages: shown = [], conditions = [] } = status;
  const [finding] = conditions;
  const members = membersOf(name, stages.clustersOf(name), sequence.stages.length);
  return {
    name,
    // `Complete`, or what it does or waits for, in one word.
    phase: finding?.reason ?? 'Unknown',
    // The same as a sentence.
    message: finding?.message ?? '',
    complete: isTrue(conditions, 'Ready'),
    stalled: isTrue(conditions, 'Stalled'),
    // The first stage that is not complete.
    stage: status.stage ?? null,
    clusters: status.clusters ?? 0,
    upToDate: status.upToDateClusters ?? 0,
    rolling: status.rollingClusters ?? 0,
    failing: status.failingClusters ?? 0,
    stages: shown.map((one, index) =>
      stageViewOf(one, sequence.stages[index], members[index] ?? [], statusOf, () => {
        const [waiting] = counts[index]?.queue ?? [];
        const holds =
          waiting === undefined
            ? stageGates(sequence, counts, index).filter((gate) => !('until' in gate) || gate.until > nowSeconds)
            : stages
                .waits(waiting.key, statusOf(waiting.key).rollout?.revision ?? '', nowSeconds)
                .map(({ hold }) => hold);
        return holds[0] ?? null;
      }),
    ),
  };
}

function stageViewOf(
  status: StageStatus,
  stage: Stage | undefined,
  clusters: readonly StagedCluster[],
  statusOf: (key: string) => RolloutStatus,
  firstHold: () => FleetHold | null,
): StageView {
  const cells = clusters.map((cluster) => cellOf(cluster, statusOf(cluster.key)));
  const named = (state: CellState): readonly string[] =>
    clusters.flatMap(({ key }, index) => (cells[index] === state ? [key] : []));
  const isWaiting = status.waiting > 0 || status.state === 'Waiting';
  const hold = isWaiting ? firstHold() : null;
  return {
    ...status,
    limit: stage === undefined ? 0 : concurrencyOf(stage, status.clusters),
    cells,
    // Its numbers are in the column of rolling clusters.
    waitsFor:
      hold === null || hold.rule === 'AwaitingStageSlot'
        ? null
        : { rule: hold.rule, message: explainHold(hold, String) },
    heldBy: frequencies(named('held').map((key) => statusOf(key).hold?.rule ?? 'Unknown')),
    rollingClusters: named('rolling'),
    failingClusters: named('failing'),
  };
}

function membersOf(
  name: string,
  clusters: readonly StagedCluster[],
  stages: number,
): readonly (readonly StagedCluster[])[] {
  const members: StagedCluster[][] = Array.from({ length: stages }, () => []);
  for (const cluster of clusters) {
    for (const { sequence, stage } of cluster.places) if (sequence.name === name) members[stage]?.push(cluster);
  }
  return members;
}

function cellOf(
  { failing, completeSince, rolling, waitingSince, wantsTurn }: StagedCluster,
  { rollout }: RolloutStatus,
): CellState {
  if (failing) return 'failing';
  if (completeSince !== null) return 'upToDate';
  if (rolling) return 'rolling';
  if (waitingSince !== null && wantsTurn) return 'waiting';
  return rollout === undefined ? 'notHealthy' : 'held';
}

function frequencies(rules: readonly string[]): StageView['heldBy'] {
  return [...Map.groupBy(rules, (rule) => rule)]
    .map(([rule, all]) => ({ rule, clusters: all.length }))
    .toSorted((one, other) => other.clusters - one.clusters);
}
