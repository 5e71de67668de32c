import { createHash } from 'node:crypto';
import { timestampOf } from '../../base/json.ts';

// Builds HTML without a template language: escaping, the frame of a page, and its styles.

/** What HTML may contain: text (which is escaped), other HTML, or a list of these. */
type Part = string | number | Html | readonly Part[];

/** Text that is already HTML, such as a stylesheet of this program. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Builds HTML from a template. Inserted text is escaped, for both elements and attributes. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(textOf)));

const textOf = (part: Part): string => {
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escaped(String(part));
};

/** A self-contained page: it has no fonts, no links, and no script except the given one. */
export function document(
  title: string,
  body: Html,
  nowMilliseconds: number,
  width: 'narrow' | 'wide',
  script = '',
): string {
  const hash = createHash('sha256').update(script).digest('base64');
  const policy = `default-src 'none'; style-src 'unsafe-inline'${script && `; script-src 'sha256-${hash}'`}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body${width === 'wide' ? html` class="wide"` : ''}>
<h1>${title}</h1>
<p class="dim">As of ${instant(nowMilliseconds)}, all times in UTC.</p>
${body}${script && html`\n<script>${new Html(script)}</script>`}
</body>
</html>
`.text;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');

/** A moment in UTC, for example `2026-07-01 12:00:41`. */
export function instant(moment: number): string {
  return timestampOf(moment).slice(0, 19).replace('T', ' ');
}

/** The time of day in UTC, for example `12:00:41`. */
export function timeOfDay(moment: number): string {
  return timestampOf(moment).slice(11, 19);
}

/** The stylesheet of all pages, for light and dark screens and for paper. */
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
.Complete { color: var(--good); } .Failing, .Superseded { color: var(--bad); } .NotBegun { color: var(--dim); }
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
.numbers { display: flex; flex-wrap: wrap; gap: 0.6rem 2.2rem; list-style: none; margin: 1rem 0; padding: 0; }
.numbers li { color: var(--dim); font-size: 0.85rem; } .numbers b { color: var(--ink); display: block; font-size: 1.3rem; font-weight: 600; }
.wide { max-width: none; } .wide > p { max-width: 84rem; } .wide table { width: 100%; } .wide th { font-weight: 500; } .wide thead th { color: var(--dim); vertical-align: bottom; }
.scroll { overflow-wrap: break-word; overflow-x: auto; } caption { color: var(--dim); padding-bottom: 0.3rem; text-align: left; }
.wide td.number, .wide th.number { text-align: right; white-space: nowrap; } .wide td.time { white-space: nowrap; }
.wide th[scope="row"] { min-width: 10rem; } .share { background: var(--lane); border-radius: 3px; display: block; height: 0.7rem; min-width: 6rem; }
.share i { background: var(--hold); border-radius: 3px; display: block; height: 100%; min-width: 2px; }
.state { white-space: nowrap; } .Stalled { color: var(--bad); }
fieldset { border: 0; display: flex; flex-wrap: wrap; font-size: 0.85rem; gap: 0.3rem 1.2rem; margin: 0.6rem 0; padding: 0; }
input[type="search"] { background: var(--paper); border: 1px solid var(--line); border-radius: 3px; color: inherit; font: inherit; max-width: 100%; }
legend { color: var(--dim); float: left; margin-right: 1.2rem; padding: 0; }
:focus-visible { outline: 2px solid var(--hold); outline-offset: 2px; }
.wide .lane, .when { min-width: 8.5rem; } .wide .lane { overflow: hidden; } .rollout { background: var(--hold); border-radius: 3px; bottom: 0; min-width: 3px;
  position: absolute; top: 0; } .rollout.Complete { background: var(--good); } .rollout.Superseded, .rollout.Failing { background: var(--bad); } .rollout.NotBegun { background: var(--line); }
.rollout.Waiting, .rollout.Paused, .rollout.Blocked { background: var(--unavailable); } .sample .rollout { display: block; height: 0.7rem; position: static; width: 1.2rem; }
@media (max-width: 44rem) { .wide thead { display: none; } .wide tr:not([hidden]) { border-bottom: 1px solid var(--line); display: block; padding: 0.4rem 0; }
  .wide td, .wide th, .wide .number, .wide .time { border: 0; display: block; min-width: 0; padding: 0; text-align: left; white-space: normal; }
  .wide td:empty { display: none; } .wide td::before { color: var(--dim); } .wide caption, .wide tbody { display: block; } }
@media print { body { font-size: 11px; margin: 0; max-width: none; } fieldset { display: none; } thead { display: table-header-group; }
  tr, .chart { break-inside: avoid; } .wide .lane, .when { min-width: 6rem; } .scroll { overflow: visible; } .unavailable, .hold, .lane, .rollout, .share, .share i { print-color-adjust: exact; } }
`;
