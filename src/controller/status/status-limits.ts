import type {
  HistoryEntry,
  MemberStatus,
  RolloutProgress,
  RolloutStatus,
  TemplateChange,
} from '../../api/rollout-status.ts';
import { shortened } from '../../kube/text.ts';
import { lastMeasured } from '../facts/measured-members.ts';

/**
 * A status is stored, watched and shown as a whole. These limits keep that of nine members below 16 KiB, whatever
 * texts of the API server, MOCO and users it quotes.
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

/** The status with its texts truncated, and with as much of the history as fits, the newest entries first. */
export function withinLimits(status: RolloutStatus): RolloutStatus {
  const { hold, members, lastStep, rollout, history, conditions } = status;
  const cut: RolloutStatus = {
    ...status,
    ...(hold && { hold: { ...hold, message: shortened(hold.message, statusLimits.message) } }),
    ...(members && { members: members.map(shortMember) }),
    ...(lastStep && { lastStep: { ...lastStep, result: shortened(lastStep.result, statusLimits.message) } }),
    ...(rollout && { rollout: shortProgress(rollout) }),
    ...(conditions && {
      conditions: conditions.map((condition) => ({
        ...condition,
        message: shortened(condition.message, statusLimits.message),
      })),
    }),
  };
  return withRoomFor(cut, newestOf(history ?? []).map(shortEntry));
}

/** The newest entries, and the last one with times of members: windows and plans go by them. */
function newestOf(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const newest = history.slice(-statusLimits.historyEntries);
  const measured = lastMeasured(history);
  return measured === undefined || newest.includes(measured) ? newest : [measured, ...newest.slice(1)];
}

const shortProgress = ({ changes, failing, ...progress }: RolloutProgress): RolloutProgress => ({
  ...progress,
  ...(changes && { changes: shortChanges(changes) }),
  ...(failing && { failing: { ...failing, message: shortened(failing.message, statusLimits.memberMessage) } }),
});

/**
 * Dropped in this order: the template changes of the oldest rollouts, their unavailability of members and the times of
 * their holds, the changes of the current rollout, the oldest rollouts themselves.
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
  // The newest entry stays: it tells how the last rollout ended.
  if (history.length > 0) return { ...bare, history: untimed.slice(-1) };
  const { history: _, ...alone } = bytesOf(status) <= statusLimits.bytes ? status : bare;
  return alone;
}

function withoutOwnChanges(status: RolloutStatus): RolloutStatus {
  if (!status.rollout) return status;
  const { changes: _, ...rollout } = status.rollout;
  return { ...status, rollout };
}

function withoutChanges({ changes: _, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

function withoutTimes({ memberDurations: _, heldFor: _holds, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

function shortMember(member: MemberStatus): MemberStatus {
  const { message, update } = member;
  return {
    ...member,
    ...(message !== undefined && { message: shortened(message, statusLimits.memberMessage) }),
    ...(update !== undefined && { update: shortened(update, statusLimits.memberMessage) }),
  };
}

function shortEntry(entry: HistoryEntry): HistoryEntry {
  return entry.changes === undefined ? entry : { ...entry, changes: shortChanges(entry.changes) };
}

function shortChanges(changes: readonly TemplateChange[]): readonly TemplateChange[] {
  return changes.slice(0, statusLimits.changes).map(({ path, from, to }) => ({
    path: shortened(path, statusLimits.changedPath),
    ...(from !== undefined && { from: shortened(from, statusLimits.changedValue) }),
    ...(to !== undefined && { to: shortened(to, statusLimits.changedValue) }),
  }));
}

const bytesOf = (status: RolloutStatus): number => Buffer.byteLength(JSON.stringify(status));
