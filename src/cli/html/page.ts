import { brief } from '../terminal/words.ts';
import { document } from './document.ts';
import { drawing } from './drawing.ts';
import { escaped, instant, timeOfDay } from './text.ts';
import type { Lane, Timeline } from './timeline.ts';

/** The rollouts of one cluster. */
export function page(cluster: string, timelines: readonly Timeline[], nowMilliseconds: number): string {
  const body =
    timelines.length === 0
      ? '<p>No rollout has been seen yet.</p>'
      : timelines.map((one) => section(one, nowMilliseconds)).join('');
  return document(`Rollouts of ${cluster}`, body, nowMilliseconds, 'narrow');
}

function section(timeline: Timeline, nowMilliseconds: number): string {
  const { hash, from, startedAt, finishedAt, outcome, disruptions, switchovers, lanes, changes, marks, heldFor } =
    timeline;
  const { switchoverSeconds, avoided } = timeline;
  const took = brief(((finishedAt ?? nowMilliseconds) - startedAt) / 1000);
  const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;
  const spared =
    avoided.restarts === 0
      ? ''
      : `, avoided ${count(avoided.restarts, 'restart')} and ${count(avoided.switchovers, 'switchover')} by updates in place${avoided.resized === 0 ? '' : ` (${avoided.resized} resized)`}`;
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
<p class="dim">${instant(startedAt)}, ${finishedAt === null ? 'for' : 'took'} ${took}, ${count(disruptions, 'disruption')}, ${count(switchovers, 'switchover')}${switchoverSeconds === null ? '' : ` in ${brief(switchoverSeconds)}`}${spared}${from === null ? '' : `, before it ${escaped(from)}`}</p>
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
