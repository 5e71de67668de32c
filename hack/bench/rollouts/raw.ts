import type { Gaps } from './gaps.ts';
import type { Use } from './machine-use.ts';
import { isMeasured, rowTitle } from './matrix.ts';
import type { Measure } from './measure.ts';
import type { Results } from './results.ts';

/** Everything that was measured, for programs: durations in seconds, to the millisecond. */
export function rawOf(results: Results, machineUse: readonly Use[], missed: readonly string[]): object {
  return {
    missed,
    machineUse,
    rows: results.rows.map((row) => ({
      title: rowTitle(row),
      scenario: row.scenario.slug,
      members: row.members,
      restartSeconds: row.restartSeconds,
      minReadySeconds: row.minReadySeconds,
      limitSeconds: seconds(results.limit(row)),
      ways: results.ways
        .filter((way) => isMeasured(row, way))
        .map((way) => {
          const runs = results.of(row, way);
          const each = <T>(of: (one: (typeof runs)[number]['result']) => T): readonly T[] =>
            runs.map(({ result }) => of(result));
          return {
            way: way.slug,
            rolloutSeconds: each(({ rollout }) => seconds(rollout)),
            limitSeconds: each(({ limit }) => seconds(limit)),
            beyondTheLimit: each(({ gaps }) => gaps && inSeconds(gaps)),
            withoutCommitsSeconds: each(({ withoutCommits }) => seconds(withoutCommits.milliseconds)),
            withoutCommitsAtTheEnd: each(({ withoutCommits }) => withoutCommits.goesOn),
            primaryMoves: each(({ moves }) => moves),
            mostUnavailable: each(({ mostUnavailable }) => mostUnavailable),
            takenDuringBackup: each(({ duringBackup }) => duringBackup),
            stuck: each(({ stuck }) => stuck),
            // Each [ordinal, from, to] and [from ordinal, from, to], seconds since the change that is timed.
            absences: each(({ measure }) =>
              measure.absences.map(({ ordinal, ...absence }) => [ordinal, ...span(measure, absence)]),
            ),
            switchovers: each(({ measure }) =>
              measure.switchovers.map(({ from, ...move }) => [from, ...span(measure, move)]),
            ),
            writes: runs.map(({ writes: { own, ownEvents, moco, kubernetes } }) => [own, ownEvents, moco, kubernetes]),
          };
        }),
    })),
  };
}

function inSeconds({ first, moco, reaction }: Gaps): object {
  return { first: seconds(first), moco: moco.map(seconds), reaction: reaction.map(seconds) };
}

function span(
  { beganMilliseconds }: Measure,
  { fromMilliseconds, toMilliseconds }: Pick<Measure['absences'][number], 'fromMilliseconds' | 'toMilliseconds'>,
): readonly (number | null)[] {
  const since = (milliseconds: number): number | null => seconds(milliseconds - beganMilliseconds);
  return [since(fromMilliseconds), toMilliseconds === null ? null : since(toMilliseconds)];
}

const seconds = (milliseconds: number | null): number | null =>
  milliseconds === null ? null : Math.round(milliseconds) / 1000;
