import type { HistoryEntry } from '../../api/rollout-progress.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { type Json, milliseconds, object, text } from '../../base/json.ts';
import { counted } from '../../core/sentences.ts';
import { nameOf } from '../../kube/store.ts';
import { revisionHash, statefulSetName } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { hasDifferentMysql, mysqlChange, mysqldText } from '../terminal/cluster-lines.ts';
import { behind, brief, changeInWords } from '../terminal/lines.ts';
import type { ClusterView } from '../terminal/view.ts';
import { document, type Html, html, instant, timeOfDay } from './document.ts';
import { entriesOf, figuresOf } from './figures.ts';

// The HTML page about one cluster: a timeline of each rollout, and its figures.

/** One rollout and its Events. Times are in milliseconds since 1970. */
type Timeline = ReturnType<typeof timelineOf>;

interface Mark {
  readonly at: number;
  readonly kind: 'switchover' | 'hold';
  readonly title: string;
  readonly note: string;
}

/** The reasons of Events about steps that disrupt members. */
const takes: ReadonlySet<string> = new Set(['Evicted', 'Deleted', 'PartitionUpdate']);

/** The rollouts in the status, newest first. Each comes with its Events, as far as they still exist. */
export function timelinesOf(
  cluster: ClusterRecord,
  status: RolloutStatus,
  events: readonly Json[],
  nowMilliseconds: number,
): readonly Timeline[] {
  const reports = events.flatMap(reportsOf).toSorted((one, other) => one.at - other.at);
  return entriesOf(status)
    .map((entry) => timelineOf(cluster, entry, status.rollout?.unavailableMembers ?? [], reports, nowMilliseconds))
    .toReversed();
}

/** `unavailable` contains the members that are unavailable now. */
function timelineOf(
  { name, replicas }: ClusterRecord,
  entry: HistoryEntry,
  unavailable: readonly { readonly ordinal: number; readonly since: string }[],
  reports: ReturnType<typeof reportsOf>,
  nowMilliseconds: number,
) {
  const { memberDurations, updatedOutOfBand, updatedInPlace, mysqldRestarted, changes = [] } = entry;
  const figures = figuresOf(entry, nowMilliseconds);
  const { startedAt, finishedAt } = figures;
  const during = reports.filter(({ at }) => at >= startedAt && at <= (finishedAt ?? nowMilliseconds));
  const laneOf = (ordinal: number) => {
    const member = `${statefulSetName(name)}-${ordinal}`;
    const isOfIt = (one: (typeof reports)[number]): boolean =>
      takes.has(one.reason) && (one.pod === member || one.note.split(/[ ,:]+/).includes(member));
    const since = finishedAt === null ? unavailable.find((one) => one.ordinal === ordinal)?.since : undefined;
    // `null` if nothing shows when the update of the member began.
    const takenAt = during.find(isOfIt)?.at ?? milliseconds(since ?? null);
    // How long the member was unavailable; `null` if it still is, or if the time was not recorded.
    const seconds = memberDurations?.find((one) => one.ordinal === ordinal)?.seconds ?? null;
    const outOfBand = updatedOutOfBand?.includes(ordinal) ? ', another client deleted its pod' : '';
    let fate = `${absence(seconds, takenAt)}${outOfBand}`;
    if (updatedInPlace?.includes(ordinal)) fate = 'updated in place, mysqld kept running';
    if (mysqldRestarted?.includes(ordinal)) fate = 'updated in place, but mysqld restarted anyway';
    return { name: member, takenAt, seconds, fate };
  };
  return {
    ...figures,
    hash: revisionHash(entry.revision, name),
    mysql: mysqlChange(entry),
    from: entry.from === undefined ? null : revisionHash(entry.from, name),
    lanes: Array.from({ length: replicas }, (_, ordinal) => laneOf(ordinal)),
    marks: during.flatMap(({ at, reason, action, note }): readonly Mark[] => {
      if (reason === 'Demoted') return [{ at, kind: 'switchover', title: 'Switchover', note }];
      return action === 'Waiting' ? [{ at, kind: 'hold', title: reason, note }] : [];
    }),
    changes: changes.map((change) => changeInWords(change, '→')),
  };
}

/** The reports in an Event. If the Event was repeated, there is a report for its first and for its last occurrence. */
function reportsOf(event: Json) {
  const { lastObservedTime } = object(event['series']);
  const moments = [event['eventTime'], event['deprecatedFirstTimestamp'], lastObservedTime];
  const { kind, name } = object(event['related']);
  const wordOf = (field: string): string => text(event[field]) ?? '';
  const said = { reason: wordOf('reason'), action: wordOf('action'), note: wordOf('note') };
  return [...new Set(moments.map((moment) => milliseconds(text(moment))))]
    .filter((at) => at !== null)
    .map((at) => ({ at, ...said, pod: kind === 'Pod' ? text(name) : null }));
}

function absence(seconds: number | null, takenAt: number | null): string {
  if (seconds === null) return takenAt === null ? 'not replaced' : `since ${timeOfDay(takenAt)}`;
  return `${brief(seconds)} ${takenAt === null ? '(start unknown)' : `from ${timeOfDay(takenAt)}`}`;
}

export function page(view: ClusterView, timelines: readonly Timeline[], nowMilliseconds: number): string {
  const rollouts =
    timelines.length === 0
      ? html`<p>No rollout has been seen yet.</p>`
      : timelines.map((one) => section(one, nowMilliseconds));
  return document(`Rollouts of ${nameOf(view)}`, html`${present(view)}${rollouts}`, nowMilliseconds, 'narrow');
}

/** A table, or nothing if there are no rows. */
function plainTable(titles: readonly string[], rows: readonly (readonly string[])[]): Html {
  if (rows.length === 0) return html``;
  const heads = titles.map((title) => html`<th>${title}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`);
  return html`<table><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table>`;
}

function present({ phase, hold, members, standing }: ClusterView): Html {
  const isKnown = members.some(({ replication }) => replication !== null);
  const showsMysql = hasDifferentMysql(members);
  const rows = members.map(({ name, role, state, mysqld, replication, says }) => [
    name,
    role,
    state,
    ...(showsMysql ? [mysqldText({ mysqld }, true)] : []),
    ...(isKnown ? [behind(replication)] : []),
    says,
  ]);
  const lines = [...(hold === null ? [] : [['waiting', `${hold.rule}: ${hold.message}`] as const]), ...standing];
  const table = plainTable(
    ['Member', 'Role', 'State', ...(showsMysql ? ['MySQL'] : []), ...(isKnown ? ['Behind'] : []), 'Verdict'],
    rows,
  );
  return html`<div>
<h2>Now <span class="outcome">${phase}</span></h2>
${lines.map(([label, sentence]) => html`<p>${label}: ${sentence}</p>\n`)}${table}
</div>
`;
}

function section(timeline: Timeline, nowMilliseconds: number): Html {
  const { hash, from, startedAt, finishedAt, outcome, lanes, changes, marks, heldFor, avoided } = timeline;
  const took = brief(((finishedAt ?? nowMilliseconds) - startedAt) / 1000);
  const resized = avoided.resized === 0 ? '' : ` (${avoided.resized} resized)`;
  const spared = `avoided ${counted(avoided.restarts, 'restart')} and ${counted(avoided.switchovers, 'switchover')} by updates in place${resized}`;
  const inSeconds = timeline.switchoverSeconds === null ? '' : ` in ${brief(timeline.switchoverSeconds)}`;
  const facts = [
    instant(startedAt),
    `${finishedAt === null ? 'for' : 'took'} ${took}`,
    counted(timeline.disruptions, 'disruption'),
    `${counted(timeline.switchovers, 'switchover')}${inSeconds}`,
    ...(avoided.restarts === 0 ? [] : [spared]),
    ...(timeline.mysql === null ? [] : [`MySQL ${timeline.mysql}`]),
    ...(from === null ? [] : [`from revision ${from}`]),
  ];
  const waits = marks.map(
    ({ at, title, note }) => html`<tr><td>${timeOfDay(at)}</td><td>${title}</td><td>${note}</td></tr>`,
  );
  const details = html`<details><summary>Waits and switchovers (${marks.length})</summary><table>${waits}</table></details>`;
  const absences = lanes.map(({ name, fate }) => [name, fate]);
  const holds = heldFor.map(({ rule, seconds }) => [rule, brief(seconds)]);
  return html`<section>
<h2>Revision ${hash} <span class="outcome ${outcome}">${outcome}</span></h2>
<p class="dim">${facts.join(', ')}</p>
${changes.map((change) => html`<p><code>${change}</code></p>`)}
${drawing(timeline, nowMilliseconds)}
${plainTable(['Member', 'Unavailable'], absences)}
${plainTable(['Hold', 'Held for'], holds)}
${marks.length === 0 ? '' : details}
</section>
`;
}

// Positions are percentages of the time range, and labels are HTML text. So a narrow window shortens the rows but does
// not shrink the letters.

/** Possible intervals between ticks. The first one that needs at most `mostTicks` ticks is used. */
const tickSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const mostTicks = 6;
/** A tick that is closer to the end than this has no label, because the label would not fit. */
const lastTickShare = 0.94;

/** The position of a moment, in percent from the left. */
type Scale = (moment: number) => number;

/**
 * Draws each member as a row, in the order of updates, with the highest ordinal on top. Switchovers are lines, and
 * holds are dots below the rows.
 */
function drawing(timeline: Timeline, nowMilliseconds: number): Html {
  const { lanes, startedAt, finishedAt, hash } = timeline;
  const end = Math.max(finishedAt ?? nowMilliseconds, startedAt + 1000);
  const at: Scale = (moment) => ((Math.min(Math.max(moment, startedAt), end) - startedAt) / (end - startedAt)) * 100;
  return html`<div class="chart" role="group" aria-label="Timeline of revision ${hash}">
<div class="plot">${ticksOf(startedAt, end, at)}</div>
${lanes.toReversed().map((lane) => html`${laneOf(lane, at, end)}\n`)}<div class="dim name">waits</div><div class="waits">${marksOf(timeline, 'hold', at)}</div>
<div class="plot above">${marksOf(timeline, 'switchover', at)}</div>
</div>
<ul class="legend">
<li><span class="sample"><span class="unavailable"></span></span> unavailable</li>
<li><span class="sample"><span class="switchover"></span></span> switchover</li>
<li><span class="sample"><span class="hold"></span></span> wait</li>
</ul>`;
}

const percent = (number: number): string => `${number.toFixed(2)}%`;

function ticksOf(startedAt: number, end: number, at: Scale): readonly Html[] {
  const span = (end - startedAt) / 1000;
  const step = tickSeconds.find((seconds) => span / seconds <= mostTicks) ?? span / mostTicks;
  const moments = Array.from({ length: mostTicks + 1 }, (_, index) => startedAt + index * step * 1000);
  const shown = moments.filter((moment) => moment <= startedAt + (end - startedAt) * lastTickShare);
  return shown.map((moment) => {
    const label = moment === startedAt ? timeOfDay(moment) : `+${brief((moment - startedAt) / 1000)}`;
    return html`<span class="tick" style="left:${percent(at(moment))}"><span class="dim">${label}</span></span>`;
  });
}

function laneOf({ name, takenAt, seconds }: Timeline['lanes'][number], at: Scale, end: number): Html {
  const heading = html`<div class="name">${name}</div>`;
  if (takenAt === null) return html`${heading}<div class="lane"></div>`;
  const left = at(takenAt);
  const width = at(seconds === null ? end : takenAt + seconds * 1000) - left;
  const [label, title] =
    seconds === null
      ? [html`<span class="since">since ${timeOfDay(takenAt)}</span>`, `${name} unavailable since ${instant(takenAt)}`]
      : [html`<span>${brief(seconds)}</span>`, `${name} unavailable from ${instant(takenAt)} for ${brief(seconds)}`];
  const place = `left:${percent(left)};width:${percent(width)}`;
  return html`${heading}<div class="lane"><div class="unavailable" style="${place}" title="${title}">${label}</div></div>`;
}

const marksOf = ({ marks }: Timeline, kind: Mark['kind'], at: Scale): readonly Html[] =>
  marks
    .filter((mark) => mark.kind === kind)
    .map(({ at: moment, title, note }) => {
      const words = `${timeOfDay(moment)} ${title}: ${note}`;
      return html`<span class="${kind}" style="left:${percent(at(moment))}" title="${words}"></span>`;
    });
