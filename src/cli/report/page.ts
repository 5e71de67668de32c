import { timestampOf } from '../../moco/timestamp.ts';
import { brief } from '../durations.ts';
import { drawing } from './drawing.ts';
import { escaped } from './escaped.ts';
import type { Lane, Timeline } from './timeline.ts';

const style = `
:root { color-scheme: light dark; --ink: #1d2430; --dim: #667085; --paper: #ffffff; --line: #d5dae1; --away: #d9822b;
  --switchover: #7a4fd0; --hold: #2774c8; --good: #23834b; --bad: #b42318; --lane: #f2f4f7; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --dim: #98a2b3; --paper: #14181f; --line: #303744; --away: #f0a04b;
    --switchover: #b294f5; --hold: #6cb0f5; --good: #59c289; --bad: #f97066; --lane: #1d232d; }
}
body { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2.5rem 0 0.2rem; } p { margin: 0.2rem 0; } .dim { color: var(--dim); }
.Complete { color: var(--good); } .Failing, .Superseded { color: var(--bad); }
svg { display: block; height: auto; margin: 0.8rem 0; width: 100%; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .dim { fill: var(--dim); } svg .lane { fill: var(--lane); } svg .away { fill: var(--away); } svg .axis { stroke: var(--line); }
svg .switchover { stroke: var(--switchover); } svg .hold { fill: var(--hold); }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid var(--line); padding: 0.15rem 0.9rem 0.15rem 0; text-align: left; }
`;

/** One page that needs nothing else: no script, no font, no address. */
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
<p class="dim">As of ${escaped(timestampOf(nowMilliseconds))}, all times in UTC.</p>
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
      ({ at, title, note }) =>
        `<tr><td>${escaped(timestampOf(at).slice(11, 19))}</td><td>${escaped(title)}</td><td>${escaped(note)}</td></tr>`,
    )
    .join('');
  return `<section>
<h2>Revision ${escaped(hash)} <span class="${escaped(outcome)}">${escaped(outcome)}</span></h2>
<p class="dim">${escaped(timestampOf(startedAt))}, ${finishedAt === null ? 'for' : 'took'} ${took}, ${count(disruptions, 'disruption')}, ${count(switchovers, 'switchover')}${from === null ? '' : `, before it ${escaped(from)}`}</p>
${changes.map((change) => `<p><code>${escaped(change)}</code></p>`).join('')}
${drawing(timeline, nowMilliseconds)}
<table><thead><tr><th>Member</th><th>Away</th></tr></thead><tbody>${rows}</tbody></table>
${holds === '' ? '' : `<details><summary>${count(marks.length, 'wait')} and switchovers</summary><table>${holds}</table></details>`}
</section>
`;
}

function fate({ seconds, takenAt, outOfTurn }: Lane): string {
  const away = seconds === null ? (takenAt === null ? 'not taken' : 'still away') : brief(seconds);
  const when =
    takenAt === null
      ? seconds === null
        ? ''
        : ' (when is not kept any more)'
      : ` from ${timestampOf(takenAt).slice(11, 19)}`;
  return `${away}${when}${outOfTurn ? ', out of turn: it restarted by itself' : ''}`;
}
