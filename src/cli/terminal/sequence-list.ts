import { type Line, line, piece } from './colour.ts';
import type { Told } from './live.ts';
import type { SequenceView, StageView } from './sequence-view.ts';
import { table } from './table.ts';

/** A table with one line for each sequence. */
export function sequenceList(views: readonly SequenceView[], wide: boolean): readonly Line[] {
  return table(
    ['NAME', 'STAGE', 'CLUSTERS', 'UP TO DATE', 'ROLLING', 'FAILING', ...(wide ? ['STAGES'] : []), 'WAITING FOR'],
    views.map((view) => [
      line(view.name, 'bold'),
      line(view.stage ?? '-'),
      line(String(view.clusters)),
      line(String(view.upToDate)),
      line(String(view.rolling), view.rolling === 0 ? 'plain' : 'cyan'),
      line(String(view.failing), view.failing === 0 ? 'plain' : 'red'),
      ...(wide ? [line(view.stages.map(shortly).join(', '))] : []),
      [piece(`${view.phase}: `, view.stalled ? 'red' : view.complete ? 'green' : 'bold'), piece(view.message)],
    ]),
  );
}

const shortly = ({ name, state, upToDate, clusters }: StageView): string => `${name} ${state} ${upToDate}/${clusters}`;

/** A line for each stage, for logs and pipes. */
export function toldOfStages({ name, stages }: SequenceView): readonly Told[] {
  return stages.map(
    ({ name: stage, state, upToDate, clusters, rolling, failing, soakedUntil, stoppedBy, waitsFor }) => {
      const key = `${name}/${stage}`;
      const text = [
        key,
        state,
        `${upToDate}/${clusters} up to date`,
        `${rolling} rolling`,
        `${failing} failing`,
        soakedUntil && `soaked until ${soakedUntil}`,
        waitsFor === null
          ? stoppedBy && `${stoppedBy} is not up to date and healthy`
          : `${waitsFor.rule}: ${waitsFor.message}`,
      ];
      return { key, text: text.filter(Boolean).join('  ') };
    },
  );
}
