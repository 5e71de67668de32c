import { brief } from '../terminal/durations.ts';
import { drawing } from './drawing.ts';
import { escaped, instant, timeOfDay } from './text.ts';
import type { Lane, Timeline } from './timeline.ts';

const style = `
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --paper: #ffffff; --line: #d5dae1; --unavailable: #d9822b;
  --switchover: #7a4fd0; --hold: #2774c8; --good: #23834b; --bad: #b42318; --lane: #f2f4f7; --on-unavailable: #1d2430; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --dim: #98a2b3; --paper: #14181f; --line: #303744; --unavailable: #f0a04b;
    --switchover: #b294f5; --hold: #6cb0f5; --good: #59c289; --bad: #f97066; --lane: #1d232d; --on-unavailable: #14181f; }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem;
  overflow-wrap: anywhere; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 0.2rem; } p { margin: 0.2rem 0; } .dim { color: var(--dim); }
.outcome { border: 1px solid; border-radius: 1rem; font-size: 0.8rem; font-weight: 500; margin-left: 0.4rem; padding: 0.1rem 0.6rem; }
.Complete { color: var(--good); } .Failing, .Superseded { color: var(--bad); }
code { background: var(--lane); border-radius: 3px; font-size: 0.85rem; padding: 0.1rem 0.3rem; }
.chart { display: grid; font-size: 0.8rem; gap: 0.45rem 0.9rem; grid-template-columns: fit-content(40%) 1fr; margin: 1rem 0 0.6rem;
  padding-top: 1.7rem; position: relative; }
.plot { bottom: 0; grid-column: 2; left: 0; pointer-events: none; position: absolute; right: 0; top: 0; }
.name { align-self: center; grid-column: 1; } .lane, .waits { align-self: center; grid-column: 2; height: 1.1rem; position: relative; }
.lane { background: var(--lane); border-radius: 3px; } .unavailable { background: var(--unavailable); border-radius: 3px; }
.lane .unavailable { bottom: 0; container-type: inline-size; min-width: 2px; position: absolute; top: 0; }
.unavailable span { color: var(--on-unavailable); line-height: 1.1rem; padding-left: 0.4rem; position: absolute; white-space: nowrap; }
@container (max-width: 4rem) { .unavailable span { display: none; } } @container (max-width: 7rem) { .unavailable .since { display: none; } }
.tick { border-left: 1px solid var(--line); bottom: 1.6rem; position: absolute; top: 0; }
.tick span { left: 0.25rem; line-height: 1; position: absolute; top: 0; white-space: nowrap; }
.switchover { border-left: 2px dashed var(--switchover); } .hold { background: var(--hold); border-radius: 50%; height: 8px; width: 8px; }
.plot .switchover { bottom: 1.6rem; margin-left: -1px; padding-right: 4px; pointer-events: auto; position: absolute; top: 1.2rem; }
.waits .hold { margin-left: -4px; position: absolute; top: calc(50% - 4px); }
.legend { display: flex; flex-wrap: wrap; font-size: 0.8rem; gap: 0 1.4rem; list-style: none; margin: 0 0 1rem; padding: 0; }
.legend li { align-items: center; color: var(--dim); display: flex; gap: 0.4rem; }
.sample { align-items: center; display: flex; height: 0.8rem; } .sample .unavailable { height: 0.7rem; width: 1.2rem; } .sample .switchover { height: 100%; }
table { border-collapse: collapse; font-size: 0.9rem; } details { font-size: 0.9rem; margin-top: 0.8rem; }
td, th { border-bottom: 1px solid var(--line); padding: 0.2rem 0.9rem 0.2rem 0; text-align: left; vertical-align: top; }
details td:nth-child(-n + 2) { white-space: nowrap; }
`;

/** A self-contained page: no script, no font, no link. */
export function page(cluster: string, timelines: readonly Timeline[], nowMilliseconds: number): string {
  const body =
    timelines.length === 0
      ? '<p>No rollout has been seen yet.</p>'
      : timelines.map((one) => section(one, nowMilliseconds)).join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rollouts of ${escaped(cluster)}</title>
<style>${style}</style>
</head>
<body>
<h1>Rollouts of ${escaped(cluster)}</h1>
<p class="dim">As of ${instant(nowMilliseconds)}, all times in UTC.</p>
${body}
</body>
</html>
`;
}

function section(timeline: Timeline, nowMilliseconds: number): string {
  const { hash, from, startedAt, finishedAt, outcome, disruptions, switchovers, lanes, changes, marks } = timeline;
  const took = brief(((finishedAt ?? nowMilliseconds) - startedAt) / 1000);
  const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;
  const rows = lanes.map((lane) => `<tr><td>${escaped(lane.name)}</td><td>${escaped(fate(lane))}</td></tr>`).join('');
  const holds = marks
    .map(
      ({ at, title, note }) => `<tr><td>${timeOfDay(at)}</td><td>${escaped(title)}</td><td>${escaped(note)}</td></tr>`,
    )
    .join('');
  return `<section>
<h2>Revision ${escaped(hash)} <span class="outcome ${escaped(outcome)}">${escaped(outcome)}</span></h2>
<p class="dim">${instant(startedAt)}, ${finishedAt === null ? 'for' : 'took'} ${took}, ${count(disruptions, 'disruption')}, ${count(switchovers, 'switchover')}${from === null ? '' : `, before it ${escaped(from)}`}</p>
${changes.map((change) => `<p><code>${escaped(change)}</code></p>`).join('')}
${drawing(timeline, nowMilliseconds)}
<table><thead><tr><th>Member</th><th>Unavailable</th></tr></thead><tbody>${rows}</tbody></table>
${holds === '' ? '' : `<details><summary>Waits and switchovers (${marks.length})</summary><table>${holds}</table></details>`}
</section>
`;
}

function fate({ seconds, takenAt, outOfBand }: Lane): string {
  return `${unavailable(seconds, takenAt)}${outOfBand ? ', out of band: it restarted by itself' : ''}`;
}

function unavailable(seconds: number | null, takenAt: number | null): string {
  if (seconds === null) return takenAt === null ? 'not taken' : `since ${timeOfDay(takenAt)}`;
  return `${brief(seconds)} ${takenAt === null ? '(start unknown)' : `from ${timeOfDay(takenAt)}`}`;
}
