import { nameOf } from '../../kube/store.ts';
import type { ClusterView } from '../terminal/view.ts';
import { behind, brief, counted } from '../terminal/words.ts';
import { document, escaped, instant, timeOfDay } from './document.ts';
import type { Lane, Mark, Timeline } from './timeline.ts';

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
  return `<section>
<h2>Now <span class="outcome">${escaped(phase)}</span></h2>
${lines.map(([label, sentence]) => `<p>${escaped(label)}: ${escaped(sentence)}</p>`).join('\n')}
${rows.length === 0 ? '' : `<table><thead><tr><th>Member</th><th>Role</th><th>State</th>${isKnown ? '<th>Behind</th>' : ''}<th>Verdict</th></tr></thead><tbody>${rows.join('')}</tbody></table>`}
</section>
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
