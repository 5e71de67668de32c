import { ruleGroups } from '../../core/rules/catalogue.ts';
import { nameOf } from '../../kube/store.ts';
import type { Cause, PlannedStage } from '../../plan/fleet-plan.ts';
import { brief, joined, type Line, line, type Piece, piece, table, wrapped } from './lines.ts';
import type { ShownCluster, ShownFleetPlan, ShownStage } from './shown-fleet-plan.ts';

/** A plan of a fleet: its stages, a drawing, what makes it long, and what never begins. */
export function fleetPlanLines(plan: ShownFleetPlan, columns: number, wide: boolean): readonly Line[] {
  const { clusters, stages, causes, assumptions } = plan;
  if (clusters.length === 0) return [header(plan), [], line('  nothing to do: no cluster is stale')];
  const stopped = clusters.filter(({ stopsAt }) => stopsAt !== null);
  return [
    header(plan),
    [],
    ...stageTable(stages),
    ...under(stageBars(plan.drawing, stages.map(labelOf), columns)),
    ...under(causes.length === 0 ? [] : [line('  What makes it long', 'bold'), ...causes.map(causeLine)]),
    ...under(stopped.length === 0 ? [] : [line('  What never ends', 'red'), ...stopTable(stopped, wide)]),
    ...under(wide ? clusterTable(clusters) : []),
    ...under([
      line('  Assumed', 'dim'),
      ...assumptions.flatMap((sentence) => wrapped([piece('    ')], sentence, columns, 'dim')),
    ]),
  ];
}

const under = (lines: readonly Line[]): readonly Line[] => (lines.length === 0 ? [] : [[], ...lines]);

function header({ clusters, from, until, seconds, assumed, assumeStale }: ShownFleetPlan): Line {
  const ends = clusters.filter((one) => one.ends !== null).length;
  const settings = Object.keys(assumed).length === 0 ? '' : `   assumed: ${JSON.stringify(assumed)}`;
  return [
    piece('fleet', 'bold'),
    piece(`   ${ends} of ${clusters.length} stale clusters end`, ends < clusters.length ? 'red' : 'plain'),
    piece(until === null ? '' : `   from ${from} to ${until}`),
    piece(seconds === null ? '' : `   ${brief(seconds)}`, 'bold'),
    piece(assumeStale ? '   assumed: every one is stale' : '', 'yellow'),
    piece(settings, 'yellow'),
  ];
}

const labelOf = ({ sequence, stage }: Pick<ShownStage, 'sequence' | 'stage'>): string =>
  sequence === null ? 'no sequence' : `${sequence}/${stage}`;

function stageTable(stages: readonly ShownStage[]): readonly Line[] {
  return table(
    ['STAGE', 'CLUSTERS', 'BEGINS', 'ENDS', 'TAKES', 'BEFORE IT BEGINS'],
    stages.map((stage) => [
      line(labelOf(stage), 'bold'),
      line(String(stage.clusters)),
      line(stage.begins ?? 'never', stage.begins === null ? 'red' : 'plain'),
      line(stage.ends ?? 'never', stage.ends === null ? 'red' : 'plain'),
      line(stage.seconds === null ? '-' : brief(stage.seconds)),
      line(stage.waits.map(({ rule, seconds }) => `${rule} ${brief(seconds)}`).join(', ') || '-'),
    ]),
    '  ',
  );
}

function causeLine({ what, seconds, clusters, longest }: Cause): Line {
  const others = clusters > 1 ? ` in ${clusters} clusters, one after another` : '';
  const most: Line = [piece(`  ${clusters > 1 ? 'most of it in ' : ''}${longest}`, 'dim')];
  const name = what === 'Updating' ? `members are updated${others}` : what;
  return [piece(`    ${brief(seconds).padStart(7)}  `), piece(name, what === 'Updating' ? 'plain' : 'bold'), ...most];
}

/** Those that nothing else keeps come first: others may wait for them. */
function stopTable(stopped: readonly ShownCluster[], wide: boolean): readonly Line[] {
  const causesFirst = stopped.toSorted((one, other) => Number(waitsForOthers(one)) - Number(waitsForOthers(other)));
  const groups = [...Map.groupBy(causesFirst, (one) => (wide ? nameOf(one) : (one.stopsAt?.rule ?? '')))];
  return table(
    ['CLUSTERS', 'ONE OF THEM', 'STOPPED BY'],
    groups.flatMap(([, [one, ...others]]) =>
      one === undefined
        ? []
        : [
            [
              line(String(others.length + 1)),
              line(nameOf(one), 'bold'),
              [piece(`${one.stopsAt?.rule}: `, 'bold'), piece(one.stopsAt?.sentence ?? '')],
            ],
          ],
    ),
    '    ',
  );
}

const waitsForOthers = ({ stopsAt }: ShownCluster): boolean => stopsAt !== null && stopsAt.rule in ruleGroups.fleet;

/** In the order in which they begin. */
function clusterTable(clusters: readonly ShownCluster[]): readonly Line[] {
  const inOrder = clusters.toSorted((one, other) => ((one.begins ?? '~') < (other.begins ?? '~') ? -1 : 1));
  return table(
    ['NAMESPACE', 'NAME', 'STAGE', 'BEGINS', 'ENDS', 'TAKES', 'A MEMBER'],
    inOrder.map((one) => [
      line(one.namespace),
      line(one.name, 'bold'),
      line(labelOf(one)),
      line(one.begins ?? 'never', one.begins === null ? 'red' : 'plain'),
      line(one.ends ?? 'never', one.ends === null ? 'red' : 'plain'),
      line(one.seconds === null ? '-' : brief(one.seconds)),
      line(`${brief(one.memberSeconds)}${one.measured ? '' : ' (not measured)'}`),
    ]),
    '  ',
  );
}

/** Bars over fewer columns than this tell nothing. */
const fewestColumns = 20;
const indent = '  ';
const gap = '  ';

const waiting = piece('·', 'dim');
const resting = piece('░', 'yellow');
const updating = piece('█', 'cyan');
const over = piece(' ');

interface Drawing {
  readonly from: number;
  readonly until: number;
  readonly stages: readonly PlannedStage[];
}

/** A bar over time for each stage. Nothing where a terminal is too narrow, or where there is nothing to draw. */
export function stageBars(
  { from, until, stages }: Drawing,
  labels: readonly string[],
  columns: number,
): readonly Line[] {
  const labelColumns = Math.max(...labels.map(({ length }) => length));
  const room = columns - indent.length - labelColumns - gap.length;
  if (room < fewestColumns || until <= from) return [];
  const seconds = (until - from) / room;
  const bars = stages.map((stage, index): Line => {
    const signs = Array.from({ length: room }, (_, column) =>
      signAt(stage, from + column * seconds, from + (column + 1) * seconds),
    );
    return [piece(`${indent}${(labels[index] ?? '').padEnd(labelColumns)}${gap}`), ...joined(signs)];
  });
  const legend = [
    updating,
    piece(' members are updated   '),
    resting,
    piece(' none is   '),
    waiting,
    piece(' not begun'),
  ];
  return [...bars, [piece(`${indent}${' '.repeat(labelColumns)}${gap}`), ...legend]];
}

function signAt({ clusters, beginsAt, endsAt }: PlannedStage, from: number, until: number): Piece {
  if (beginsAt === null || until <= beginsAt) return waiting;
  if (endsAt !== null && from >= endsAt) return over;
  const isUpdating = clusters.some(({ spans }) =>
    spans.some((span) => span.what === 'Updating' && span.from < until && span.until > from),
  );
  return isUpdating ? updating : resting;
}
