import type { WriteStream } from 'node:tty';
import { type Line, painted, withoutTrailingSpaces } from '../../src/cli/painted.ts';

/** Where the demo tells its story: lines for whoever reads it later, or a terminal that is drawn on. */
export interface Output {
  readonly stream: NodeJS.WriteStream;
  /** `null` where nothing can be redrawn in place. */
  readonly terminal: WriteStream | null;
  readonly colour: boolean;
  /** Longer ones than the terminal is wide are broken by it. */
  readonly line: (line: Line) => void;
}

/** Colour is for terminals, and not where NO_COLOR (https://no-color.org) has any value. */
export function outputTo(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): Output {
  const dumb = environment['TERM'] === 'dumb';
  const terminal = stream.isTTY && !dumb && stream.columns > 0 ? stream : null;
  const colour = terminal !== null && (environment['NO_COLOR'] ?? '') === '';
  return {
    stream,
    terminal,
    colour,
    line: (line) => void stream.write(`${painted(withoutTrailingSpaces(line), colour)}\n`),
  };
}
