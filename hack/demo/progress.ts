import { type Line, piece } from '../../src/cli/painted.ts';
import { roughly } from './durations.ts';
import type { Output } from './output.ts';
import { Screen } from './screen.ts';

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const frameMilliseconds = 100;
const reminderMilliseconds = 10_000;
const slowMilliseconds = 1000;

/**
 * Says what is being done while it is: on a terminal with something that moves and the time it takes, elsewhere by a
 * line at its beginning and one now and then.
 *
 * @param more how far it is by now
 */
export async function progressing<T>(
  output: Output,
  title: string,
  work: () => Promise<T>,
  more: () => string = () => '',
): Promise<T> {
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const { terminal } = output;
  if (terminal === null) {
    output.line([piece(`${title} ...`)]);
    const remind = (): void => output.line([piece(`${title}${more()} ... ${roughly(elapsed())}`)]);
    const timer = setInterval(remind, reminderMilliseconds);
    return work().finally(() => clearInterval(timer));
  }
  let line = (): Line => {
    const turn = frames[Math.floor(elapsed() / frameMilliseconds) % frames.length] ?? '';
    const seconds = elapsed() < slowMilliseconds ? '' : `  ${roughly(elapsed())}`;
    return [piece(turn, 'cyan'), piece(` ${title}${more()}`), piece(seconds, 'dim')];
  };
  const screen = new Screen(terminal, output.colour, () => [line()]);
  const end = (last: Line): void => {
    line = () => last;
    screen.end();
  };
  try {
    const result = await work();
    end([piece('✓', 'green'), piece(` ${title}`), piece(`  ${roughly(elapsed())}`, 'dim')]);
    return result;
  } catch (error) {
    end([piece('✗', 'red'), piece(` ${title}`), piece(`  ${roughly(elapsed())}`, 'dim')]);
    throw error;
  }
}
