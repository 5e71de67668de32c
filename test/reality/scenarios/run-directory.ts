import { appendFile, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { events, path } from '../../../src/kube/resource.ts';
import type { WriteGap } from '../load/write-gaps.ts';
import { now } from '../load/write-load.ts';
import type { EventObject } from './alarms.ts';
import { changedSeries } from './changed-series.ts';
import { historyOf } from './history.ts';
import type { Program } from './program.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { type Entry, entriesOf, timelineOf, timeOf } from './timeline.ts';

const scrapeMilliseconds = 5000;
const containers = ['mysqld', 'agent'];

/** What a person can read of one rollout: every change, Event, gap and series, and everybody's log. */
export class RunDirectory {
  readonly directory: string;
  readonly #program: Program;
  readonly #timer: ReturnType<typeof setInterval>;
  #metrics = '';

  private constructor(directory: string, program: Program) {
    this.directory = directory;
    this.#program = program;
    this.#timer = setInterval(() => void this.#scrape(), scrapeMilliseconds);
  }

  static async open(directory: string, program: Program): Promise<RunDirectory> {
    await mkdir(directory, { recursive: true });
    return new RunDirectory(directory, program);
  }

  /** Writes what there is of a cluster by now, and ends. */
  async close(cluster: RealityCluster, gaps: readonly WriteGap[]): Promise<void> {
    clearInterval(this.#timer);
    await this.#scrape();
    const { changes, notes } = cluster;
    const told = await eventsOf(cluster);
    const entries = [...entriesOf(changes), ...notes, ...told.map(eventEntry), ...gaps.map(gapEntry)];
    await this.#write('timeline.log', timelineOf(entries));
    await this.#write('changes.jsonl', changes.map((change) => `${JSON.stringify(change)}\n`).join(''));
    const history = { mysqld: cluster.bed.mysql, chapters: historyOf(changes, notes) };
    await this.#write('history.json', `${JSON.stringify(history, null, 1)}\n`);
    await this.#write('events.json', `${JSON.stringify(told, null, 1)}\n`);
    await this.#write('moco-rollout.log', this.#program.logs.join('--- killed and started again ---\n'));
    await this.#copy(cluster.bed.moco.logFile, 'moco-controller.log');
    for (const { ordinal } of cluster.sight.members) {
      for (const container of containers) {
        const pod = cluster.podName(ordinal);
        await this.#copy(cluster.bed.containerLog(cluster.namespace, pod, container), `${pod}.${container}.log`);
      }
    }
  }

  async writeResult(result: unknown): Promise<void> {
    await this.#write('result.json', `${JSON.stringify(result, null, 1)}\n`);
  }

  async #scrape(): Promise<void> {
    const metrics = await this.#program.metrics();
    const lines = changedSeries(this.#metrics, metrics).map((line) => `${timeOf(now())}  ${line}\n`);
    this.#metrics = metrics;
    await appendFile(join(this.directory, 'metrics.log'), lines.join(''));
  }

  async #write(name: string, text: string): Promise<void> {
    await writeFile(join(this.directory, name), text);
  }

  /** A pod may be gone, and its logs with it. */
  async #copy(file: string, name: string): Promise<void> {
    await copyFile(file, join(this.directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

export async function eventsOf({ bed, namespace }: RealityCluster): Promise<readonly EventObject[]> {
  const list = await bed.client.call<{ items: readonly EventObject[] }>({
    method: 'GET',
    path: path(events, { namespace }),
    priority: 'read',
  });
  return list.items;
}

function eventEntry({ metadata, eventTime, type, reason, note, regarding }: EventObject): Entry {
  return {
    atMilliseconds: Date.parse(eventTime ?? metadata.creationTimestamp ?? ''),
    what: `Event ${regarding?.name ?? ''}`,
    text: `${type} ${reason}: ${note}`,
  };
}

function gapEntry({ fromMilliseconds, milliseconds }: WriteGap): Entry {
  return { atMilliseconds: fromMilliseconds, what: 'load', text: `no write for ${Math.round(milliseconds)} ms` };
}
