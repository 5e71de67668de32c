import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Played } from './play.ts';

export interface SeedsOptions {
  /** The seeds, as `drawNamed` reads them. Playing ends with the last one. */
  readonly seeds: Iterator<string>;
  /** How many threads play beside each other. */
  readonly jobs: number;
  readonly onPlayed: (played: Played) => void;
  /** Whether to start no further seed. Started ones are still reported. */
  readonly isEnough: () => boolean;
}

/** The numbers from `first` on, as seeds. */
export function* seedsFrom(first: number): Generator<string, never, undefined> {
  for (let seed = first; ; seed += 1) yield String(seed);
}

/** Plays seed after seed. The result of a seed depends only on the seed, not on the thread. */
export async function playSeeds({ seeds, jobs, onPlayed, isEnough }: SeedsOptions): Promise<void> {
  const playOn = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      while (!isEnough()) {
        const { value: seed, done } = seeds.next();
        if (done) break;
        worker.postMessage(seed);
        const [played] = (await once(worker, 'message')) as [Played];
        onPlayed(played);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: jobs }, playOn));
}
