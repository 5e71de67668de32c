import { ruleGroups } from '../../core/rules/catalogue.ts';
import type { Cause } from '../../plan/critical-path.ts';
import type { DrawnFleetPlan, ShownCluster, ShownStage } from '../fleet/shown-fleet-plan.ts';
import { type Line, line, piece } from './colour.ts';
import { brief } from './durations.ts';
import { stageBars } from './stage-bars.ts';
import { table } from './table.ts';
import { wrapped } from './wrapped.ts';

/** A plan of a fleet: its stages, a drawing, what makes it long, and what never begins. */
export function fleetPlanLines(plan: DrawnFleetPlan, columns: number, wide: boolean): readonly Line[] {
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

function header({ clusters, from, until, seconds, assumed, assumeStale }: DrawnFleetPlan): Line {
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

function causeLine({ what, seconds, clusters }: Cause): Line {
  const others = clusters > 1 ? ` in ${clusters} clusters, one after another` : '';
  const name = what === 'Updating' ? `members are updated${others}` : what;
  return [piece(`    ${brief(seconds).padStart(7)}  `), piece(name, what === 'Updating' ? 'plain' : 'bold')];
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
const nameOf = ({ namespace, name }: ShownCluster): string => `${namespace}/${name}`;

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
