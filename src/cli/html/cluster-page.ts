import type { HistoryEntry, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import { nameOf } from '../../kube/store.ts';
import { type Json, milliseconds, object, objects, text } from '../../moco/json.ts';
import { revisionHash, statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { behind, brief, changeInWords, counted } from '../terminal/lines.ts';
import type { ClusterView } from '../terminal/view.ts';
import { document, escaped, instant, timeOfDay } from './document.ts';
import { entriesOf, type Figures, figuresOf } from './figures.ts';

/** One member during one rollout. Times are milliseconds since 1970. */
interface Lane {
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
interface Mark {
  readonly at: number;
  readonly kind: 'switchover' | 'hold';
  readonly title: string;
  readonly note: string;
}

interface Timeline extends Figures {
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

/** One cluster as it is now, and its rollouts. */
export function page(view: ClusterView, timelines: readonly Timeline[], nowMilliseconds: number): string {
  const rollouts =
    timelines.length === 0
      ? '<p>No rollout has been seen yet.</p>'
      : timelines.map((one) => section(one, nowMilliseconds)).join('');
  return document(`Rollouts of ${nameOf(view)}`, `${present(view)}${rollouts}`, nowMilliseconds, 'narrow');
}

function present({ phase, hold, members, standing }: ClusterView): string {
  const isKnown = members.some(({ replication }) => replication !== null);
  const rows = members.map(
    ({ name, role, state, replication, says }) =>
      `<tr><td>${escaped(name)}</td><td>${escaped(role)}</td><td>${escaped(state)}</td>${isKnown ? `<td>${behind(replication)}</td>` : ''}<td>${escaped(says)}</td></tr>`,
  );
  const lines = [...(hold === null ? [] : [['waiting', `${hold.rule}: ${hold.message}`] as const]), ...standing];
  return `<div>
<h2>Now <span class="outcome">${escaped(phase)}</span></h2>
${lines.map(([label, sentence]) => `<p>${escaped(label)}: ${escaped(sentence)}</p>`).join('\n')}
${rows.length === 0 ? '' : `<table><thead><tr><th>Member</th><th>Role</th><th>State</th>${isKnown ? '<th>Behind</th>' : ''}<th>Verdict</th></tr></thead><tbody>${rows.join('')}</tbody></table>`}
</div>
`;
}

function section(timeline: Timeline, nowMilliseconds: number): string {
  const { hash, from, startedAt, finishedAt, outcome, disruptions, switchovers, lanes, changes, marks, heldFor } =
    timeline;
  const { switchoverSeconds, avoided } = timeline;
  const took = brief(((finishedAt ?? nowMilliseconds) - startedAt) / 1000);
  const spared =
    avoided.restarts === 0
      ? ''
      : `, avoided ${counted(avoided.restarts, 'restart')} and ${counted(avoided.switchovers, 'switchover')} by updates in place${avoided.resized === 0 ? '' : ` (${avoided.resized} resized)`}`;
  const rows = lanes.map((lane) => `<tr><td>${escaped(lane.name)}</td><td>${escaped(fate(lane))}</td></tr>`).join('');
  const held = heldFor
    .map(({ rule, seconds }) => `<tr><td>${escaped(rule)}</td><td>${brief(seconds)}</td></tr>`)
    .join('');
  const holds = marks
    .map(
      ({ at, title, note }) => `<tr><td>${timeOfDay(at)}</td><td>${escaped(title)}</td><td>${escaped(note)}</td></tr>`,
    )
    .join('');
  return `<section>
<h2>Revision ${escaped(hash)} <span class="outcome ${escaped(outcome)}">${escaped(outcome)}</span></h2>
<p class="dim">${instant(startedAt)}, ${finishedAt === null ? 'for' : 'took'} ${took}, ${counted(disruptions, 'disruption')}, ${counted(switchovers, 'switchover')}${switchoverSeconds === null ? '' : ` in ${brief(switchoverSeconds)}`}${spared}${from === null ? '' : `, before it ${escaped(from)}`}</p>
${changes.map((change) => `<p><code>${escaped(change)}</code></p>`).join('')}
${drawing(timeline, nowMilliseconds)}
<table><thead><tr><th>Member</th><th>Unavailable</th></tr></thead><tbody>${rows}</tbody></table>
${heldFor.length === 0 ? '' : `<table><thead><tr><th>Hold</th><th>Held for</th></tr></thead><tbody>${held}</tbody></table>`}
${holds === '' ? '' : `<details><summary>Waits and switchovers (${marks.length})</summary><table>${holds}</table></details>`}
</section>
`;
}

function fate({ seconds, takenAt, outOfBand, inPlace }: Lane): string {
  if (inPlace === 'mysqldWentOn') return 'updated in place, mysqld went on';
  if (inPlace === 'mysqldRestarted') return 'updated in place, and mysqld restarted all the same';
  return `${unavailable(seconds, takenAt)}${outOfBand ? ', somebody else took its pod' : ''}`;
}

function unavailable(seconds: number | null, takenAt: number | null): string {
  if (seconds === null) return takenAt === null ? 'not taken' : `since ${timeOfDay(takenAt)}`;
  return `${brief(seconds)} ${takenAt === null ? '(start unknown)' : `from ${timeOfDay(takenAt)}`}`;
}

// Positions are percentages of the time shown, and labels are HTML text. So a narrow window shortens the rows and does
// not shrink the letters.

/** Intervals between ticks. The first one that needs at most `mostTicks` ticks is used. */
const tickSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const mostTicks = 6;
/** A tick this close to the end would have its label outside. */
const lastTickShare = 0.94;

/** The position of a moment, in percent from the left. */
type Scale = (moment: number) => number;

/**
 * Members as rows, the highest ordinal on top as in the order of updates; switchovers as lines, waits as dots below.
 */
function drawing(timeline: Timeline, nowMilliseconds: number): string {
  const { lanes, marks, startedAt, finishedAt, hash } = timeline;
  const end = Math.max(finishedAt ?? nowMilliseconds, startedAt + 1000);
  const at: Scale = (moment) => ((Math.min(Math.max(moment, startedAt), end) - startedAt) / (end - startedAt)) * 100;
  return `<div class="chart" role="group" aria-label="Timeline of revision ${escaped(hash)}">
<div class="plot">${ticksOf(startedAt, end, at)}</div>
${lanes
  .toReversed()
  .map((lane) => laneOf(lane, at, end))
  .join('\n')}
<div class="dim name">waits</div><div class="waits">${marksOf(marks, 'hold', at)}</div>
<div class="plot above">${marksOf(marks, 'switchover', at)}</div>
</div>
<ul class="legend">
<li><span class="sample"><span class="unavailable"></span></span> unavailable</li>
<li><span class="sample"><span class="switchover"></span></span> switchover</li>
<li><span class="sample"><span class="hold"></span></span> wait</li>
</ul>`;
}

const percent = (number: number): string => `${number.toFixed(2)}%`;

function ticksOf(startedAt: number, end: number, at: Scale): string {
  const span = (end - startedAt) / 1000;
  const step = tickSeconds.find((seconds) => span / seconds <= mostTicks) ?? span / mostTicks;
  const moments = Array.from({ length: mostTicks + 1 }, (_, index) => startedAt + index * step * 1000);
  const shown = moments.filter((moment) => moment <= startedAt + (end - startedAt) * lastTickShare);
  return shown
    .map((moment) => {
      const label = moment === startedAt ? timeOfDay(moment) : `+${brief((moment - startedAt) / 1000)}`;
      return `<span class="tick" style="left:${percent(at(moment))}"><span class="dim">${escaped(label)}</span></span>`;
    })
    .join('');
}

function laneOf({ name, takenAt, seconds }: Lane, at: Scale, end: number): string {
  const heading = `<div class="name">${escaped(name)}</div>`;
  if (takenAt === null) return `${heading}<div class="lane"></div>`;
  const left = at(takenAt);
  const width = at(seconds === null ? end : takenAt + seconds * 1000) - left;
  const [label, title] =
    seconds === null
      ? [`<span class="since">since ${timeOfDay(takenAt)}</span>`, `${name} unavailable since ${instant(takenAt)}`]
      : [`<span>${brief(seconds)}</span>`, `${name} unavailable from ${instant(takenAt)} for ${brief(seconds)}`];
  const place = `left:${percent(left)};width:${percent(width)}`;
  return `${heading}<div class="lane"><div class="unavailable" style="${place}" title="${escaped(title)}">${label}</div></div>`;
}

function marksOf(marks: readonly Mark[], kind: Mark['kind'], at: Scale): string {
  return marks
    .filter((mark) => mark.kind === kind)
    .map(({ at: moment, title, note }) => {
      const words = `${timeOfDay(moment)} ${title}: ${note}`;
      return `<span class="${kind}" style="left:${percent(at(moment))}" title="${escaped(words)}"></span>`;
    })
    .join('');
}
