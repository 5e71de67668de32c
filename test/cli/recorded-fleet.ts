import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { type HistoryEntry, newRollout, type RolloutProgress } from '../../src/api/rollout-progress.ts';
import { type RolloutStatus } from '../../src/api/rollout-status.ts';
import type { viewOf } from '../../src/cli/terminal/view.ts';

export const fleetNow = Date.UTC(2026, 6, 1, 12);
const ago = (minutes: number): string => new Date(fleetNow - minutes * 60_000).toISOString();

const ended = (name: string, minutes: number, took: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  revision: `moco-${name}-7966559688`,
  startedAt: ago(minutes),
  finishedAt: ago(minutes - took),
  outcome: 'Complete',
  disruptions: 3,
  switchovers: 1,
  switchoverSeconds: 3,
  memberDurations: [0, 1, 2].map((ordinal) => ({ ordinal, seconds: 40 + ordinal })),
  ...more,
});

const rolling = (name: string, minutes: number): RolloutProgress => ({
  ...newRollout(`moco-${name}-6c7fd9d5b4`, ago(minutes)),
  begunAt: ago(minutes),
  disruptions: 1,
  heldFor: [{ rule: 'BackupRunning', seconds: 300 }],
});

const hold = (
  rule: NonNullable<RolloutStatus['hold']>['rule'],
  minutes: number,
): NonNullable<RolloutStatus['hold']> => ({
  rule,
  message: '',
  since: ago(minutes),
});

/** What a status may have of its rollouts, in turns: every state that a page has to show. */
const statuses: readonly ((name: string, index: number) => RolloutStatus | null)[] = [
  (name, index) => ({
    phase: 'UpToDate',
    history: [
      ended(name, 4000 + index, 9, { heldFor: [{ rule: 'AwaitingFleetSlot', seconds: 240 }] }),
      ended(name, 600 + index, 7, { heldFor: [{ rule: 'OutsideMaintenanceWindow', seconds: 3600 }] }),
    ],
  }),
  (name, index) => ({
    phase: 'Superseded',
    history: [ended(name, 900 + index, 20, { outcome: 'Superseded', switchovers: 0, disruptions: 1 })],
  }),
  (name) => ({ phase: 'Progressing', rollout: rolling(name, 12), hold: hold('BlockedByPDB', 2) }),
  (name) => ({ phase: 'Paused', rollout: rolling(name, 180), hold: hold('Paused', 150) }),
  (name) => ({
    phase: 'Failing',
    rollout: rolling(name, 50),
    hold: hold('UpdateRevisionFailing', 45),
    conditions: [
      { type: 'Stalled', status: 'True', reason: 'UpdateRevisionFailing', message: '', lastTransitionTime: ago(45) },
    ],
  }),
  () => ({ phase: 'UpToDate' }),
  () => null,
];

/** So many clusters with their MySQLRollouts; `name` may be anything. */
export function recordedFleet(
  count: number,
  nameOf: (index: number) => string = (index) => `db-${index}`,
): readonly {
  readonly cluster: Parameters<typeof viewOf>[0];
  readonly rollout: MySQLRollout | null;
}[] {
  return Array.from({ length: count }, (_, index) => {
    const name = nameOf(index);
    const status = statuses[index % statuses.length]?.(name, index) ?? null;
    const metadata = { namespace: 'default', name, uid: name, resourceVersion: '1' };
    const { group, version, kind } = rolloutKind;
    return {
      cluster: { namespace: 'default', name, replicas: index % 10 === 9 ? 1 : 3, generation: 1, released: false },
      rollout: status && { apiVersion: `${group}/${version}`, kind, metadata, status },
    };
  });
}
