const redrawMilliseconds = 1000;
const lineMilliseconds = 15_000;

/** The output of progress: standard error, or a test's own. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Says what is being worked on and shows that it moves: the elapsed seconds, redrawn in place on a terminal and as a
 * line now and then elsewhere.
 */
export class BuildProgress {
  readonly #output: ProgressOutput;
  readonly #start = performance.now();
  #what = '';
  #note = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(output: ProgressOutput) {
    this.#output = output;
  }

  say(sentence: string): void {
    this.#clear();
    this.#output.write(`${sentence}\n`);
  }

  begin(what: string): void {
    this.end();
    this.#what = what;
    this.#note = '';
    this.#show();
    this.#timer = setInterval(() => this.#show(), this.#output.isTTY === true ? redrawMilliseconds : lineMilliseconds);
  }

  /** Shown behind what is being worked on from now on. */
  note(note: string): void {
    this.#note = note;
  }

  end(): void {
    if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
      this.#clear();
    }
  }

  get elapsedSeconds(): number {
    return Math.round((performance.now() - this.#start) / 1000);
  }

  #show(): void {
    const note = this.#note === '' ? '' : `, ${this.#note}`;
    const text = `  ${this.#what} (${this.elapsedSeconds} s${note})`;
    this.#output.write(this.#output.isTTY === true ? `\r\u001B[2K${text}` : `${text}\n`);
  }

  #clear(): void {
    if (this.#output.isTTY === true) {
      this.#output.write('\r\u001B[2K');
    }
  }
}
