import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Played } from './play.ts';

export interface SeedsOptions {
  /** The first seed; the others follow it. */
  readonly from: number;
  /** How many threads play beside each other. */
  readonly jobs: number;
  readonly onPlayed: (played: Played) => void;
  /** Whether to start no further seed. Started ones are still reported. */
  readonly isEnough: () => boolean;
}

/** Plays seed after seed. The result of a seed depends only on the seed, not on the thread. */
export async function playSeeds({ from, jobs, onPlayed, isEnough }: SeedsOptions): Promise<void> {
  let next = from;
  const playOn = async (): Promise<void> => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url));
    try {
      while (!isEnough()) {
        worker.postMessage(String(next++));
        const [played] = (await once(worker, 'message')) as [Played];
        onPlayed(played);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: jobs }, playOn));
}
