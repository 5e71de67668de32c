import type { HistoryEntry, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import { type Json, milliseconds, object, objects, text } from '../../moco/json.ts';
import { revisionHash, statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { changeInWords } from '../terminal/words.ts';
import { entriesOf, type Figures, figuresOf } from './figures.ts';

/** One member during one rollout. Times are milliseconds since 1970. */
export interface Lane {
  readonly name: string;
  /** `null` if no event shows any more when the update of the member began. */
  readonly takenAt: number | null;
  /** How long it was unavailable; `null` while it is, or if that was not recorded. */
  readonly seconds: number | null;
  readonly outOfBand: boolean;
  /** `null` if its pod was replaced, or is not updated yet. */
  readonly inPlace: 'mysqldWentOn' | 'mysqldRestarted' | null;
}

/** An event at a point in time. */
export interface Mark {
  readonly at: number;
  readonly kind: 'switchover' | 'hold';
  readonly title: string;
  readonly note: string;
}

export interface Timeline extends Figures {
  readonly hash: string;
  readonly from: string | null;
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  readonly changes: readonly string[];
}

interface Report {
  readonly at: number;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly pod: string | null;
}

/** The reasons of the events about steps that disrupt members. */
const takes: ReadonlySet<string> = new Set(['Evicted', 'Deleted', 'PartitionUpdate']);
const demoted = 'Demoted';
const waiting = 'Waiting';

/** The rollouts in the status, the newest first, with their events that still exist. */
export function timelinesOf(
  cluster: ClusterRecord,
  status: RolloutStatus,
  events: readonly Json[],
  nowMilliseconds: number,
): readonly Timeline[] {
  const reports = events.flatMap(reportsOf).toSorted((one, other) => one.at - other.at);
  return entriesOf(status)
    .map((entry) => {
      const isUnderWay = entry.finishedAt === '';
      const unavailable = isUnderWay ? status.rollout?.unavailableMembers : undefined;
      return timelineOf(cluster, entry, reports, unavailable ?? [], nowMilliseconds);
    })
    .toReversed();
}

function timelineOf(
  { name, replicas }: ClusterRecord,
  entry: HistoryEntry,
  reports: readonly Report[],
  unavailable: NonNullable<RolloutProgress['unavailableMembers']>,
  nowMilliseconds: number,
): Timeline {
  const stem = statefulSetName(name);
  const figures = figuresOf(entry, nowMilliseconds);
  const end = figures.finishedAt ?? nowMilliseconds;
  const during = reports.filter(({ at }) => at >= figures.startedAt && at <= end);
  const lanes = Array.from({ length: replicas }, (_, ordinal): Lane => {
    const pod = `${stem}-${ordinal}`;
    const taken = during.find(
      (one) => takes.has(one.reason) && (one.pod === pod || one.note.split(/[ ,:]+/).includes(pod)),
    );
    const seconds = entry.memberDurations?.find((one) => one.ordinal === ordinal)?.seconds ?? null;
    return {
      name: pod,
      takenAt: taken?.at ?? milliseconds(unavailable.find((one) => one.ordinal === ordinal)?.since ?? null),
      seconds,
      outOfBand: entry.updatedOutOfBand?.includes(ordinal) === true,
      inPlace: inPlaceOf(entry, ordinal),
    };
  });
  const marks = during.flatMap(({ at, reason, action, note }): readonly Mark[] => {
    if (reason === demoted) return [{ at, kind: 'switchover', title: 'Switchover', note }];
    return action === waiting ? [{ at, kind: 'hold', title: reason, note }] : [];
  });
  return {
    ...figures,
    hash: revisionHash(entry.revision, name),
    from: entry.from === undefined ? null : revisionHash(entry.from, name),
    lanes,
    marks,
    changes: (entry.changes ?? []).map((change) => changeInWords(change, '→')),
  };
}

function inPlaceOf({ updatedInPlace = [], mysqldRestarted = [] }: HistoryEntry, ordinal: number): Lane['inPlace'] {
  if (mysqldRestarted.includes(ordinal)) return 'mysqldRestarted';
  return updatedInPlace.includes(ordinal) ? 'mysqldWentOn' : null;
}

/** A repeated event occurred at its first and at its last time. */
function reportsOf(event: Json): readonly Report[] {
  const series = object(event['series']);
  const moments = [text(event['eventTime']), text(event['deprecatedFirstTimestamp']), text(series['lastObservedTime'])];
  const [related] = objects([event['related'] ?? {}]);
  return [...new Set(moments.map(milliseconds))]
    .filter((at) => at !== null)
    .map((at) => ({
      at,
      reason: text(event['reason']) ?? '',
      action: text(event['action']) ?? '',
      note: text(event['note']) ?? '',
      pod: related?.['kind'] === 'Pod' ? text(related['name']) : null,
    }));
}
