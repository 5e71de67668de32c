/** A table of figures as printed and as in the document, with formatted cells and units. */
export interface Table {
  /** Its place in the document, `<name of the record>/<this>`: `idle`. */
  readonly name: string;
  /** One line that describes the figures. */
  readonly title: string;
  /** The first column describes the row; the others have figures. */
  readonly columns: readonly string[];
  /** Each as long as `columns`; an empty cell has no figure. */
  readonly rows: readonly (readonly string[])[];
}

/** For a terminal: the first column to the left, figures to the right. */
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

/** For the document, without the title, because the document has its own text. */
export function markdownOf({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const alignment = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [line(columns), line(alignment), ...rows.map((row) => line(row))].join('\n');
}
