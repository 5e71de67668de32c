import { EventEmitter } from 'node:events';
import type { WriteStream } from 'node:tty';
import { expect } from 'chai';
import { outputTo } from '../../../hack/demo/output.ts';
import { Screen } from '../../../hack/demo/screen.ts';
import { type Line, piece } from '../../../src/cli/painted.ts';

/** A terminal that remembers what was written to it. */
class Terminal extends EventEmitter {
  columns = 20;
  rows = 10;
  written = '';
  write(text: string): boolean {
    this.written += text;
    return true;
  }
  /** What came since the last call. */
  fresh(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
  get stream(): WriteStream {
    return this as unknown as WriteStream;
  }
}

const hide = '\u001B[?25l';
const show = '\u001B[?25h';
const rest = '\u001B[K';
const below = '\u001B[J';
const up = (rows: number): string => `\u001B[${rows}A`;

describe('hack/demo: the screen', () => {
  let terminal: Terminal;
  let lines: readonly Line[];
  let screen: Screen;

  beforeEach(() => {
    terminal = new Terminal();
    lines = [[piece('one', 'red')], [piece('two')]];
    screen = new Screen(terminal.stream, false, () => lines);
  });

  afterEach(() => screen.end());

  it('hides the cursor and draws at once', () => {
    expect(terminal.fresh()).to.equal(`${hide}\rone${rest}\ntwo${rest}\n${below}`);
  });

  it('goes back to its top, clears the rest of every line, and what is below a shorter block', () => {
    terminal.fresh();
    lines = [[piece('1')]];
    screen.draw();
    expect(terminal.fresh()).to.equal(`\r${up(2)}1${rest}\n${below}`);
  });

  it('writes nothing where nothing has changed', () => {
    terminal.fresh();
    screen.draw();
    expect(terminal.fresh()).to.equal('');
  });

  it('cuts lines to the width there is', () => {
    terminal.fresh();
    lines = [[piece('x'.repeat(30))]];
    screen.draw();
    expect(terminal.fresh()).to.contain(`${'x'.repeat(19)}…${rest}\n`);
  });

  it('counts lines twice that a narrower terminal has broken in two', () => {
    lines = [[piece('x'.repeat(20))], [piece('y')]];
    screen.draw();
    terminal.fresh();
    terminal.columns = 12;
    terminal.emit('resize');
    expect(terminal.fresh()).to.match(new RegExp(`^\\r${up(3).replace('[', '\\[')}x{11}…`));
  });

  it('gives the cursor back at its end, once, and draws no more', () => {
    terminal.fresh();
    lines = [[piece('last')], []];
    screen.end();
    screen.end();
    expect(terminal.fresh()).to.equal(`\r${up(2)}last${rest}\n${rest}\n${below}${show}`);
    lines = [];
    terminal.emit('resize');
    expect(terminal.fresh()).to.equal('');
  });
});

describe('hack/demo: the output', () => {
  const outputOf = (isTTY: boolean, environment: NodeJS.ProcessEnv) =>
    outputTo(Object.assign(new Terminal(), { isTTY }) as unknown as NodeJS.WriteStream, environment);

  it('is a terminal in colour, unless NO_COLOR has a value', () => {
    expect(outputOf(true, {})).to.deep.include({ colour: true }).and.have.property('terminal').that.is.not.equal(null);
    expect(outputOf(true, { NO_COLOR: '' }).colour).to.equal(true);
    expect(outputOf(true, { NO_COLOR: '1' }).colour).to.equal(false);
    expect(outputOf(true, { NO_COLOR: '1' }).terminal).to.not.equal(null);
  });

  it('is plain lines where nothing can be redrawn', () => {
    expect(outputOf(false, {})).to.include({ terminal: null, colour: false });
    expect(outputOf(true, { TERM: 'dumb' })).to.include({ terminal: null, colour: false });
  });

  it('writes lines without trailing spaces', () => {
    const terminal = new Terminal();
    outputTo(terminal as unknown as NodeJS.WriteStream, {}).line([piece('green', 'green'), piece('  ')]);
    expect(terminal.fresh()).to.equal('green\n');
  });
});
