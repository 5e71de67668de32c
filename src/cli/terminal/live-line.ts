import type { Host } from '../host.ts';

const clearLine = '\r\u001B[K';

/** Permanent lines above a line that changes. Without a terminal only the permanent lines are written. */
export class LiveLine {
  readonly #host: Host;
  #shown = '';

  constructor(host: Host) {
    this.#host = host;
  }

  /** Writes a result to standard output. */
  say(text: string): void {
    this.#above(() => this.#host.out(`${text}\n`));
  }

  /** Writes a note to standard error. */
  warn(text: string): void {
    this.#above(() => this.#host.err(`${text}\n`));
  }

  /** Replaces the changing line. */
  show(text: string): void {
    const terminal = this.#host.terminal();
    if (terminal === null) return;
    this.#shown = text.slice(0, terminal.columns - 1);
    this.#host.out(`${clearLine}${this.#shown}`);
  }

  end(): void {
    if (this.#shown !== '') this.#host.out(clearLine);
    this.#shown = '';
  }

  #above(write: () => void): void {
    if (this.#shown === '') {
      write();
      return;
    }
    this.#host.out(clearLine);
    write();
    this.#host.out(this.#shown);
  }
}
