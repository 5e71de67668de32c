import { isAlarming, isRequestedByUser, isRoutine, ruleAttributes } from '../../core/rules/catalogue.ts';
import { nameOf } from '../../kube/store.ts';
import { brief, type Line, line, piece, table } from './lines.ts';
import type { Told } from './live.ts';
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

/** Only where a rule is overridden. */
const overridden: Column = {
  title: 'OVERRIDDEN',
  cell: (view) => line(view.overridden.map(({ rule }) => rule).join(', '), 'yellow'),
};

const waitingFor: Column = { title: 'WAITING FOR', cell: waitsFor };

const ageOf = (seconds: number | null): string => (seconds === null ? '-' : brief(seconds));

/** A table with one line for each cluster. */
export function overview(views: readonly ClusterView[], show: OverviewColumns): readonly Line[] {
  const columns = [
    ...(show.namespace ? [namespace] : []),
    ...first,
    ...(show.wide ? wideOnly : []),
    ...(views.some((view) => view.overridden.length > 0) ? [overridden] : []),
    waitingFor,
  ];
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

/** The clusters that wait for a rule: those first that need a person, and of these those that have waited longest. */
export function byUrgency(views: readonly ClusterView[]): readonly ClusterView[] {
  return views.toSorted(
    (one, other) =>
      urgencyOf(one) - urgencyOf(other) || waited(other) - waited(one) || (nameOf(one) < nameOf(other) ? -1 : 1),
  );
}

/** Those first that need a person, then those that move, then those that wait, and those last that are up to date. */
export function byActivity(views: readonly ClusterView[]): readonly ClusterView[] {
  const rank = (view: ClusterView): number => {
    if (needsAPerson(view)) return 0;
    if (view.hold !== null && !isRoutine(view.hold.rule)) return 2;
    return view.complete ? 3 : 1;
  };
  return views.toSorted((one, other) => rank(one) - rank(other) || (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** A table of the rules that hold clusters: how many, for how long at most, and who ends that. */
export function holdTable(views: readonly ClusterView[]): readonly Line[] {
  const byRule = Map.groupBy(byUrgency(views), ({ hold }) => hold?.rule ?? '');
  return table(
    ['HOLD', 'CLUSTERS', 'LONGEST', 'ENDED BY'],
    [...byRule].map(([rule, held]) => [
      line(rule, held.some(needsAPerson) ? 'red' : 'bold'),
      line(String(held.length)),
      line(brief(Math.max(...held.map(waited)))),
      line(ruleAttributes(rule)?.endedBy.join(', ') ?? '-'),
    ]),
  );
}

const needsAPerson = ({ hold, stalled }: ClusterView): boolean => stalled || isAlarming(hold?.rule ?? '');

/** 0 for what needs a person now. */
function urgencyOf(view: ClusterView): number {
  const rule = view.hold?.rule ?? '';
  if (needsAPerson(view)) return 0;
  const endedBy = ruleAttributes(rule)?.endedBy ?? [];
  if (endedBy.every((who) => who === 'a person')) return 1;
  return isRequestedByUser(rule) ? 3 : 2;
}

const waited = ({ hold }: ClusterView): number => hold?.forSeconds ?? 0;

/** A cluster on one line, without ages. */
export function toldOfCluster(view: ClusterView): readonly Told[] {
  const { phase, updated, replicas, hold, notes, members } = view;
  const key = nameOf(view);
  const waits = hold === null ? (notes[0] ?? '') : `${hold.rule}: ${hold.message}`;
  const verdicts = members.map(({ ordinal, state, verdict }) => `${ordinal} ${state} ${verdict}`).join(', ');
  const rules = view.overridden.map(({ rule }) => rule).join(', ');
  const overrides = rules === '' ? '' : `overridden: ${rules}`;
  const all = [key, phase, `${updated}/${replicas}`, waits, overrides, verdicts && `(${verdicts})`];
  const text = all.filter(Boolean).join('  ');
  return [{ key, text }];
}
