import { type Scenario, scenarios } from './scenario.ts';
import { type Way, ways } from './way.ts';

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

const sizes = [1, 3, 5, 9];
const restartsSeconds = [2, 10];
/** None, and the default of `minReadySeconds`. */
const minReadies = [0, 5];

/** Restarts long enough to show failures beside them, and short enough to measure many. */
const usualRestartSeconds = 2;
const usualMembers = 3;
/** The fewest members of which two may be unavailable. */
const mostUsualMembers = 5;

/**
 * Whether a row adds information: healthy clusters of every size, and failures of three members, one of them of five.
 */
function isTelling({ scenario, members, restartSeconds, minReadySeconds }: Row): boolean {
  const { slug } = scenario;
  if (slug === 'healthy' && minReadySeconds === 0) return true;
  if (restartSeconds !== usualRestartSeconds) return false;
  if (slug === 'healthy') return members === usualMembers || members === mostUsualMembers;
  return minReadySeconds === 0 && (members === usualMembers || (slug === 'down' && members === mostUsualMembers));
}

/** In the order of the tables. */
export const rows: readonly Row[] = scenarios
  .flatMap((scenario) =>
    restartsSeconds.flatMap((restartSeconds) =>
      sizes.flatMap((members) =>
        minReadies.map((minReadySeconds): Row => ({ scenario, members, restartSeconds, minReadySeconds })),
      ),
    ),
  )
  .filter(isTelling);

/** Whether a way does in this row something that no other cell shows. */
export function isMeasured({ members, minReadySeconds }: Row, { leastMembers, knowsMinReady }: Way): boolean {
  return members >= leastMembers && (minReadySeconds === 0 || knowsMinReady);
}

/**
 * Every rollout whose namespace contains `only`. Those that wait most begin, since they use no resources; otherwise the
 * ways alternate, so that a slow machine affects all of them.
 */
export function cellsOf(runs: number, only: string): readonly Cell[] {
  const longestFirst = rows.toSorted((one, other) => seconds(other) - seconds(one));
  const cells = Array.from({ length: runs }, (_, index) => index + 1).flatMap((run) =>
    longestFirst.flatMap((row) =>
      ways
        .filter((way) => isMeasured(row, way))
        .map((way): Cell => ({ ...row, way, run, namespace: namespaceOf(row, way, run) })),
    ),
  );
  return cells
    .filter(({ namespace }) => namespace.includes(only))
    .toSorted((one, other) => other.way.waitsSeconds - one.way.waitsSeconds);
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
