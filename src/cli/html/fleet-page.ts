import type { SequenceRecord } from '../../controller/facts/sequence-record.ts';
import { ruleAttributes } from '../../core/rules/catalogue.ts';
import { brief, counted } from '../terminal/lines.ts';
import { document, escaped, instant } from './document.ts';
import {
  type FleetCluster,
  type FleetRollout,
  type HoldCost,
  holdCosts,
  imageCounts,
  notBegun,
  sum,
  together,
} from './figures.ts';

export interface FleetPage {
  /** Such as `all namespaces`. */
  readonly scope: string;
  readonly clusters: readonly FleetCluster[];
  readonly sequences: readonly Pick<SequenceRecord, 'name' | 'status'>[];
  /** Rollouts that ended before are left out. */
  readonly sinceMilliseconds: number;
  readonly nowMilliseconds: number;
}

/** Hides the clusters that do not contain what is searched for. Without it all are shown, and the filters work. */
const search = `const field = document.getElementById('search');
field.oninput = () => {
  for (const row of document.querySelectorAll('.clusters tr')) row.hidden = !row.textContent.toLowerCase().includes(field.value.toLowerCase());
};`;

/**
 * The rollouts of a fleet: what was rolled out, what it cost, which holds, and a row for each cluster. Filters need no
 * script.
 */
export function fleetPage({ scope, clusters, sequences, sinceMilliseconds, nowMilliseconds }: FleetPage): string {
  const costs = holdCosts(clusters);
  const body =
    clusters.length === 0
      ? '<p>There is no MySQLCluster.</p>'
      : `<p class="dim">Rollouts that ended before ${instant(sinceMilliseconds)} are left out. A MySQLRollout keeps its last ten.</p>
${numbersOf(clusters)}
${imagesOf(clusters)}${sequencesOf(sequences)}${holdsOf(costs)}${rowsOf(clusters, nowMilliseconds)}`;
  return document(`Rollouts of ${scope}`, body, nowMilliseconds, 'wide', clusters.length === 0 ? '' : search);
}

const cell = (content: string, name = ''): string => `<td${name === '' ? '' : ` class="${name}"`}>${content}</td>`;
/** A table; the class of each column and its title. On a phone each cell is below the other, with its title. */
function table(
  id: string,
  columns: readonly (readonly [name: string, title: string])[],
  rows: readonly string[],
  caption = '',
): string {
  const heads = columns.map(([name, title]) => `<th scope="col"${name === '' ? '' : ` class="${name}"`}>${title}</th>`);
  const titles = columns.flatMap(([, title], index) =>
    index === 0 || title === ''
      ? []
      : [`.${id} td:nth-child(${index + 1})::before { content: '${title.split(',')[0]}: ' }`],
  );
  return `<style>@media (max-width: 44rem) { ${titles.join(' ')} }</style>
<div class="scroll"><table>${caption && `<caption>${caption}</caption>`}<thead><tr>${heads.join('')}</tr></thead>
<tbody class="${id}">
${rows.join('\n')}
</tbody></table></div>`;
}

function numbersOf(clusters: readonly FleetCluster[]): string {
  const rollouts = clusters.flatMap((one) => one.rollouts);
  const ended = rollouts.filter(({ finishedAt }) => finishedAt !== null);
  const complete = ended.filter(({ outcome }) => outcome === 'Complete').length;
  const unbegun = ended.filter(({ outcome }) => outcome === notBegun).length;
  const timed = rollouts.filter((one) => one.switchovers > 0 && one.switchoverSeconds !== null);
  const switchovers = sum(timed.map((one) => one.switchovers));
  const seconds = sum(timed.map((one) => one.switchoverSeconds ?? 0));
  const single = sum(
    clusters.filter((one) => one.single).flatMap((one) => one.rollouts.map((r) => r.unavailableSeconds)),
  );
  const numbers: readonly (readonly [number: string, what: string])[] = [
    [String(clusters.length), 'clusters'],
    [String(clusters.filter(({ rolling }) => rolling).length), 'with a rollout in progress'],
    [String(clusters.filter(({ stalled }) => stalled).length), 'stalled'],
    [String(complete), 'rollouts complete'],
    [String(ended.length - complete - unbegun), 'superseded'],
    ...(unbegun === 0 ? [] : [[String(unbegun), 'replaced before they began'] as const]),
    [String(sum(rollouts.map(({ disruptions }) => disruptions))), 'disruptions'],
    [
      String(sum(rollouts.map((one) => one.switchovers))),
      switchovers === 0 ? 'switchovers' : `switchovers, ${brief(seconds / switchovers)} each`,
    ],
    ...avoidedIn(rollouts),
    ...(single === 0 ? [] : [[brief(single), 'without a server, in clusters of one'] as const]),
  ];
  return `<ul class="numbers">
${numbers.map(([number, what]) => `<li><b>${number}</b>${what}</li>`).join('\n')}
</ul>
<p class="dim">Writes pause during a switchover. Its time is from the request until another member was the primary: moco-rollout does not talk to MySQL and does not measure writes. A cluster of one member takes none while its member restarts.</p>
`;
}

/** What updates in place have avoided, if anything. */
function avoidedIn(rollouts: readonly FleetRollout[]): readonly (readonly [number: string, what: string])[] {
  const of = (what: keyof FleetRollout['avoided']): number => sum(rollouts.map(({ avoided }) => avoided[what]));
  if (of('restarts') === 0) return [];
  const resized = of('resized');
  return [
    [
      String(of('restarts')),
      `restarts of mysqld avoided in place${resized === 0 ? '' : `, ${resized} of members resized`}`,
    ],
    [String(of('switchovers')), 'switchovers avoided in place'],
  ];
}

/** As far as rollouts have recorded it. */
function imagesOf(clusters: readonly FleetCluster[]): string {
  const counts = imageCounts(clusters);
  if (counts.length === 0) return '';
  const rows = counts.map(
    ({ container, image, clusters: on, next }) =>
      `<tr><th scope="row">${escaped(image)}</th>${cell(escaped(container))}${cell(String(on), 'number')}${cell(orBlank(next, String), 'number')}</tr>`,
  );
  return `<h2>What was rolled out</h2>
<p class="dim">Images of containers that rollouts have changed, as far as they have recorded it.</p>
${table(
  'images',
  [
    ['', 'Image'],
    ['', 'Container'],
    ['number', 'Clusters'],
    ['number', 'Being updated to it'],
  ],
  rows,
)}
`;
}

function sequencesOf(sequences: FleetPage['sequences']): string {
  if (sequences.length === 0) return '';
  const rows = sequences.map(({ name, status }) => {
    const { stage, clusters = 0, upToDateClusters = 0, rollingClusters = 0, failingClusters = 0 } = status;
    return `<tr><th scope="row">${escaped(name)}</th>${cell(stage === undefined ? 'Complete' : escaped(stage))}${cell(`${upToDateClusters}/${clusters}`, 'number')}${cell(String(rollingClusters), 'number')}${cell(String(failingClusters), failingClusters > 0 ? 'number Stalled' : 'number')}</tr>`;
  });
  return `<h2>Sequences</h2>
${table(
  'sequences',
  [
    ['', 'Sequence'],
    ['', 'Stage'],
    ['number', 'Up to date'],
    ['number', 'Rolling'],
    ['number', 'Failing'],
  ],
  rows,
)}
`;
}

function holdsOf(costs: readonly HoldCost[]): string {
  const most = Math.max(1, ...costs.map(({ seconds }) => seconds));
  const rows = costs.map(({ rule, seconds, clusters, longest, now }) => {
    const attributes = ruleAttributes(rule);
    const width = ((seconds / most) * 100).toFixed(1);
    return `<tr><th scope="row">${escaped(rule)}</th>${cell(brief(seconds), 'number')}${cell(`<span class="share"><i style="width:${width}%"></i></span>`)}${cell(String(clusters), 'number')}${cell(brief(longest), 'number')}${cell(String(now), 'number')}${cell(escaped(attributes?.endedBy.join(', ') ?? ''))}${cell(escaped(attributes?.meaning ?? ''), 'dim')}</tr>`;
  });
  const shown =
    rows.length === 0
      ? '<p>No hold has been recorded.</p>'
      : table(
          'holds',
          [
            ['', 'Hold'],
            ['number', 'Held for'],
            ['', ''],
            ['number', 'Clusters'],
            ['number', 'Longest'],
            ['number', 'Now'],
            ['', 'Ended by'],
            ['', 'Meaning'],
          ],
          rows,
        );
  return `<h2>What rollouts waited for</h2>
<p class="dim">The time that each hold took of all rollouts, the most first. Waits of less than ten seconds that belong to every step are left out.</p>
${shown}
`;
}

/** The filters and what they select, by the class of a row. */
const filters: readonly (readonly [name: string, label: string, isIn: (cluster: FleetCluster) => boolean])[] = [
  ['stalled', 'stalled', ({ stalled }) => stalled],
  ['rolling', 'in progress', ({ rolling }) => rolling],
  ['held', 'held', ({ hold }) => hold !== null],
  ['rolled', 'with rollouts', ({ rollouts }) => rollouts.length > 0],
  ['switched', 'with switchovers', ({ rollouts }) => rollouts.some(({ switchovers }) => switchovers > 0)],
];

function rowsOf(clusters: readonly FleetCluster[], now: number): string {
  const from = Math.min(now - 1000, ...clusters.map(({ rollouts }) => rollouts.at(-1)?.startedAt ?? now));
  const choices = filters.map(
    ([name, label, isIn]) =>
      `<label><input type="radio" name="show" id="only-${name}"> ${label} (${clusters.filter(isIn).length})</label>`,
  );
  const rules = filters
    .map(([name]) => `fieldset:has(#only-${name}:checked) ~ .scroll .clusters tr:not(.${name})`)
    .join(', ');
  return `<h2>Clusters</h2>
<style>${rules} { display: none; }</style>
<p><input type="search" id="search" placeholder="Search" aria-label="Search clusters"></p>
<fieldset><legend>Show</legend>
<label><input type="radio" name="show" id="all" checked> all (${clusters.length})</label>
${choices.join('\n')}
</fieldset>
${table(
  'clusters',
  [
    ['', 'Cluster'],
    ['', 'State'],
    ['', 'Newest began'],
    ['number', 'Took'],
    ['when', `When, ${instant(from).slice(0, 16)} to ${instant(now).slice(0, 16)}`],
    ['', 'Waited for'],
    ['number', 'Disruptions'],
    ['number', 'Switchovers'],
    ['number', 'Unavailable'],
  ],
  clusters.map((one) => rowOf(one, from, now)),
  `Those first that are stalled, then those in progress, then by the newest rollout. Numbers are of all rollouts since ${instant(from)}.`,
)}
`;
}

/** The rest are in the page of the cluster. */
const mostShownHolds = 2;

function rowOf(cluster: FleetCluster, from: number, now: number): string {
  const { namespace, name, state, hold, stalled, rollouts, overridden } = cluster;
  const notes = [...(hold === null ? [] : [hold]), ...overridden.map((rule) => `${rule} overridden`)];
  const [newest] = rollouts;
  const held = together(rollouts.flatMap(({ heldFor }) => heldFor));
  const shown = held.slice(0, mostShownHolds).map(({ rule, seconds }) => `${escaped(rule)} ${brief(seconds)}`);
  const more = held.length > shown.length ? [`and ${held.length - shown.length} more`] : [];
  const classes = filters.flatMap(([filter, , isIn]) => (isIn(cluster) ? [filter] : []));
  const cells = [
    `<th scope="row">${escaped(namespace)}/${escaped(name)}</th>`,
    cell(
      `<span${stalled ? ' class="Stalled"' : ''}>${escaped(state)}</span>${notes.map((note) => `<br><span class="dim">${escaped(note)}</span>`).join('')}`,
      'state',
    ),
    cell(newest === undefined ? '' : instant(newest.startedAt).slice(0, 16), 'time'),
    cell(newest === undefined ? '' : brief(((newest.finishedAt ?? now) - newest.startedAt) / 1000), 'number'),
    cell(`<div class="lane">${rollouts.map((one) => barOf(one, from, now)).join('')}</div>`),
    cell([...shown, ...more].join('<br>')),
    cell(orBlank(sum(rollouts.map((one) => one.disruptions)), String), 'number'),
    cell(switchoversOf(rollouts), 'number'),
    cell(orBlank(sum(rollouts.map((one) => one.unavailableSeconds)), brief), 'number'),
  ];
  return `<tr class="${classes.join(' ')}">${cells.join('')}</tr>`;
}

const orBlank = (number: number, text: (number: number) => string): string => (number === 0 ? '' : text(number));

function switchoversOf(rollouts: readonly FleetRollout[]): string {
  const number = sum(rollouts.map(({ switchovers }) => switchovers));
  const isTimed = rollouts.every(({ switchoverSeconds }) => switchoverSeconds !== null);
  const took = isTimed ? ` in ${brief(sum(rollouts.map(({ switchoverSeconds }) => switchoverSeconds ?? 0)))}` : '';
  return orBlank(number, (all) => `${all}${took}`);
}

function barOf(
  { startedAt, finishedAt, outcome, disruptions, switchovers }: FleetRollout,
  from: number,
  now: number,
): string {
  const share = (moment: number): number => ((moment - from) / (now - from)) * 100;
  const end = finishedAt ?? now;
  const took = `${finishedAt === null ? 'for' : 'took'} ${brief((end - startedAt) / 1000)}`;
  const words = `${outcome}, ${instant(startedAt)}, ${took}, ${counted(disruptions, 'disruption')}, ${counted(switchovers, 'switchover')}`;
  const place = `left:${share(startedAt).toFixed(2)}%;width:${(share(end) - share(startedAt)).toFixed(2)}%`;
  return `<div class="rollout ${escaped(outcome)}" style="${place}" title="${escaped(words)}"></div>`;
}
