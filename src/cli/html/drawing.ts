import { brief } from '../terminal/words.ts';
import { escaped, instant, timeOfDay } from './text.ts';
import type { Lane, Mark, Timeline } from './timeline.ts';

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
export function drawing(timeline: Timeline, nowMilliseconds: number): string {
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
