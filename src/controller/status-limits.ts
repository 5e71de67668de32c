import type { HistoryEntry, MemberStatus, RolloutStatus, TemplateChange } from './rollout-resource.ts';

/**
 * A status is stored, watched and shown as a whole: these keep that of nine members under 16 KiB, whatever the API
 * server, MOCO and people have put into the texts that it quotes.
 */
export const statusLimits = {
  bytes: 16_384,
  message: 448,
  memberMessage: 160,
  value: 256,
  historyEntries: 10,
  changes: 8,
  changedPath: 128,
  changedValue: 200,
} as const;

/** The same status with its texts cut, and as much of the history as there is room for, the newest first. */
export function withinLimits(status: RolloutStatus): RolloutStatus {
  const { hold, members, lastStep, rollout, history, effectivePolicy, conditions } = status;
  const cut: RolloutStatus = {
    ...status,
    ...(hold && { hold: { ...hold, message: shortened(hold.message, statusLimits.message) } }),
    ...(members && { members: mapped(members, shortMember) }),
    ...(lastStep && { lastStep: { ...lastStep, result: shortened(lastStep.result, statusLimits.message) } }),
    ...(rollout?.changes && { rollout: { ...rollout, changes: shortChanges(rollout.changes) } }),
    ...(effectivePolicy && {
      effectivePolicy: mapped(effectivePolicy, ({ value, source }) => ({
        value: shortened(value, statusLimits.value),
        source: shortened(source, statusLimits.value),
      })),
    }),
    ...(conditions && {
      conditions: conditions.map((condition) => ({
        ...condition,
        message: shortened(condition.message, statusLimits.message),
      })),
    }),
  };
  return withRoomFor(cut, (history ?? []).slice(-statusLimits.historyEntries).map(shortEntry));
}

/**
 * What changed in the oldest rollouts goes first, then for how long members were away in them, then what the rollout
 * under way changes, then the oldest rollouts themselves.
 */
function withRoomFor(status: RolloutStatus, history: readonly HistoryEntry[]): RolloutStatus {
  const bare = withoutOwnChanges(status);
  const unchanged = history.map(withoutChanges);
  const untimed = unchanged.map(withoutTimes);
  const candidates = [
    ...history.map((_, kept) => ({ ...status, history: [...unchanged.slice(0, kept), ...history.slice(kept)] })),
    ...history.map((_, kept) => ({ ...status, history: [...untimed.slice(0, kept), ...unchanged.slice(kept)] })),
    ...history.map((_, dropped) => ({ ...bare, history: untimed.slice(dropped) })),
  ];
  const fits = candidates.find((candidate) => bytesOf(candidate) <= statusLimits.bytes);
  if (fits) return fits;
  const { history: _, ...alone } = bytesOf(status) <= statusLimits.bytes ? status : bare;
  return history.length === 0 ? alone : { ...alone, history: [] };
}

function withoutOwnChanges(status: RolloutStatus): RolloutStatus {
  if (!status.rollout) return status;
  const { changes: _, ...rollout } = status.rollout;
  return { ...status, rollout };
}

function withoutChanges({ changes: _, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

function withoutTimes({ memberSeconds: _, ...entry }: HistoryEntry): HistoryEntry {
  return entry;
}

function shortMember({ message, ...member }: MemberStatus): MemberStatus {
  return message === undefined ? member : { ...member, message: shortened(message, statusLimits.memberMessage) };
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

/** In characters, none of which is cut in two; the last one says that there was more. */
function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}

function mapped<T>(record: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
