import type { HistoryEntry, RolloutStatus } from '../../controller/rollout-resource.ts';
import { type Json, object, objects, text } from '../../moco/json.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { hashOf } from '../status/view.ts';

/** One member during one rollout. Moments are milliseconds since 1970. */
export interface Lane {
  readonly name: string;
  /** `null` where no event says any more when it was taken. */
  readonly takenAt: number | null;
  /** How long it was away; `null` while it is, or where nobody has counted. */
  readonly seconds: number | null;
  readonly outOfTurn: boolean;
}

/** Something that happened at a moment. */
export interface Mark {
  readonly at: number;
  readonly kind: 'switchover' | 'hold';
  readonly title: string;
  readonly note: string;
}

export interface Timeline {
  readonly hash: string;
  readonly from: string | null;
  readonly startedAt: number;
  /** `null` while it is under way. */
  readonly finishedAt: number | null;
  readonly outcome: string;
  readonly disruptions: number;
  readonly switchovers: number;
  readonly lanes: readonly Lane[];
  readonly marks: readonly Mark[];
  readonly changes: readonly string[];
}

interface Told {
  readonly at: number;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly pod: string | null;
}

/** Reasons of the events about steps that take members. */
const takes: ReadonlySet<string> = new Set(['Evicted', 'Deleted', 'PartitionUpdate']);
const demoted = 'Demoted';
const waiting = 'Waiting';

/** The rollouts that the status tells of, the newest first, with what events there still are of them. */
export function timelinesOf(
  cluster: ClusterRecord,
  status: RolloutStatus,
  events: readonly Json[],
  nowMilliseconds: number,
): readonly Timeline[] {
  const told = events.flatMap(toldBy).toSorted((one, other) => one.at - other.at);
  const { rollout } = status;
  const underWay: HistoryEntry | null = rollout
    ? { ...rollout, finishedAt: '', outcome: status.phase ?? 'Progressing' }
    : null;
  const known = [...(status.history ?? []), ...(underWay ? [underWay] : [])];
  return known
    .map((entry) =>
      timelineOf(
        cluster,
        entry,
        told,
        rollout === undefined || entry !== underWay ? {} : (rollout.takenAt ?? {}),
        nowMilliseconds,
      ),
    )
    .toReversed();
}

function timelineOf(
  { name, replicas }: ClusterRecord,
  entry: HistoryEntry,
  told: readonly Told[],
  takenAt: Readonly<Record<string, string>>,
  nowMilliseconds: number,
): Timeline {
  const stem = statefulSetName(name);
  const startedAt = milliseconds(entry.startedAt) ?? nowMilliseconds;
  const finishedAt = milliseconds(entry.finishedAt);
  const end = finishedAt ?? nowMilliseconds;
  const during = told.filter(({ at }) => at >= startedAt && at <= end);
  const lanes = Array.from({ length: replicas }, (_, ordinal): Lane => {
    const pod = `${stem}-${ordinal}`;
    const taken = during.find(
      (one) => takes.has(one.reason) && (one.pod === pod || one.note.split(/[ ,:]+/).includes(pod)),
    );
    const seconds = entry.memberSeconds?.[String(ordinal)] ?? null;
    return {
      name: pod,
      takenAt: taken?.at ?? milliseconds(takenAt[String(ordinal)] ?? null),
      seconds,
      outOfTurn: entry.updatedOutOfTurn?.includes(ordinal) === true,
    };
  });
  const marks = during.flatMap(({ at, reason, action, note }): readonly Mark[] => {
    if (reason === demoted) return [{ at, kind: 'switchover', title: 'Switchover', note }];
    return action === waiting ? [{ at, kind: 'hold', title: reason, note }] : [];
  });
  return {
    hash: hashOf(entry.revision, stem),
    from: entry.from === undefined ? null : hashOf(entry.from, stem),
    startedAt,
    finishedAt,
    outcome: entry.outcome,
    disruptions: entry.disruptions,
    switchovers: entry.switchovers,
    lanes,
    marks,
    changes: (entry.changes ?? []).map(({ path, from, to }) =>
      from === undefined && to === undefined ? path : `${path}: ${from ?? 'none'} → ${to ?? 'none'}`,
    ),
  };
}

/** One that was repeated happened at its first and at its last time. */
function toldBy(event: Json): readonly Told[] {
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
