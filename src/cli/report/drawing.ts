import { brief } from '../durations.ts';
import { escaped } from './escaped.ts';
import { instant, timeOfDay } from './instant.ts';
import type { Lane, Mark, Timeline } from './timeline.ts';

// Places are in percent of the time that is shown, and text is text, so that a narrow window makes the lanes shorter and
// no letter smaller.

/** What stands between two ticks: the first of which no more than `mostTicks` are needed. */
const tickSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const mostTicks = 6;
/** A tick so near to the end would have its text outside. */
const lastTickShare = 0.94;

/** Where a moment is, in percent from the left. */
type Scale = (moment: number) => number;

/** Members as lanes, the highest ordinal on top, as they are taken; switchovers as lines, waits as dots below. */
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
<li><span class="sample"><span class="away"></span></span> away</li>
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
      ? [`<span class="since">since ${timeOfDay(takenAt)}</span>`, `${name} away since ${instant(takenAt)}`]
      : [`<span>${brief(seconds)}</span>`, `${name} away from ${instant(takenAt)} for ${brief(seconds)}`];
  const place = `left:${percent(left)};width:${percent(width)}`;
  return `${heading}<div class="lane"><div class="away" style="${place}" title="${escaped(title)}">${label}</div></div>`;
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
