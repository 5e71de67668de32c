/** A table of figures, as printed and as in the document. Its cells are formatted and include units. */
export interface Table {
  /** The second half of its name in the document: `idle` in `RECORD/idle`, where RECORD is the name of the record. */
  readonly name: string;
  /** One line that describes the figures. */
  readonly title: string;
  /** The first column describes the row; the others contain figures. */
  readonly columns: readonly string[];
  /** Each row is as long as `columns`; an empty cell means that there is no figure. */
  readonly rows: readonly (readonly string[])[];
}

/** The table for a terminal: the first column is left-aligned, figures are right-aligned. */
export function textOf({ title, columns, rows }: Table): string {
  const all = [columns, ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  return [title, ...all.map((row) => `  ${line(row)}`)].join('\n');
}

/** The table for the document, without the title, because the document has its own text. */
export function markdownOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const alignment = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(alignment), ...rows.map((row) => line(row))].join('\n');
}
