import { parentPort } from 'node:worker_threads';
import { play } from './play.ts';

/** A thread that plays the received seeds, one at a time, and sends back the results. */
parentPort?.on('message', (seed: string) => {
  void play(seed).then((played) => parentPort?.postMessage(played));
});
