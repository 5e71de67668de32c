import { join } from 'node:path';
import PQueue from 'p-queue';
import type { Say } from '../../../hack/program/progress.ts';
import { roughly } from '../../../hack/program/progress.ts';
import { inWords } from './expectations.ts';
import { type Played, type Prepared, play, prepare } from './play.ts';
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
    const one = async (turn: Turn): Promise<void> => {
      const prepared = await this.#prepare(turn);
      if (prepared !== null) await this.#play(prepared);
    };
    const queue = new PQueue({ concurrency: atATime });
    await queue.addAll(turns.filter(({ scenario }) => !scenario.isAlone).map((turn) => () => one(turn)));
    for (const turn of turns.filter(({ scenario }) => scenario.isAlone)) {
      await one(turn);
      if (!this.#options.signal.aborted) await this.#options.surroundings.bed.restore();
    }
  }

  /** `null`: there is nothing to be played. */
  async #prepare({ scenario, name }: Turn): Promise<Prepared | null> {
    const { surroundings, folder, say, signal } = this.#options;
    if (signal.aborted) return null;
    say(`${scenario.title} ...`);
    return prepare(surroundings, scenario, name, join(folder, name)).catch((error: unknown) => {
      this.#fail(scenario.title, error);
      return null;
    });
  }

  async #play(prepared: Prepared): Promise<void> {
    const { say, onPlayed } = this.#options;
    try {
      const played = await play(prepared);
      say(lineOf(played));
      await onPlayed(played);
    } catch (error) {
      this.#fail(prepared.scenario.title, error);
    }
  }

  #fail(title: string, error: unknown): void {
    const sentence = `${title}: ${error instanceof Error ? error.message : String(error)}`;
    this.#options.say(`  ${sentence}`);
    this.#options.onFailure(sentence);
  }
}

function lineOf({ title, seconds, gaps, lost, complaints }: Played): string {
  const verdict = complaints.length === 0 ? 'passed' : `failed: ${complaints.join('; ')}`;
  return `  ${title}: ${roughly(seconds * 1000)}, write gaps (${inWords(gaps)}), ${lost} rows lost, ${verdict}`;
}
