import { parentPort } from 'node:worker_threads';
import { play } from './play.ts';

/** A thread that plays the seeds that it is sent, one at a time, and sends back what came of each. */
parentPort?.on('message', (seed: string) => {
  void play(seed).then((played) => parentPort?.postMessage(played));
});
