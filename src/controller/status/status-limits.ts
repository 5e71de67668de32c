import type { HistoryEntry, RolloutProgress } from '../../api/rollout-progress.ts';
import type { MemberStatus, RolloutStatus } from '../../api/rollout-status.ts';
import { shortened } from '../../base/text.ts';
import type { TemplateChange } from '../../moco/template-changes.ts';
import { lastMeasured } from '../facts/maintenance-facts.ts';

// Keeps a status small, however long the texts in it are.

/**
 * A status is stored, watched and shown as a whole. It quotes texts of the API server, MOCO and users. These limits
 * keep the status of nine members below 16 KiB, however long those texts are.
 */
export const statusLimits = {
  bytes: 16_384,
  message: 448,
  memberMessage: 160,
  historyEntries: 10,
  changes: 8,
  changedPath: 128,
  changedValue: 200,
} as const;

/** The status with its texts truncated, and with as much of the history as fits, newest entries first. */
export function withinLimits(status: RolloutStatus): RolloutStatus {
  const { hold, members, lastStep, preflight, rollout, history, conditions } = status;
  const cut: RolloutStatus = {
    ...status,
    ...(hold && { hold: cutTo(statusLimits.message)(hold) }),
    ...(members && { members: members.map(shortMember) }),
    ...(lastStep && { lastStep: { ...lastStep, result: shortened(lastStep.result, statusLimits.message) } }),
    ...(preflight && { preflight: shortPreflight(preflight) }),
    ...(rollout && { rollout: shortProgress(rollout) }),
    ...(conditions && { conditions: conditions.map(cutTo(statusLimits.message)) }),
  };
  return withRoomFor(cut, newestOf(history ?? []).map(shortEntry));
}

/**
 * The newest entries, and the last entry with times of members, because maintenance windows and plans use those times.
 */
function newestOf(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const newest = history.slice(-statusLimits.historyEntries);
  const measured = lastMeasured(history);
  return measured === undefined || newest.includes(measured) ? newest : [measured, ...newest.slice(1)];
}

const cutTo =
  (longest: number) =>
  <Shown extends { readonly message?: string }>(shown: Shown): Shown =>
    shown.message === undefined ? shown : { ...shown, message: shortened(shown.message, longest) };

const shortPreflight = ({ configuration, nodes, ...preflight }: NonNullable<RolloutStatus['preflight']>) => ({
  ...preflight,
  nodes: nodes.map(cutTo(statusLimits.memberMessage)),
  ...(configuration && { configuration: cutTo(statusLimits.memberMessage)(configuration) }),
});

const shortProgress = ({ failing, ...progress }: RolloutProgress): RolloutProgress => ({
  ...shortEntry(progress),
  ...(failing && { failing: cutTo(statusLimits.memberMessage)(failing) }),
});

/**
 * Makes room in this order. First it drops details of past rollouts, oldest rollout first: template changes, how long
 * members were unavailable, how long rules held. Then it drops the template changes of the current rollout, and then
 * the oldest rollouts as a whole.
 */
function withRoomFor(status: RolloutStatus, history: readonly HistoryEntry[]): RolloutStatus {
  const bare = withoutOwnChanges(status);
  const unchanged = history.map(withoutChanges);
  const measured = lastMeasured(unchanged);
  const untimed = unchanged.map((entry) =>
    entry === measured ? { ...withoutTimes(entry), memberDurations: entry.memberDurations ?? [] } : withoutTimes(entry),
  );
  const candidates = [
    ...history.map((_, kept) => ({ ...status, history: [...unchanged.slice(0, kept), ...history.slice(kept)] })),
    ...history.map((_, kept) => ({ ...status, history: [...untimed.slice(0, kept), ...unchanged.slice(kept)] })),
    ...history.map((_, dropped) => ({ ...bare, history: untimed.slice(dropped) })),
  ];
  const fits = candidates.find((candidate) => bytesOf(candidate) <= statusLimits.bytes);
  if (fits) return fits;
  // The newest entry stays, because it shows how the last rollout ended.
  if (history.length > 0) return { ...bare, history: untimed.slice(-1) };
  const { history: _, ...alone } = bytesOf(status) <= statusLimits.bytes ? status : bare;
  return alone;
}

function withoutOwnChanges(status: RolloutStatus): RolloutStatus {
  return status.rollout ? { ...status, rollout: withoutChanges(status.rollout) } : status;
}

const withoutChanges = <Entry extends Changing>({ changes: _, ...entry }: Entry) => entry;

const withoutTimes = ({ memberDurations: _, heldFor: _holds, ...entry }: HistoryEntry): HistoryEntry => entry;

function shortMember({ update, ...member }: MemberStatus): MemberStatus {
  const shown = cutTo(statusLimits.memberMessage)<MemberStatus>(member);
  return update === undefined ? shown : { ...shown, update: shortened(update, statusLimits.memberMessage) };
}

type Changing = Pick<HistoryEntry, 'changes'>;

const shortEntry = <Entry extends Changing>(entry: Entry): Entry =>
  entry.changes === undefined ? entry : { ...entry, changes: shortChanges(entry.changes) };

function shortChanges(changes: readonly TemplateChange[]): readonly TemplateChange[] {
  return changes.slice(0, statusLimits.changes).map(({ path, from, to }) => ({
    path: shortened(path, statusLimits.changedPath),
    ...(from !== undefined && { from: shortened(from, statusLimits.changedValue) }),
    ...(to !== undefined && { to: shortened(to, statusLimits.changedValue) }),
  }));
}

const bytesOf = (status: RolloutStatus): number => Buffer.byteLength(JSON.stringify(status));
