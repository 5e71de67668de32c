import { spreadOf } from '../record/spread.ts';
import type { Result } from './cell.ts';
import { type Cell, isMeasured, type Row, rows, rowTitle } from './matrix.ts';
import { judgedWay, type Way, ways } from './way.ts';

/** A rollout that was measured. */
export interface Measured {
  readonly cell: Cell;
  readonly result: Result;
}

/** All of a run, by row and column. */
export class Results {
  readonly rows: readonly Row[];
  readonly ways: readonly Way[];
  readonly #measured: readonly Measured[];

  constructor(measured: readonly Measured[]) {
    this.rows = rows.filter((row) => measured.some(({ cell }) => isOf(cell, row)));
    this.ways = ways.filter((way) => measured.some(({ cell }) => cell.way === way));
    this.#measured = measured;
  }

  /** The repetitions. What `minReadySeconds` means nothing to is the same rollout with any: those without count. */
  of(row: Row, way: Way): readonly Measured[] {
    const wanted = way.knowsMinReady ? row.minReadySeconds : 0;
    return this.#measured
      .filter(({ cell }) => cell.way === way && isOf(cell, { ...row, minReadySeconds: wanted }))
      .toSorted((one, other) => one.cell.run - other.cell.run);
  }

  /** A sentence for each rollout that waits for a person. */
  waiting(): readonly string[] {
    return this.rows.flatMap((row) =>
      this.ways
        .filter((way) => isMeasured(row, way))
        .flatMap((way) =>
          this.of(row, way).flatMap(({ result: { stuck } }) =>
            stuck === null ? [] : [`${way.title}, ${rowTitle(row)}: waits for a person (${stuck})`],
          ),
        ),
    );
  }

  /** Milliseconds: the median limit by the judged way's own restarts; `null` if not measured. */
  limit(row: Row): number | null {
    const judged = this.ways.find(({ slug }) => slug === judgedWay);
    if (judged === undefined || !isMeasured(row, judged)) return null;
    const limits = this.of(row, judged).flatMap(({ result }) => result.limit ?? []);
    return limits.length === 0 ? null : spreadOf(limits).median;
  }

  /** Rollout through limit: of the judged way each through its own, of others through the row's. */
  ratios(row: Row, way: Way): readonly number[] {
    const limit = this.limit(row);
    return this.of(row, way).flatMap(({ result }) => {
      const through = way.slug === judgedWay ? result.limit : limit;
      return result.rollout === null || through === null ? [] : [result.rollout / through];
    });
  }
}

const isOf = (cell: Cell, { scenario, members, restartSeconds, minReadySeconds }: Row): boolean =>
  cell.scenario === scenario &&
  cell.members === members &&
  cell.restartSeconds === restartSeconds &&
  cell.minReadySeconds === minReadySeconds;
