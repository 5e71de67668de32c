import type { StepRecord } from '../witness/step-log.ts';

interface Cost {
  count: number;
  withoutEndpoint: number;
  longestSeconds: number;
  readonly effects: Map<string, number>;
}

/** By the verb of a step: how often it was, its effects, and for how long the primary's Service had no endpoint. */
export class DeedCosts {
  readonly #costs = new Map<StepRecord['verb'], Cost>();

  add({ verb, effects, secondsWithoutPrimaryEndpoint: seconds }: StepRecord): void {
    const cost = this.#costs.get(verb) ?? { count: 0, withoutEndpoint: 0, longestSeconds: 0, effects: new Map() };
    this.#costs.set(verb, cost);
    cost.count += 1;
    cost.withoutEndpoint += seconds > 0 ? 1 : 0;
    cost.longestSeconds = Math.max(cost.longestSeconds, seconds);
    for (const effect of effects) cost.effects.set(effect, (cost.effects.get(effect) ?? 0) + 1);
  }

  get lines(): readonly string[] {
    return [...this.#costs].map(([verb, { count, withoutEndpoint, longestSeconds, effects }]) => {
      const shown = [...effects].map(([effect, times]) => `${effect} ${times}`).join(', ') || 'no effect';
      const outage = `no endpoint of the primary after ${withoutEndpoint}, for ${longestSeconds.toFixed(1)} s at most`;
      return `${String(count).padStart(6)}  ${verb}: ${shown}; ${outage}`;
    });
  }
}
