import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { controlPlaneBinaries } from '../support/control-plane/build.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../hack/demo-cluster.ts', import.meta.url));
/** Long enough for everything to be built from nothing on a slow machine. */
const psBytes = 64 * 1024 * 1024;

/** The demo as a user starts it, with a temporary directory that is recognized wherever it shows. */
class Demo {
  readonly directory: string;
  readonly ended: Promise<number | null>;
  output = '';
  errors = '';
  readonly #process: ChildProcess;
  readonly #watchers = new Set<() => void>();

  private constructor(directory: string, flags: readonly string[]) {
    this.directory = directory;
    this.#process = spawn(process.execPath, [program, '--restart=0.5', ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: directory },
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      for (const watcher of this.#watchers) watcher();
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
    });
    this.ended = new Promise((resolve) => this.#process.once('close', (code) => resolve(code)));
  }

  static async start(...flags: readonly string[]): Promise<Demo> {
    // Named after this process, so that no other program on this machine has that name in its environment.
    const directory = await mkdtemp(join(tmpdir(), `moco-rollout-demo-test-${process.pid}-`));
    await mkdir(directory, { recursive: true });
    return new Demo(directory, flags);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves once standard output has it; rejects where the demo ends before. */
  async shows(text: string): Promise<void> {
    const shown = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.output.includes(text)) resolve();
      };
      this.#watchers.add(look);
      look();
    });
    const early = this.ended.then((code) => {
      throw new Error(`the demo ended with ${code} before it showed "${text}":\n${this.output}\n${this.errors}`);
    });
    await Promise.race([shown, early]);
  }

  /** Processes and files; its own directory is the one that this test made. */
  async leftovers(): Promise<readonly string[]> {
    const { stdout } = await run('ps', ['axeww', '-o', 'pid=,command='], { maxBuffer: psBytes });
    const processes = stdout.split('\n').filter((line) => line.includes(this.directory));
    return [...processes, ...(await readdir(this.directory))];
  }

  /** Ends it in any case. */
  async remove(): Promise<void> {
    this.signal('SIGTERM');
    await this.ended;
    await rm(this.directory, { recursive: true, force: true });
  }
}

describe('make demo-cluster', () => {
  let demo: Demo | null = null;

  before(async () => {
    await controlPlaneBinaries();
  });

  afterEach(async () => {
    await demo?.remove();
    demo = null;
  });

  it('shows the rollout live, summarizes it and leaves nothing behind', async () => {
    demo = await Demo.start();
    expect(await demo.ended, demo.errors).to.equal(0);
    const [live = '', summary = ''] = demo.output.split('Rolled out in ');
    expect(live, demo.output).to.match(/Changing its image[^]* 3\/3[^]* 1\/3[^]* 2\/3[^]* UpToDate +3\/3/);
    expect(summary).to.match(
      /^\d+\.\d s: evict moco-test-2, evict moco-test-1, demote moco-test-0, evict moco-test-0\. No commit was answered for \d+\.\d s\.\n/,
    );
    expect(await demo.leftovers()).to.deep.equal([]);
  });

  it('exits with 130 after SIGINT and leaves nothing behind', async () => {
    demo = await Demo.start();
    await demo.shows('Progressing  1/3');
    expect(await demo.leftovers(), 'what is looked for can be found').to.not.deep.equal([]);
    demo.signal('SIGINT');
    expect(await demo.ended).to.equal(130);
    expect(demo.output).to.not.contain('Rolled out in');
    expect(await demo.leftovers()).to.deep.equal([]);
  });

  it('refuses unknown flags with one sentence and exit code 2, before it starts anything', async () => {
    demo = await Demo.start('--members=two');
    expect(await demo.ended).to.equal(2);
    expect(demo.errors).to.equal(
      "error: option '--members <number>' argument 'two' is invalid. Expected an odd number from 1 to 9.\n",
    );
    expect(demo.output).to.equal('');
  });

  it('refuses to say how long real servers restart', async () => {
    demo = await Demo.start('--real');
    expect(await demo.ended).to.equal(2);
    expect(demo.errors).to.equal(
      'error: --restart cannot be combined with --real: real servers determine how long they take\n',
    );
    expect(demo.output).to.equal('');
  });
});
