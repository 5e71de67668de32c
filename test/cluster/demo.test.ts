import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { controlPlaneBinaries } from '../../hack/control-plane/build.ts';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../hack/demo/main.ts', import.meta.url));
/** Long enough for everything to be built from nothing on a slow machine. */
const buildDeadlineMilliseconds = 30 * 60_000;
const deadlineMilliseconds = 540_000;
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

describe('make demo', function () {
  this.timeout(deadlineMilliseconds);
  let demo: Demo | null = null;

  before(async function buildControlPlane() {
    this.timeout(buildDeadlineMilliseconds);
    await controlPlaneBinaries();
  });

  afterEach(async () => {
    await demo?.remove();
    demo = null;
  });

  it('rolls out 2, 1, moves the primary, rolls out 0, sums it up and leaves nothing behind', async () => {
    demo = await Demo.start();
    expect(await demo.ended, demo.errors).to.equal(0);
    const told = [
      'Changing its image',
      '3 of 3 members stale',
      'moco-test-2   is evicted',
      /moco-test-2 {3}is back after \d+\.\d\d s: 1 of 3 updated/,
      'moco-test-1   is evicted',
      /moco-test-1 {3}is back after \d+\.\d\d s: 2 of 3 updated/,
      'moco-test-0   is asked to hand over as primary (demote)',
      /switchover to moco-test-[12] done after/,
      'moco-test-0   is evicted',
      /moco-test-0 {3}is back after \d+\.\d\d s: 3 of 3 updated/,
      'complete: 3 of 3 members updated and participating',
      /1 +moco-test-2 +evict +\d/,
      /2 +moco-test-1 +evict +\d/,
      /3 +moco-test-0 +demote +\d/,
      /4 +moco-test-0 +evict +\d/,
      /ratio +\d\.\d{3} +\d+\.\d\d s \/ \d+\.\d\d s/,
      /caused +1 switchover +from moco-test-0 to moco-test-[12]/,
    ];
    let rest = demo.output;
    for (const expected of told) {
      const found = typeof expected === 'string' ? rest.indexOf(expected) : rest.search(expected);
      expect(found, `"${expected}" in\n${rest}`).to.be.at.least(0);
      rest = rest.slice(found + 1);
    }
    // oxlint-disable-next-line no-control-regex
    expect(demo.output, 'without a terminal').to.not.match(/\u001B/);
    expect(await demo.leftovers()).to.deep.equal([]);
  });

  it('writes the numbers of the summary alone to standard output with --json', async () => {
    demo = await Demo.start('--json', '--members=1');
    expect(await demo.ended, demo.errors).to.equal(0);
    const json = JSON.parse(demo.output) as { steps: { verb: string; member: string }[]; [key: string]: unknown };
    expect(json).to.deep.include({ members: 1, restartSeconds: 0.5, switchovers: [] });
    expect(json.steps.map(({ verb, member }) => `${verb} ${member}`)).to.deep.equal(['evict moco-test-0']);
    expect(json['ratio']).to.be.greaterThan(1);
    expect(demo.errors).to.contain('complete: 1 of 1 members');
  });

  it('ends with 130 and leaves nothing behind when SIGINT comes in the middle', async () => {
    demo = await Demo.start();
    await demo.shows('moco-test-2   is evicted');
    expect(await demo.leftovers(), 'what is looked for can be found').to.not.deep.equal([]);
    demo.signal('SIGINT');
    expect(await demo.ended).to.equal(130);
    expect(demo.output).to.not.contain('complete:');
    expect(await demo.leftovers()).to.deep.equal([]);
  });

  it('ends with 130 and leaves nothing behind when SIGTERM comes while it starts', async () => {
    demo = await Demo.start();
    await demo.shows('Starting etcd');
    demo.signal('SIGTERM');
    expect(await demo.ended).to.equal(130);
    expect(demo.output).to.not.contain('Starting the controller');
    expect(await demo.leftovers()).to.deep.equal([]);
  });

  it('refuses flags that it does not know with a sentence and 2, before it starts anything', async () => {
    demo = await Demo.start('--members=two');
    expect(await demo.ended).to.equal(2);
    expect(demo.errors).to.equal('Expected --members to be an odd number from 1 to 9, as MOCO has them, got `two`.\n');
    expect(demo.output).to.equal('');
  });
});
