import { type Scenario, scenarios } from './scenario.ts';
import { type Setting, type Way, ways } from './way.ts';

/** A row of every table. */
export interface Row {
  readonly scenario: Scenario;
  readonly members: number;
  /** Nominal: the real time of a restart is measured. */
  readonly restartSeconds: number;
  readonly minReadySeconds: number;
}

/** One rollout to measure: a row, a column, and the repetition. */
export interface Cell extends Row {
  readonly way: Way;
  readonly run: number;
  /** Its own. */
  readonly namespace: string;
}

/** What is left of the matrix; a list that is empty leaves all of its kind. */
export interface Only {
  readonly way: readonly string[];
  readonly scenario: readonly string[];
  readonly members: readonly number[];
  readonly restart: readonly number[];
  readonly minready: readonly number[];
}

export const sizes = [1, 3, 5, 9] as const;
export const restartsSeconds = [0.5, 2, 10] as const;
/** None, and the default of `minReadySeconds`. */
export const minReadies = [0, 5] as const;

/** Restarts long enough to show failures beside them, and short enough to measure many. */
const usualRestartSeconds = 2;
const usualSizes: readonly number[] = [3, 5];

/** Whether a row adds information: healthy clusters of every size, and failures at two sizes. */
function isTelling({ scenario, members, restartSeconds, minReadySeconds }: Row): boolean {
  if (scenario.slug !== 'healthy' || minReadySeconds > 0) {
    const isUsual = usualSizes.includes(members) && restartSeconds === usualRestartSeconds;
    return isUsual && (scenario.slug === 'healthy' || minReadySeconds === 0);
  }
  return true;
}

/** In the order of the tables. */
export function rowsOf(full: boolean, only: Only): readonly Row[] {
  const rows = scenarios.flatMap((scenario) =>
    restartsSeconds.flatMap((restartSeconds) =>
      sizes.flatMap((members) =>
        minReadies.map((minReadySeconds): Row => ({ scenario, members, restartSeconds, minReadySeconds })),
      ),
    ),
  );
  const leaves = <T>(list: readonly T[], value: T): boolean => list.length === 0 || list.includes(value);
  return rows.filter(
    (row) =>
      row.members >= row.scenario.leastMembers &&
      (full || isTelling(row)) &&
      leaves(only.scenario, row.scenario.slug) &&
      leaves(only.members, row.members) &&
      leaves(only.restart, row.restartSeconds) &&
      leaves(only.minready, row.minReadySeconds),
  );
}

export function waysOf(only: Only): readonly Way[] {
  return ways.filter(({ slug }) => only.way.length === 0 || only.way.includes(slug));
}

/** Whether a way does in this row something that no other cell shows. */
export function isMeasured({ members, minReadySeconds }: Row, { leastMembers, knowsMinReady }: Way): boolean {
  return members >= leastMembers && (minReadySeconds === 0 || knowsMinReady);
}

/**
 * The rollouts on one control plane. Those that wait most begin, since they use no resources; otherwise the ways
 * alternate, so that a slow machine affects all of them.
 */
export function cellsOf(setting: Setting, rows: readonly Row[], chosen: readonly Way[], runs: number): readonly Cell[] {
  const here = chosen.filter((way) => way.setting === setting);
  const longestFirst = rows.toSorted((one, other) => seconds(other) - seconds(one));
  const cells = Array.from({ length: runs }, (_, index) => index + 1).flatMap((run) =>
    longestFirst.flatMap((row) =>
      here
        .filter((way) => isMeasured(row, way))
        .map((way): Cell => ({ ...row, way, run, namespace: namespaceOf(row, way, run) })),
    ),
  );
  return cells.toSorted((one, other) => other.way.waitsSeconds - one.way.waitsSeconds);
}

const seconds = ({ members, restartSeconds, minReadySeconds }: Row): number =>
  members * (restartSeconds + minReadySeconds);

function namespaceOf({ scenario, members, restartSeconds, minReadySeconds }: Row, { slug }: Way, run: number): string {
  return `${slug}-${scenario.slug}-${members}-of-${restartSeconds * 1000}-and-${minReadySeconds}-${run}`;
}

/** The time of a restart beyond the nodes: the API server, the controllers, MOCO. */
const besidesSeconds = 0.4;

/** How many members a rollout restarts a second, about: what it costs the machine. */
export function restartsASecond({ way, restartSeconds, minReadySeconds }: Cell): number {
  return way.atOnce / (restartSeconds + besidesSeconds + way.waitsSeconds + minReadySeconds);
}

/** As a table's first column has it. */
export function rowTitle({ scenario, members, restartSeconds, minReadySeconds }: Row): string {
  const waits = minReadySeconds === 0 ? '' : `, minReadySeconds ${minReadySeconds}`;
  return `${scenario.title}: ${members} × ${restartSeconds} s${waits}`;
}
