import { timestampOf } from '../../moco/timestamp.ts';
import { brief } from '../durations.ts';
import { escaped } from './escaped.ts';
import type { Lane, Mark, Timeline } from './timeline.ts';

const width = 960;
const labelWidth = 150;
const rightMargin = 20;
const laneHeight = 26;
const barHeight = 14;
const topMargin = 24;
const ticks = 5;
const narrowestBar = 2;

/** Members as lanes, the highest ordinal on top, as they are taken; switchovers as lines, waits as dots below. */
export function drawing(timeline: Timeline, nowMilliseconds: number): string {
  const { lanes, marks, startedAt, finishedAt, hash } = timeline;
  const end = Math.max(finishedAt ?? nowMilliseconds, startedAt + 1000);
  const at = (moment: number): number =>
    labelWidth +
    ((Math.min(Math.max(moment, startedAt), end) - startedAt) / (end - startedAt)) * (width - labelWidth - rightMargin);
  const rows = lanes.toReversed();
  const bottom = topMargin + rows.length * laneHeight;
  const height = bottom + laneHeight + 20;
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Timeline of revision ${escaped(hash)}">
${Array.from({ length: ticks + 1 }, (_, index) => tick(startedAt + ((end - startedAt) * index) / ticks, at, bottom, startedAt)).join('')}
${rows.map((lane, index) => laneOf(lane, topMargin + index * laneHeight, at, end)).join('')}
<text class="dim" x="0" y="${bottom + 17}">waits</text>
${marks.map((mark) => markOf(mark, at, bottom)).join('')}
</svg>`;
}

type Scale = (moment: number) => number;

const fixed = (number: number): string => number.toFixed(1);

function tick(moment: number, at: Scale, bottom: number, startedAt: number): string {
  const x = fixed(at(moment));
  const label = moment === startedAt ? timestampOf(moment).slice(11, 19) : `+${brief((moment - startedAt) / 1000)}`;
  return `<line class="axis" x1="${x}" x2="${x}" y1="${topMargin - 6}" y2="${bottom}"/><text class="dim" x="${x}" y="12" text-anchor="middle">${escaped(label)}</text>`;
}

function laneOf({ name, takenAt, seconds }: Lane, top: number, at: Scale, end: number): string {
  const middle = top + laneHeight / 2;
  const lane = `<rect class="lane" x="${labelWidth}" y="${middle - barHeight / 2}" width="${width - labelWidth - rightMargin}" height="${barHeight}" rx="3"/>`;
  const label = `<text x="0" y="${middle + 4}">${escaped(name)}</text>`;
  if (takenAt === null) return `${label}${lane}`;
  const until = seconds === null ? end : takenAt + seconds * 1000;
  const [left, right] = [at(takenAt), at(until)];
  const title = `${name} away for ${seconds === null ? 'all the time since' : brief(seconds)}`;
  return `${label}${lane}<rect class="away" x="${fixed(left)}" y="${middle - barHeight / 2}" width="${fixed(Math.max(narrowestBar, right - left))}" height="${barHeight}" rx="3"><title>${escaped(title)}</title></rect>`;
}

function markOf({ at: moment, kind, title, note }: Mark, at: Scale, bottom: number): string {
  const x = fixed(at(moment));
  const words = `<title>${escaped(`${title}: ${note}`)}</title>`;
  return kind === 'switchover'
    ? `<line class="switchover" stroke-width="2" stroke-dasharray="4 3" x1="${x}" x2="${x}" y1="${topMargin - 6}" y2="${bottom}">${words}</line>`
    : `<circle class="hold" cx="${x}" cy="${bottom + 13}" r="4">${words}</circle>`;
}
