import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../../verification/simulation/chance.ts';
import type { Bed } from '../bed.ts';
import { type Container, drawVictim, type Victim } from './victim.ts';

/** Between two kills. */
const shortestMilliseconds = 5000;
const longestMilliseconds = 30_000;

/** Sends SIGKILL to one process after the other until it is stopped. Controllers are started again at once. */
export class Killer {
  readonly #bed: Bed;
  readonly #containers: () => readonly Omit<Container, 'kind'>[];
  readonly #chance: Chance;
  readonly #stopping = new AbortController();
  readonly #counts = new Map<string, number>();
  readonly #onKill: (line: string) => void;
  #running: Promise<void> = Promise.resolve();

  /** @param containers that may be killed now */
  constructor(
    bed: Bed,
    containers: () => readonly Omit<Container, 'kind'>[],
    chance: Chance,
    onKill: (line: string) => void,
  ) {
    this.#bed = bed;
    this.#containers = containers;
    this.#chance = chance;
    this.#onKill = onKill;
  }

  /** How often each kind of process was killed. */
  get counts(): readonly string[] {
    return [...this.#counts].map(([what, count]) => `${what} ${count} times`);
  }

  start(): void {
    this.#running = this.#kill();
  }

  /** Resolves once both controllers run. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #kill(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const milliseconds = this.#chance.between(shortestMilliseconds, longestMilliseconds);
      await delay(milliseconds, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#strike(drawVictim(this.#chance, this.#containers()));
    }
  }

  async #strike(victim: Victim): Promise<void> {
    const what = victim.kind === 'container' ? victim.container : victim.kind;
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    const place = victim.kind === 'container' ? ` of ${victim.namespace}/${victim.pod}` : '';
    this.#onKill(`  kills ${what}${place}`);
    switch (victim.kind) {
      case 'container':
        // It may end by itself at this moment.
        return this.#bed.containers.kill(victim.namespace, victim.pod, victim.container).catch(() => undefined);
      case 'moco-controller':
        return this.#bed.moco.killAndStart();
      case 'moco-rollout':
        return this.#bed.program.killAndStart();
    }
  }
}
