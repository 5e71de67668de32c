import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import type { Table } from './table.ts';

// The record of a benchmark run in hack/bench/results.

/** One run of a benchmark, in the format of the files in hack/bench/results. */
export interface BenchRecord {
  /** The name of the file, without `.json`. */
  readonly name: string;
  /** The command as typed at the root of the repository, without the output options. */
  readonly command: string;
  /** When the run started: YYYY-MM-DD. */
  readonly date: string;
  /** The commit that was checked out, with `-dirty` if the sources differed from it. */
  readonly commit: string;
  readonly machine: Machine;
  /** The load average over one minute. */
  readonly loadAverage: { readonly before: number; readonly after: number };
  readonly nodeVersion: string;
  readonly tables: readonly Table[];
  /** All samples, from which the tables are made. */
  readonly raw: unknown;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** The folders that affect what a benchmark measures. */
const measured = ['src', 'hack', 'config', 'package-lock.json', 'Dockerfile'];
const indentation = 1;
/** Flags that only determine where the output goes. */
const outputs = ['--record', '--output'];

/** The option for the file to which a benchmark writes its numbers. */
export const recordFlag = (): Option =>
  new Option('--record <file>', 'write the numbers into that file, in the format of hack/bench/results');

/** A benchmark that has started. {@link Recording.write} writes its results at the end. */
export class Recording {
  readonly #name: string;
  readonly #begun = {
    date: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    commit: commitNow(),
    load: loadNow(),
  };

  /** @param name the name of the file in hack/bench/results, without `.json` */
  constructor(name: string) {
    this.#name = name;
  }

  /** The results so far. `raw` must be serializable as JSON. */
  record(tables: readonly Table[], raw: unknown): BenchRecord {
    const { date, commit, load } = this.#begun;
    return {
      name: this.#name,
      command: commandOf(process.argv),
      date,
      commit,
      machine: machine(),
      loadAverage: { before: load, after: loadNow() },
      nodeVersion: process.version,
      tables,
      raw,
    };
  }

  /** Writes the results into a file if one is given, and creates its folders. */
  async write(file: string | undefined, tables: readonly Table[], raw: unknown): Promise<void> {
    if (file === undefined) return;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, jsonOf(this.record(tables, raw)));
  }
}

/** One line about the machine and the date, for readers of the figures. */
export function originOf(record: Omit<BenchRecord, 'tables' | 'raw'>): string {
  const { machine, loadAverage, nodeVersion, date, commit } = record;
  const gigabytes = Math.round(machine.memoryBytes / 1e9);
  const load = `load average ${loadAverage.before.toFixed(1)} before and ${loadAverage.after.toFixed(1)} after`;
  return [
    `${machine.cores} cores (${machine.processor}, ${gigabytes} GB), Linux ${machine.kernel}, Node ${nodeVersion.slice(1)}`,
    `${load}, ${date}, commit ${commit}.`,
  ].join(', ');
}

/** The command in the form that records use. `argv` has the form of `process.argv`. */
export function commandOf([, program = '', ...rest]: readonly string[]): string {
  const more = outputs.reduce<readonly string[]>(without, rest);
  return ['hack/node.sh', relative(root, program), ...more].join(' ');
}

function without(words: readonly string[], flag: string): readonly string[] {
  const at = words.indexOf(flag);
  return (at === -1 ? words : words.toSpliced(at, 2)).filter((word) => !word.startsWith(`${flag}=`));
}

/** Writes each array of plain values on one line, because there are many samples. */
export function jsonOf(record: BenchRecord): string {
  // A line break in this JSON is never inside a string.
  const short = JSON.stringify(record, null, indentation).replaceAll(
    /\[\n\s+([^[\]{}]*?)\n\s+\]/g,
    (_, items: string) => `[${items.replaceAll(/,\n\s+/g, ', ')}]`,
  );
  return `${short}\n`;
}

function machine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    // The rest of the release string shows who built the kernel.
    kernel: release().split('-', 1)[0] ?? '',
  };
}

function loadNow(): number {
  return loadavg()[0] ?? 0;
}

function commitNow(): string {
  const git = (...more: readonly string[]): string =>
    execFileSync('git', more, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const isDirty = git('status', '--porcelain', '--', ...measured) !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${isDirty ? '-dirty' : ''}`;
  } catch {
    // The project is not in a Git checkout.
    return 'unknown';
  }
}
