import type { SequenceRecord } from '../../api/rollout-sequence.ts';
import { ruleAttributes } from '../../core/rules/catalogue.ts';
import { counted } from '../../core/sentences.ts';
import { brief } from '../terminal/lines.ts';
import { document, Html, html, instant } from './document.ts';
import { type FleetCluster, type FleetRollout, holdCosts, imageCounts, notBegun, sum, together } from './figures.ts';

// The HTML page about a fleet: what was rolled out, which holds occurred, and a row for each cluster.

interface FleetPage {
  /** The namespaces that the page covers, for example `all namespaces`. */
  readonly scope: string;
  readonly clusters: readonly FleetCluster[];
  readonly sequences: readonly Pick<SequenceRecord, 'name' | 'status'>[];
  /** Rollouts that ended before this time are left out. */
  readonly sinceMilliseconds: number;
  readonly nowMilliseconds: number;
  /** Whether moco-rollout queries MySQL (feature gate ReplicationFacts); `null` if that is unknown. */
  readonly queriesMysql: boolean | null;
}

/**
 * A script that hides the rows that do not contain the search text. If scripts are disabled, all clusters are shown,
 * and the filters still work.
 */
const search = `const field = document.getElementById('search');
field.oninput = () => {
  for (const row of document.querySelectorAll('.clusters tr')) row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
};`;

/**
 * The page about the rollouts of a fleet: what was rolled out, how long it took, which holds occurred, and a row for
 * each cluster. The filters need no script.
 */
export function fleetPage(page: FleetPage): string {
  const { scope, clusters, sequences, sinceMilliseconds, nowMilliseconds } = page;
  const body =
    clusters.length === 0
      ? html`<p>There is no MySQLCluster.</p>`
      : html`<p class="dim">Rollouts that ended before ${instant(sinceMilliseconds)} are left out. A MySQLRollout keeps its last ten.</p>
${numbersOf(page)}
${imagesPart(clusters)}${sequencesPart(sequences)}${holdsOf(clusters)}${rowsOf(clusters, nowMilliseconds)}`;
  return document(`Rollouts of ${scope}`, body, nowMilliseconds, 'wide', clusters.length === 0 ? '' : search);
}

/**
 * A column of a table: the title, a function that returns the content of a cell, and the CSS class of the cells. The
 * cells of the first column are row headings.
 */
type PageColumn<Row> = readonly [title: string, cell: (row: Row) => Html | string | number, name?: string];

/** On a phone the cells are stacked, each with the title of its column. */
function wideTable<Row>(
  id: string,
  columns: readonly PageColumn<Row>[],
  rows: readonly Row[],
  caption = '',
  classOf?: (row: Row) => string,
): Html {
  const classed = (name = ''): Html | string => name && html` class="${name}"`;
  const heads = columns.map(([title, , name]) => html`<th scope="col"${classed(name)}>${title}</th>`);
  const titles = columns.flatMap(([title], index) =>
    index === 0 || title === ''
      ? []
      : [`.${id} td:nth-child(${index + 1})::before { content: '${title.split(',')[0]}: ' }`],
  );
  const lines = rows.map((row) => {
    const cells = columns.map(([, cell, name], index) =>
      index === 0 ? html`<th scope="row">${cell(row)}</th>` : html`<td${classed(name)}>${cell(row)}</td>`,
    );
    return html`<tr${classOf === undefined ? '' : html` class="${classOf(row)}"`}>${cells}</tr>\n`;
  });
  return html`<style>@media (max-width: 44rem) { ${new Html(titles.join(' '))} }</style>
<div class="scroll"><table>${caption && html`<caption>${caption}</caption>`}<thead><tr>${heads}</tr></thead>
<tbody class="${id}">
${lines}</tbody></table></div>
`;
}

const part = (title: string, about = ''): Html =>
  html`<h2>${title}</h2>\n${about && html`<p class="dim">${about}</p>\n`}`;

function numbersOf({ clusters, queriesMysql }: FleetPage): Html {
  const rollouts = clusters.flatMap((one) => one.rollouts);
  const ended = rollouts.filter(({ finishedAt }) => finishedAt !== null);
  const endedAs = (wanted: string): number => ended.filter(({ outcome }) => outcome === wanted).length;
  const [complete, unbegun] = [endedAs('Complete'), endedAs(notBegun)];
  const timed = rollouts.filter((one) => one.switchovers > 0 && one.switchoverSeconds !== null);
  const switchovers = sum(timed.map((one) => one.switchovers));
  const each = brief(sum(timed.map((one) => one.switchoverSeconds ?? 0)) / Math.max(1, switchovers));
  const ofOne = clusters.filter((one) => one.replicas === 1).flatMap((one) => one.rollouts);
  const single = sum(ofOne.map((one) => one.unavailableSeconds));
  const avoided = (what: keyof FleetRollout['avoided']): number => sum(rollouts.map((one) => one.avoided[what]));
  const [restarts, resized] = [avoided('restarts'), avoided('resized')];
  const alsoResized = resized === 0 ? '' : `, ${resized} of members resized`;
  const numbers: readonly (readonly [number: number | string, what: string, isLeftOut?: boolean])[] = [
    [clusters.length, 'clusters'],
    [clusters.filter(({ rollout }) => rollout !== null).length, 'with a rollout in progress'],
    [clusters.filter(({ stalled }) => stalled).length, 'stalled'],
    [complete, 'rollouts complete'],
    [ended.length - complete - unbegun, 'superseded'],
    [unbegun, 'replaced before they began', unbegun === 0],
    [sum(rollouts.map(({ disruptions }) => disruptions)), 'disruptions'],
    [sum(rollouts.map((one) => one.switchovers)), switchovers === 0 ? 'switchovers' : `switchovers, ${each} each`],
    [restarts, `restarts of mysqld avoided in place${alsoResized}`, restarts === 0],
    [avoided('switchovers'), 'switchovers avoided in place', restarts === 0],
    [brief(single), 'without a server, in clusters of one', single === 0],
  ];
  const shown = numbers.flatMap(([number, what, isLeftOut]) =>
    isLeftOut ? [] : [html`<li><b>${number}</b>${what}</li>\n`],
  );
  return html`<ul class="numbers">
${shown}</ul>
<p class="dim">Writes pause during a switchover. Its time is from the request until another member was the primary${queriesMysql === false ? ': moco-rollout does not talk to MySQL' : ''}; it is not measured for how long writes paused. A cluster of one member takes none while its member restarts.</p>
`;
}

const images: readonly PageColumn<ReturnType<typeof imageCounts>[number]>[] = [
  ['Image', ({ image }) => image],
  ['Container', ({ container }) => container],
  ['Clusters', ({ clusters }) => clusters, 'number'],
  ['Being updated to it', ({ next }) => orBlank(next, String), 'number'],
];

function imagesPart(clusters: readonly FleetCluster[]): Html {
  const counts = imageCounts(clusters);
  if (counts.length === 0) return html``;
  const about = 'Images of containers that rollouts have changed, as far as that was recorded.';
  return html`${part('What was rolled out', about)}${wideTable('images', images, counts)}`;
}

const sequenceColumns: readonly PageColumn<FleetPage['sequences'][number]>[] = [
  ['Sequence', ({ name }) => name],
  ['Stage', ({ status }) => status.stage ?? 'Complete'],
  ['Up to date', ({ status: { upToDateClusters = 0, clusters = 0 } }) => `${upToDateClusters}/${clusters}`, 'number'],
  ['Rolling', ({ status: { rollingClusters = 0 } }) => rollingClusters, 'number'],
  [
    'Failing',
    ({ status: { failingClusters = 0 } }) =>
      failingClusters > 0 ? html`<span class="Stalled">${failingClusters}</span>` : 0,
    'number',
  ],
];

const sequencesPart = (sequences: FleetPage['sequences']): Html =>
  sequences.length === 0 ? html`` : html`${part('Sequences')}${wideTable('sequences', sequenceColumns, sequences)}`;

function holdsOf(clusters: readonly FleetCluster[]): Html {
  const costs = holdCosts(clusters);
  const most = Math.max(1, ...costs.map(({ seconds }) => seconds));
  const share = (seconds: number): string => ((seconds / most) * 100).toFixed(1);
  const columns: readonly PageColumn<(typeof costs)[number]>[] = [
    ['Hold', ({ rule }) => rule],
    ['Held for', ({ seconds }) => brief(seconds), 'number'],
    ['', ({ seconds }) => html`<span class="share"><i style="width:${share(seconds)}%"></i></span>`],
    ['Clusters', (hold) => hold.clusters, 'number'],
    ['Longest', ({ longest }) => brief(longest), 'number'],
    ['Now', ({ now }) => now, 'number'],
    ['Ended by', ({ rule }) => ruleAttributes(rule)?.endedBy.join(', ') ?? ''],
    ['Meaning', ({ rule }) => ruleAttributes(rule)?.meaning ?? '', 'dim'],
  ];
  const about =
    'How long each hold delayed all rollouts, longest first. Holds of less than ten seconds that are part of every step are left out.';
  const shown = costs.length === 0 ? html`<p>No hold has been recorded.</p>\n` : wideTable('holds', columns, costs);
  return html`${part('What rollouts waited for', about)}${shown}`;
}

/** The filters. Each has the CSS class of the rows that it selects, a label, and a condition. */
const filters: readonly (readonly [name: string, label: string, isIn: (cluster: FleetCluster) => boolean])[] = [
  ['stalled', 'stalled', ({ stalled }) => stalled],
  ['rolling', 'in progress', ({ rollout }) => rollout !== null],
  ['held', 'held', ({ hold }) => hold !== null],
  ['rolled', 'with rollouts', ({ rollouts }) => rollouts.length > 0],
  ['switched', 'with switchovers', ({ rollouts }) => rollouts.some(({ switchovers }) => switchovers > 0)],
];

/**
 * The meaning of the colors of bars. Each entry has the CSS class of a sample bar, and the states for which it stands.
 */
const colors: readonly (readonly [sample: string, meaning: string])[] = [
  ['Complete', 'complete'],
  ['Progressing', 'rolling'],
  ['Waiting', 'waiting, paused or blocked'],
  ['Failing', 'failing or superseded'],
];

const legend = html`<ul class="legend">
${colors.map(([sample, meaning]) => html`<li><span class="sample"><i class="rollout ${sample}"></i></span>${meaning}</li>\n`)}</ul>`;

function rowsOf(clusters: readonly FleetCluster[], now: number): Html {
  const from = Math.min(now - 1000, ...clusters.map(({ rollouts }) => rollouts.at(-1)?.startedAt ?? now));
  const choices = filters.map(
    ([name, label, isIn]) =>
      html`<label><input type="radio" name="show" id="only-${name}"> ${label} (${clusters.filter(isIn).length})</label>\n`,
  );
  const rules = filters
    .map(([name]) => `fieldset:has(#only-${name}:checked) ~ .scroll .clusters tr:not(.${name})`)
    .join(', ');
  return html`${part('Clusters')}<style>${new Html(rules)} { display: none; }</style>
<p><input type="search" id="search" placeholder="Search" aria-label="Search clusters"></p>
<fieldset><legend>Show</legend>
<label><input type="radio" name="show" id="all" checked> all (${clusters.length})</label>
${choices}</fieldset>
${legend}
${wideTable(
  'clusters',
  clusterColumns(from, now),
  clusters,
  `Stalled clusters come first, then those in progress, then the others by their newest rollout. Numbers cover all rollouts since ${instant(from)}.`,
  (cluster) => filters.flatMap(([filter, , isIn]) => (isIn(cluster) ? [filter] : [])).join(' '),
)}`;
}

const clusterColumns = (from: number, now: number): readonly PageColumn<FleetCluster>[] => [
  ['Cluster', ({ namespace, name }) => `${namespace}/${name}`],
  ['State', rowState, 'state'],
  ['Newest began', ({ rollouts: [newest] }) => (newest ? instant(newest.startedAt).slice(0, 16) : ''), 'time'],
  [
    'Took',
    ({ rollouts: [newest] }) => (newest ? brief(((newest.finishedAt ?? now) - newest.startedAt) / 1000) : ''),
    'number',
  ],
  [
    `When, ${instant(from).slice(0, 16)} to ${instant(now).slice(0, 16)}`,
    ({ rollouts }) => html`<div class="lane">${rollouts.map((one) => barOf(one, from, now))}</div>`,
    'when',
  ],
  ['Waited for', waitedFor],
  ['Disruptions', ({ rollouts }) => orBlank(sum(rollouts.map((one) => one.disruptions)), String), 'number'],
  ['Switchovers', ({ rollouts }) => switchoversOf(rollouts), 'number'],
  ['Unavailable', ({ rollouts }) => orBlank(sum(rollouts.map((one) => one.unavailableSeconds)), brief), 'number'],
];

function rowState({ phase, hold, stalled, overridden }: FleetCluster): Html {
  const notes = [...(hold === null ? [] : [hold.rule]), ...overridden.map(({ rule }) => `${rule} overridden`)];
  const shown = notes.map((note) => html`<br><span class="dim">${note}</span>`);
  return html`<span class="${stalled ? 'Stalled' : phase}">${stalled ? 'Stalled' : phase}</span>${shown}`;
}

/** How many holds are shown for each cluster. The cluster's own page shows the rest. */
const mostShownHolds = 2;

function waitedFor({ rollouts }: FleetCluster): Html {
  const held = together(rollouts.flatMap(({ heldFor }) => heldFor));
  const shown = held.slice(0, mostShownHolds).map(({ rule, seconds }) => `${rule} ${brief(seconds)}`);
  const more = held.length > shown.length ? [`and ${held.length - shown.length} more`] : [];
  return html`${[...shown, ...more].map((one, index) => html`${index === 0 ? '' : html`<br>`}${one}`)}`;
}

const orBlank = (number: number, text: (number: number) => string): string => (number === 0 ? '' : text(number));

function switchoversOf(rollouts: readonly FleetRollout[]): string {
  const times = rollouts.map(({ switchoverSeconds }) => switchoverSeconds);
  const took = times.includes(null) ? '' : ` in ${brief(sum(times.map((seconds) => seconds ?? 0)))}`;
  return orBlank(sum(rollouts.map(({ switchovers }) => switchovers)), (all) => `${all}${took}`);
}

function barOf(
  { startedAt, finishedAt, outcome, disruptions, switchovers }: FleetRollout,
  from: number,
  now: number,
): Html {
  const share = (moment: number): number => ((moment - from) / (now - from)) * 100;
  const end = finishedAt ?? now;
  const took = `${finishedAt === null ? 'for' : 'took'} ${brief((end - startedAt) / 1000)}`;
  const words = `${outcome}, ${instant(startedAt)}, ${took}, ${counted(disruptions, 'disruption')}, ${counted(switchovers, 'switchover')}`;
  // The bar of a rollout that has just begun must stay visible at the end of the row.
  const place = `left:min(${share(startedAt).toFixed(2)}%,100% - 3px);width:${(share(end) - share(startedAt)).toFixed(2)}%`;
  return html`<div class="rollout ${outcome}" style="${place}" title="${words}"></div>`;
}
