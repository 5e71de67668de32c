import type { Day } from './day.ts';
import type { RestartsOfCluster } from './figures.ts';

const columns: readonly (readonly [title: string, value: (day: Day) => string | number])[] = [
  ['way', ({ way }) => way],
  ['rollouts', ({ rollouts }) => rollouts],
  ['backups', ({ backups }) => backups],
  ['restarts', ({ restarts }) => restarts],
  ['of them by drains', ({ drained }) => drained],
  ['second restarts', ({ second }) => second],
  ['of them placed again', ({ placed }) => placed],
  ['of three, nodes and rollout at once', ({ ofThree }) => mean(ofThree.map(({ restarts }) => restarts)).toFixed(1)],
  ['switchovers planned', ({ planned }) => planned],
  ['unplanned', ({ unplanned }) => unplanned],
  ['of them hindered', ({ hindered }) => hindered],
  ['needless', ({ needless }) => needless],
  ['drains', ({ drains }) => drains],
  ['over their timeout', ({ overTimeout }) => overTimeout],
  ['longest drain', ({ longestDrainSeconds }) => `${longestDrainSeconds.toFixed(0)} s`],
  ['without a primary', ({ secondsWithoutPrimary }) => `${secondsWithoutPrimary.toFixed(0)} s`],
  ['violations', ({ violations }) => violations.length],
];

const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / Math.max(1, all.length);

/** A table in Markdown, a row for each day. */
export function tableOf(days: readonly Day[]): string {
  const row = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(columns.map(([title]) => title)),
    row(columns.map(() => '---')),
    ...days.map((day) => row(columns.map(([, value]) => value(day)))),
  ].join('\n');
}

/** The nodes and the image of a cluster of three change at once: one restart of each member. */
const isTooOften = ({ restarts, placed }: RestartsOfCluster): boolean => restarts - placed > 3;

/** A sentence for each failure. */
export function wrongWith(day: Day): readonly string[] {
  const { way, violations, stuck, overTimeout, unplanned, hindered, needless, drains, drainsWanted, ofThree } = day;
  const evacuates = way.startsWith('Evacuate');
  const avoidable = day.second - day.placed;
  return [
    ...violations.map(({ law, text, atMilliseconds }) => `${law}: ${text}, at ${(atMilliseconds / 1000).toFixed(0)} s`),
    ...stuck.map((namespace) => `the rollout in ${namespace} has not ended`),
    ...(evacuates && overTimeout > 0 ? [`${overTimeout} drains exceeded their timeout`] : []),
    ...(evacuates && unplanned > hindered
      ? [`${unplanned - hindered} switchovers were neither planned nor hindered`]
      : []),
    ...(needless > 0 ? [`${needless} switchovers away from updated primaries on nodes that stayed`] : []),
    ...(way === 'Evacuate, Wait' && avoidable > 0 ? [`${avoidable} second restarts that could have been avoided`] : []),
    ...(way === 'Evacuate, Wait' ? ofThree.filter(isTooOften) : []).map(
      ({ restarts, placed }) => `${restarts} restarts of three members, ${placed} of them placed again`,
    ),
    ...(drains < drainsWanted ? [`${drainsWanted - drains} drains have not begun`] : []),
  ].map((sentence) => `${way}: ${sentence}`);
}
