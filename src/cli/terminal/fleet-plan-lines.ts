import { isForOthers } from '../../core/rules/catalogue.ts';
import { nameOf } from '../../kube/store.ts';
import type { Cause, ShownFleetPlan, Span } from '../../plan/fleet-plan.ts';
import { brief, joined, type Line, line, type Piece, piece, table, wrapped } from './lines.ts';

// How `plan --fleet` shows a plan on a terminal.

type ShownCluster = ShownFleetPlan['clusters'][number];

/** The plan of a fleet: its stages, a drawing, what takes longest, and which clusters never begin. */
export function fleetPlanLines(plan: ShownFleetPlan, columns: number, wide: boolean): readonly Line[] {
  const { clusters, stages, causes, assumptions } = plan;
  if (clusters.length === 0) return [header(plan), [], line('  nothing to do: no cluster is stale')];
  const stopped = clusters.filter(({ stopsAt }) => stopsAt !== null);
  const part = (lines: readonly Line[], ...title: readonly Line[]) =>
    lines.length === 0 ? [] : [[], ...title, ...lines];
  const assumed = assumptions.flatMap((sentence) => wrapped([piece('    ')], sentence, columns, 'dim'));
  return [
    header(plan),
    ...part(stageTable(stages)),
    ...part(stageBars(plan.drawing, stages.map(labelOf), columns)),
    ...part(causes.map(causeLine), line('  What takes longest', 'bold')),
    ...part(stopped.length === 0 ? [] : stopTable(stopped, wide), line('  What never ends', 'red')),
    ...part(wide ? clusterTable(clusters) : []),
    ...part(assumed, line('  Assumed', 'dim')),
  ];
}

function header({ clusters, from, until, seconds, assumed, assumeStale }: ShownFleetPlan): Line {
  const ends = clusters.filter((one) => one.ends !== null).length;
  const settings = Object.keys(assumed).length === 0 ? '' : `   assumed: ${JSON.stringify(assumed)}`;
  return [
    piece('fleet', 'bold'),
    piece(`   ${ends} of ${clusters.length} stale clusters end`, ends < clusters.length ? 'red' : 'plain'),
    piece(until === null ? '' : `   from ${from} to ${until}`),
    piece(seconds === null ? '' : `   ${brief(seconds)}`, 'bold'),
    piece(assumeStale ? '   assumed: every cluster is stale' : '', 'yellow'),
    piece(settings, 'yellow'),
  ];
}

const labelOf = ({ sequence, stage }: Pick<ShownCluster, 'sequence' | 'stage'>): string =>
  sequence === null ? 'no sequence' : `${sequence}/${stage}`;

const timesOf = ({ begins, ends, seconds }: Pick<ShownCluster, 'begins' | 'ends' | 'seconds'>): readonly Line[] => [
  line(begins ?? 'never', begins === null ? 'red' : 'plain'),
  line(ends ?? 'never', ends === null ? 'red' : 'plain'),
  line(seconds === null ? '-' : brief(seconds)),
];

function stageTable(stages: ShownFleetPlan['stages']): readonly Line[] {
  return table(
    ['STAGE', 'CLUSTERS', 'BEGINS', 'ENDS', 'TAKES', 'BEFORE IT BEGINS'],
    stages.map((stage) => [
      line(labelOf(stage), 'bold'),
      line(String(stage.clusters)),
      ...timesOf(stage),
      line(stage.waits.map(({ rule, seconds }) => `${rule} ${brief(seconds)}`).join(', ') || '-'),
    ]),
    '  ',
  );
}

function causeLine({ what, seconds, clusters, longest }: Cause): Line {
  const others = clusters > 1 ? ` in ${clusters} clusters, one after another` : '';
  const most = piece(`  ${clusters > 1 ? 'most of it in ' : ''}${longest}`, 'dim');
  const name = what === 'Updating' ? piece(`members are updated${others}`) : piece(what, 'bold');
  return [piece(`    ${brief(seconds).padStart(7)}  `), name, most];
}

/** Clusters that wait for no other cluster come first, because others may wait for them. */
function stopTable(stopped: readonly ShownCluster[], wide: boolean): readonly Line[] {
  const waitsForOthers = ({ stopsAt }: ShownCluster): number => Number(isForOthers(stopsAt?.rule ?? ''));
  const causesFirst = stopped.toSorted((one, other) => waitsForOthers(one) - waitsForOthers(other));
  const groups = Map.groupBy(causesFirst, (one) => (wide ? nameOf(one) : one.stopsAt?.rule));
  const row = (one: ShownCluster, { length }: readonly ShownCluster[]): readonly Line[] => [
    line(String(length)),
    line(nameOf(one), 'bold'),
    [piece(`${one.stopsAt?.rule}: `, 'bold'), piece(one.stopsAt?.sentence ?? '')],
  ];
  return table(
    ['CLUSTERS', 'ONE OF THEM', 'STOPPED BY'],
    [...groups.values()].flatMap((all) => all.slice(0, 1).map((one) => row(one, all))),
    '    ',
  );
}

/** The clusters in the order in which they begin. */
function clusterTable(clusters: readonly ShownCluster[]): readonly Line[] {
  return table(
    ['NAMESPACE', 'NAME', 'STAGE', 'BEGINS', 'ENDS', 'TAKES', 'A MEMBER'],
    clusters
      .toSorted((one, other) => ((one.begins ?? '~') < (other.begins ?? '~') ? -1 : 1))
      .map((one) => [
        line(one.namespace),
        line(one.name, 'bold'),
        line(labelOf(one)),
        ...timesOf(one),
        line(`${brief(one.memberSeconds)}${one.measured ? '' : ' (not measured)'}`),
      ]),
    '  ',
  );
}

type DrawnStage = ShownFleetPlan['drawing']['stages'][number];

/** With fewer columns than this, bars would show nothing useful. */
const fewestColumns = 20;

const waiting = piece('·', 'dim');
const resting = piece('░', 'yellow');
const updating = piece('█', 'cyan');

/** A bar over time for each stage. Empty if the terminal is too narrow, or if there is nothing to draw. */
function stageBars(
  { from, until, stages }: ShownFleetPlan['drawing'],
  labels: readonly string[],
  columns: number,
): readonly Line[] {
  const labelColumns = Math.max(...labels.map(({ length }) => length));
  const heading = (label = ''): Piece => piece(`  ${label.padEnd(labelColumns)}  `);
  const room = columns - heading().text.length;
  if (room < fewestColumns || until <= from) return [];
  const seconds = (until - from) / room;
  const bars = stages.map((stage, index): Line => {
    const signs = Array.from({ length: room }, (_, column) =>
      signAt(stage, from + column * seconds, from + (column + 1) * seconds),
    );
    return [heading(labels[index]), ...joined(signs)];
  });
  const [updates, rests] = [piece(' members are updated   '), piece(' none is   ')];
  return [...bars, [heading(), updating, updates, resting, rests, waiting, piece(' not begun')]];
}

function signAt({ clusters, beginsAt, endsAt }: DrawnStage, from: number, until: number): Piece {
  if (beginsAt === null || until <= beginsAt) return waiting;
  if (endsAt !== null && from >= endsAt) return piece(' ');
  const isUpdating = ({ what, ...span }: Span) => what === 'Updating' && span.from < until && span.until > from;
  return clusters.some(({ spans }) => spans.some(isUpdating)) ? updating : resting;
}
