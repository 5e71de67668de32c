import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { events } from '../../../src/kube/resource.ts';
import type { Bed } from '../bed.ts';
import type { WriteGap } from '../load/write-gaps.ts';
import { now, type WriterKind } from '../load/write-load.ts';
import type { EventObject } from './alarms.ts';
import { type GapsByKind, kindsInWords } from './expectations.ts';
import { historyOf } from './history.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { type Entry, entriesOf, timelineOf, timeOf } from './timeline.ts';

const scrapeMilliseconds = 5000;
const containers = ['mysqld', 'agent'];

/**
 * Everything about one rollout that a person can read: every change, Event, gap and series, and the logs of all
 * programs.
 */
export class RunDirectory {
  readonly directory: string;
  readonly #bed: Bed;
  readonly #timer: ReturnType<typeof setInterval>;
  #metrics = '';

  private constructor(directory: string, bed: Bed) {
    this.directory = directory;
    this.#bed = bed;
    this.#timer = setInterval(() => void this.#scrape(), scrapeMilliseconds);
  }

  static async open(directory: string, bed: Bed): Promise<RunDirectory> {
    await mkdir(directory, { recursive: true });
    return new RunDirectory(directory, bed);
  }

  /** Writes what there is of a cluster by now, and ends. */
  async close(cluster: RealityCluster, gaps: GapsByKind): Promise<void> {
    clearInterval(this.#timer);
    await this.#scrape();
    const { changes, notes } = cluster;
    const told = await eventsOf(cluster);
    const entries = [...entriesOf(changes), ...notes, ...told.map(eventEntry), ...gapEntries(gaps)];
    await this.#write('timeline.log', timelineOf(entries));
    await this.#write('changes.jsonl', changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
    const history = { mysqld: this.#bed.mysql, chapters: historyOf(changes, notes) };
    await this.#write('history.json', `${JSON.stringify(history, null, 1)}\n`);
    await this.#write('events.json', `${JSON.stringify(told, null, 1)}\n`);
    await this.#write('moco-rollout.log', await this.#bed.program.logs());
    await this.#write('moco-controller.log', await this.#bed.moco.logs());
    for (const { metadata } of cluster.pods) {
      for (const container of containers) {
        const flags = ['--namespace', cluster.namespace, metadata.name, `--container=${container}`];
        const log = await this.#bed.cluster.kubectl('logs', ...flags).catch((error: unknown) => `${String(error)}\n`);
        await this.#write(`${metadata.name}.${container}.log`, log);
      }
    }
  }

  async writeResult(result: unknown): Promise<void> {
    await this.#write('result.json', `${JSON.stringify(result, null, 1)}\n`);
  }

  async #scrape(): Promise<void> {
    const metrics = await this.#bed.program.metrics();
    const lines = changedSeries(this.#metrics, metrics).map((line) => `${timeOf(now())}  ${line}\n`);
    this.#metrics = metrics;
    await appendFile(join(this.directory, 'metrics.log'), lines.join(''));
  }

  async #write(name: string, text: string): Promise<void> {
    await writeFile(join(this.directory, name), text);
  }
}

export async function eventsOf({ bed, namespace }: RealityCluster): Promise<readonly EventObject[]> {
  const { items } = await bed.client.list<{ items: readonly EventObject[] }>(events, { namespace });
  return items;
}

function eventEntry({ metadata, eventTime, type, reason, note, regarding }: EventObject): Entry {
  return {
    atMilliseconds: Date.parse(eventTime ?? metadata.creationTimestamp ?? ''),
    what: `Event ${regarding?.name ?? ''}`,
    text: `${type} ${reason}: ${note}`,
  };
}

function gapEntries(gaps: GapsByKind): readonly Entry[] {
  return (Object.keys(gaps) as WriterKind[]).flatMap((kind) =>
    gaps[kind].map(({ fromMilliseconds, milliseconds }: WriteGap) => ({
      atMilliseconds: fromMilliseconds,
      what: 'load',
      text: `${kindsInWords[kind]}: no write for ${Math.round(milliseconds)} ms`,
    })),
  );
}

/** Of this program, without the parts of histograms: their sums and counts say enough. */
const isTelling = (line: string): boolean =>
  line.startsWith('moco_rollout_') && !/_bucket\{|^moco_rollout_cache_age/.test(line);

/** The lines of a scrape, in Prometheus' text format, that the one before did not have with that value. */
export function changedSeries(before: string, after: string): readonly string[] {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => isTelling(line) && !known.has(line));
}
