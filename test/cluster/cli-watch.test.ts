import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../support/control-plane/until.ts';
import { CliProcess } from './cli-program.ts';
import { useRollouts } from './rollout-fixture.ts';
import { TerminalScreen } from './terminal-screen.ts';

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** What every picture ends with. */
const endOfPicture = '\u001B[J';

/** The program on a terminal of its own, by util-linux' script, and every picture that was on it. */
class OnTerminal {
  readonly pictures: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(kubeconfig: string, argv: readonly string[]) {
    const command = ['stty cols 110 rows 30;', 'exec', process.execPath, program, ...argv].join(' ');
    this.#process = spawn('script', ['--quiet', '--flush', '--command', command, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, KUBECONFIG: kubeconfig, TERM: 'xterm' },
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      this.#process.once('close', resolve);
    });
    const screen = new TerminalScreen();
    let rest = '';
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split(endOfPicture);
      rest = parts.pop() ?? '';
      for (const part of parts) {
        screen.write(part + endOfPicture);
        this.pictures.push(screen.text);
      }
    });
  }

  /** Like a user who presses Ctrl-C. */
  async interrupt(): Promise<void> {
    this.#process.stdin?.write('\u0003');
    await this.#ended;
  }

  /** Whatever has become of it. */
  end(): void {
    this.#process.kill('SIGKILL');
    this.#process.stdin?.destroy();
    this.#process.stdout?.destroy();
  }
}

describe('status --watch on a real control plane', () => {
  const { scenario, stage } = useRollouts();
  const kubeconfig = (): string => stage().controlPlane.adminKubeconfig;

  scenario('draws one picture anew on a terminal, and writes a line for each change elsewhere', {}, async (cluster) => {
    const command = ['status', 'x', '--watch', '-n', cluster.namespace];
    const terminal = new OnTerminal(kubeconfig(), command);
    const elsewhere = new CliProcess(kubeconfig(), command);
    const last = (): string => terminal.pictures.at(-1) ?? 'nothing';
    const lastLine = (): string => elsewhere.out.trimEnd().split('\n').at(-1) ?? '';
    try {
      await until('there is a first picture', () => last().includes('UpToDate'), { got: last });
      await until('there is a first line', () => lastLine().includes('UpToDate'), { got: lastLine });
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      await until('there is the end of it', () => /UpToDate +3 of 3 [^]*last rollout: Complete/.test(last()), {
        got: last,
      });
      await until('there is the last line', () => lastLine().includes('UpToDate  3/3'), { got: lastLine });
      await terminal.interrupt();
    } finally {
      terminal.end();
      elsewhere.process.kill('SIGINT');
    }
    const headers = terminal.pictures.map((picture) => picture.split('\n').filter((row) => row.startsWith('x   ')));
    expect(headers.filter((header) => header.length !== 1)).to.deep.equal([]);
    const updated = headers.map(([header]) => Number(/(\d) of 3 updated/.exec(header ?? '')?.[1]));
    const rollingOut = updated.slice(updated.indexOf(0));
    expect(rollingOut).to.deep.equal(rollingOut.toSorted((one, other) => one - other));
    expect([rollingOut.at(0), rollingOut.at(-1)]).to.deep.equal([0, 3]);
    expect(terminal.pictures.some((picture) => picture.includes('░'))).to.equal(true);
    expect(terminal.pictures.at(-1)).to.match(/moco-x-0 {2}(primary|replica) {2}\w+ {2}updated {2}participating/);
    expect(terminal.pictures.flatMap((picture) => picture.split('\n')).filter((row) => row.length > 110)).to.deep.equal(
      [],
    );
    const { status, out, err } = await elsewhere.ended;
    expect({ status, err }).to.deep.equal({ status: 130, err: '' });
    const lines = out.trimEnd().split('\n');
    const timed = new RegExp(`^\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}Z  (${cluster.namespace}/x  .*)$`);
    const told = lines.map((line) => timed.exec(line)?.[1] ?? `no line of the cluster with its time: ${line}`);
    expect(told.filter((line) => line.startsWith('no line'))).to.deep.equal([]);
    expect(told.filter((line, index) => line === told[index - 1])).to.deep.equal([]);
  });
});
