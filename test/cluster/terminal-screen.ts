/** As much of a terminal as a program that draws over its own lines speaks to. */
export class TerminalScreen {
  readonly #rows: string[] = [''];
  #row = 0;
  #column = 0;

  get text(): string {
    return this.#rows.map((row) => row.trimEnd()).join('\n');
  }

  write(output: string): void {
    // oxlint-disable-next-line no-control-regex -- commands to the terminal begin with one
    for (const [part] of output.matchAll(/\u001B\[[0-9;]*[A-Za-z]|[\r\n]|[^\u001B\r\n]+/g)) this.#take(part);
  }

  #take(part: string): void {
    if (part.startsWith('\u001B[')) this.#command(part.slice(2, -1), part.at(-1) ?? '');
    else if (part === '\r') this.#column = 0;
    else if (part === '\n') {
      this.#row += 1;
      this.#column = 0;
      while (this.#rows.length <= this.#row) this.#rows.push('');
    } else {
      const row = (this.#rows[this.#row] ?? '').padEnd(this.#column);
      this.#rows[this.#row] = row.slice(0, this.#column) + part + row.slice(this.#column + part.length);
      this.#column += part.length;
    }
  }

  #command(argument: string, letter: string): void {
    const row = this.#rows[this.#row] ?? '';
    if (letter === 'A') this.#row = Math.max(0, this.#row - Number(argument || 1));
    if (letter === 'K') this.#rows[this.#row] = row.slice(0, this.#column);
    if (letter === 'J') {
      this.#rows[this.#row] = row.slice(0, this.#column);
      this.#rows.length = this.#row + 1;
    }
  }
}
