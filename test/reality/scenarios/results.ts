import { spreadOf } from '../../../hack/bench/record/spread.ts';
import type { Table } from '../../../hack/bench/record/table.ts';
import { inSeconds } from './expectations.ts';
import type { Played } from './play.ts';
import { ways } from './way.ts';

/** A row for each rollout that was played. */
export function scenarioTable(all: readonly Played[]): Table {
  return {
    name: 'scenarios',
    title: 'Rollouts of real members under load',
    columns: ['scenario', 'seconds', '÷ limit', 'order', 'write gaps', 'rows written', 'lost', 'verdict'],
    rows: all.map(({ title, seconds, limitSeconds, order, gaps, acknowledged, lost, complaints }) => [
      title,
      seconds.toFixed(0),
      limitSeconds === null ? '' : (seconds / limitSeconds).toFixed(2),
      order.join(' '),
      inSeconds(gaps) || 'none',
      String(acknowledged),
      String(lost),
      complaints.length === 0 ? 'passed' : 'failed',
    ]),
  };
}

/** Healthy rollouts in each way, all runs of a size together. */
export function wayTable(all: readonly Played[]): Table {
  const healthy = all.filter(({ slug }) => /^(healthy|moco|native)-\d+$/.test(slug));
  const sizes = [...new Set(healthy.map(({ members }) => members))].toSorted((one, other) => one - other);
  return {
    name: 'ways',
    title: 'Healthy rollouts under load, by way',
    columns: ['way', 'members', 'runs', 'seconds', 'write gaps', 'rows lost'],
    rows: sizes.flatMap((members) =>
      ways.flatMap(({ slug, title }) => {
        const runs = healthy.filter((one) => one.way === slug && one.members === members);
        if (runs.length === 0) return [];
        const { lowest, median, highest } = spreadOf(runs.map(({ seconds }) => seconds));
        return [
          [
            title,
            String(members),
            String(runs.length),
            runs.length === 1
              ? median.toFixed(0)
              : `${median.toFixed(0)} (${lowest.toFixed(0)} – ${highest.toFixed(0)})`,
            runs.map(({ gaps }) => inSeconds(gaps) || 'none').join('; '),
            String(runs.reduce((sum, { lost }) => sum + lost, 0)),
          ],
        ];
      }),
    ),
  };
}
