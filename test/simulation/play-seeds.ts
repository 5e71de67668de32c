import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Played } from './play.ts';

export interface SeedsOptions {
  /** The first seed; the others follow it. */
  readonly from: number;
  /** How many threads play beside each other. */
  readonly jobs: number;
  readonly onPlayed: (played: Played) => void;
  /** Whether no further seed is to be begun. Those that have been begun are told of all the same. */
  readonly isEnough: () => boolean;
}

/** Plays seed after seed. What one comes to depends on nothing but itself, on whichever thread it is played. */
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
