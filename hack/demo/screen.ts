import type { WriteStream } from 'node:tty';
import { type Line, painted, widthOf } from '../../src/cli/painted.ts';
import { clipped } from './clipped.ts';

const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
const clearBelow = '\u001B[J';
const clearRestOfLine = '\u001B[K';
const redrawMilliseconds = 100;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A block of lines at the bottom of a terminal that is redrawn in place, several times a second. */
export class Screen {
  readonly #output: WriteStream;
  readonly #colour: boolean;
  readonly #lines: (size: ScreenSize) => readonly Line[];
  readonly #timer: NodeJS.Timeout;
  readonly #restore = (): void => void this.#output.write(showCursor);
  /** Of the lines on the terminal now. */
  #widths: readonly number[] = [];
  #drawn: string | null = null;
  #ended = false;

  /** Draws at once. `lines` is asked anew for every drawing. */
  constructor(output: WriteStream, colour: boolean, lines: (size: ScreenSize) => readonly Line[]) {
    this.#output = output;
    this.#colour = colour;
    this.#lines = lines;
    output.write(hideCursor);
    // However this program ends, the cursor comes back.
    process.once('exit', this.#restore);
    this.#output.on('resize', this.draw);
    this.#timer = setInterval(this.draw, redrawMilliseconds);
    this.draw();
  }

  readonly draw = (): void => {
    const { columns, rows } = this.#output;
    const lines = this.#lines({ columns, rows }).map((line) => clipped(line, columns));
    const text = lines.map((line) => `${painted(line, this.#colour)}${clearRestOfLine}\n`).join('');
    const same = text === this.#drawn;
    if (same) return;
    this.#output.write(`${this.#toTop(columns)}${text}${clearBelow}`);
    this.#widths = lines.map(widthOf);
    this.#drawn = text;
  };

  /** Draws a last time and leaves the block where it is, the cursor below. Calling it again is harmless. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    this.#output.off('resize', this.draw);
    this.draw();
    process.off('exit', this.#restore);
    this.#restore();
  }

  /** A terminal that has become narrower since has broken the lines in two. */
  #toTop(columns: number): string {
    const rows = this.#widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows === 0 ? '\r' : `\r\u001B[${rows}A`;
  }
}
