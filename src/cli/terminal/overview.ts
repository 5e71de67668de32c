import { type Line, line, piece } from './colour.ts';
import { brief } from './durations.ts';
import { table } from './table.ts';
import type { ClusterView } from './view.ts';

export interface OverviewColumns {
  readonly namespace: boolean;
  /** Whether `-o wide` was given. */
  readonly wide: boolean;
}

interface Column {
  readonly title: string;
  readonly cell: (view: ClusterView) => Line;
}

const namespace: Column = { title: 'NAMESPACE', cell: (view) => line(view.namespace) };

const first: readonly Column[] = [
  { title: 'NAME', cell: ({ name }) => line(name, 'bold') },
  {
    title: 'PHASE',
    cell: ({ phase, stalled, complete }) => line(phase, stalled ? 'red' : complete ? 'green' : 'cyan'),
  },
  { title: 'STRATEGY', cell: ({ strategy }) => line(strategy ?? '-') },
  { title: 'UPDATED', cell: ({ updated, replicas }) => line(`${updated}/${replicas}`) },
  { title: 'PRIMARY', cell: ({ primary }) => line(primary ?? '-') },
  { title: 'REVISION', cell: ({ updateRevision }) => line(updateRevision ?? '-') },
];

const wideOnly: readonly Column[] = [
  { title: 'CURRENT', cell: ({ currentRevision }) => line(currentRevision ?? '-') },
  { title: 'READY', cell: ({ ready, replicas }) => line(`${ready}/${replicas}`) },
  { title: 'PARTICIPATING', cell: ({ participating, replicas }) => line(`${participating}/${replicas}`) },
  { title: 'ROLLOUT AGE', cell: ({ rollout }) => line(ageOf(rollout?.forSeconds ?? null)) },
];

const waitingFor: Column = { title: 'WAITING FOR', cell: waitsFor };

const ageOf = (seconds: number | null): string => (seconds === null ? '-' : brief(seconds));

/** A table with one line for each cluster. */
export function overview(views: readonly ClusterView[], show: OverviewColumns): readonly Line[] {
  const columns = [...(show.namespace ? [namespace] : []), ...first, ...(show.wide ? wideOnly : []), waitingFor];
  return table(
    columns.map(({ title }) => title),
    views.map((view) => columns.map(({ cell }) => cell(view))),
  );
}

function waitsFor({ hold, notes }: ClusterView): Line {
  if (hold === null) return line(notes[0] ?? '', 'yellow');
  const age = hold.forSeconds === null ? '' : `, for ${brief(hold.forSeconds)}`;
  return [piece(`${hold.rule}: `, 'bold'), piece(hold.message), piece(age, 'dim')];
}
