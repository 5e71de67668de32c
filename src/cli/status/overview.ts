import { brief } from '../durations.ts';
import { type Line, line, piece } from '../painted.ts';
import { table } from '../table.ts';
import type { StatusView } from './view.ts';

/** One line a cluster. */
export function overview(views: readonly StatusView[], withNamespace: boolean): readonly Line[] {
  const titles = ['NAME', 'PHASE', 'STRATEGY', 'UPDATED', 'PRIMARY', 'REVISION', 'WAITING FOR'];
  const rows = views.map((view): readonly Line[] => [
    ...(withNamespace ? [line(view.namespace)] : []),
    line(view.name, 'bold'),
    line(view.phase, view.stalled ? 'red' : view.complete ? 'green' : 'cyan'),
    line(view.strategy ?? '-'),
    line(`${view.updated}/${view.replicas}`),
    line(view.primary ?? '-'),
    line(view.updateRevision ?? '-'),
    waitsFor(view),
  ]);
  return table(withNamespace ? ['NAMESPACE', ...titles] : titles, rows);
}

function waitsFor({ hold, notes }: StatusView): Line {
  if (hold === null) return line(notes[0] ?? '', 'yellow');
  const age = hold.forSeconds === null ? '' : `, for ${brief(hold.forSeconds)}`;
  return [piece(`${hold.rule}: `, 'bold'), piece(hold.message), piece(age, 'dim')];
}
