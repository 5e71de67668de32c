import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Say } from '../../../hack/program/progress.ts';
import { roughly } from '../../../hack/program/progress.ts';
import { inWords } from './expectations.ts';
import { type Played, play } from './play.ts';
import type { Surroundings } from './reality-cluster.ts';
import type { Turn } from './turns.ts';

export interface PlayingOptions {
  readonly surroundings: Surroundings;
  /** Has a directory for each turn. */
  readonly folder: string;
  readonly say: Say;
  readonly signal: AbortSignal;
  readonly onPlayed: (played: Played) => Promise<void>;
  /** A turn that came to no end that could be judged. */
  readonly onFailure: (sentence: string) => void;
}

/** Plays turns, a few at a time. */
export class Playing {
  readonly #options: PlayingOptions;

  constructor(options: PlayingOptions) {
    this.#options = options;
  }

  /** So many at a time, each as soon as there is room; then those that have to be alone. */
  async inTurn(turns: readonly Turn[], atATime: number): Promise<void> {
    const queue = new PQueue({ concurrency: atATime });
    await queue.addAll(turns.filter(({ scenario }) => !scenario.isAlone).map((turn) => () => this.#play(turn)));
    for (const turn of turns.filter(({ scenario }) => scenario.isAlone)) {
      await this.#play(turn);
      if (!this.#options.signal.aborted) await this.#options.surroundings.bed.restore();
    }
  }

  async #play({ scenario, name }: Turn): Promise<void> {
    const { surroundings, folder, say, signal, onPlayed, onFailure } = this.#options;
    if (signal.aborted) return;
    say(`${scenario.title} ...`);
    try {
      const played = await play(surroundings, scenario, name, join(folder, name));
      say(lineOf(played));
      await onPlayed(played);
    } catch (error) {
      const sentence = `${scenario.title}: ${error instanceof Error ? error.message : String(error)}`;
      say(`  ${sentence}`);
      onFailure(sentence);
    }
  }
}

function lineOf({ title, seconds, gaps, lost, complaints }: Played): string {
  const verdict = complaints.length === 0 ? 'passed' : `failed: ${complaints.join('; ')}`;
  return `  ${title}: ${roughly(seconds * 1000)}, write gaps (${inWords(gaps)}), ${lost} rows lost, ${verdict}`;
}
