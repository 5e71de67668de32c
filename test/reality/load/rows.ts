/** A row that a writer has written: its numbers ascend. */
export type Row = readonly [writer: number, number: number];

/** Rows by writer, which take a hundred bytes less each than their text would. */
export class Rows {
  readonly #numbers = new Map<number, Set<number>>();

  constructor(rows: Iterable<Row> = []) {
    for (const row of rows) this.add(row);
  }

  get size(): number {
    return [...this.#numbers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  add([writer, number]: Row): void {
    const numbers = this.#numbers.get(writer) ?? new Set();
    this.#numbers.set(writer, numbers.add(number));
  }

  has([writer, number]: Row): boolean {
    return this.#numbers.get(writer)?.has(number) ?? false;
  }

  *[Symbol.iterator](): Generator<Row> {
    for (const [writer, numbers] of this.#numbers) for (const number of numbers) yield [writer, number];
  }
}

/**
 * Acknowledged rows that a member does not have. Rows that it has and that nobody was told of are no loss: a
 * connection may break after the commit and before its answer.
 */
export function missingRows(acknowledged: Rows, found: Rows): readonly Row[] {
  return [...acknowledged].filter((row) => !found.has(row));
}
