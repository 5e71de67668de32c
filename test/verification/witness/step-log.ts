import type { Disruption } from './disruption.ts';
import type { Moment } from './moment.ts';
import { type ObservedEffect, ObservedEffects, undeclared } from './observed-effects.ts';

/** A step ends with the next one, or after so long. */
const longestMilliseconds = 600_000;

interface Entry {
  readonly step: Disruption;
  readonly effects: ObservedEffects;
  /** What the program said of it; `null` if it says nothing. */
  readonly declared: readonly string[] | null;
}

/** The steps of the program in one cluster, each with its effects. */
export class StepLog {
  readonly #entries: Entry[] = [];

  /** `window`: every moment since the confirmation began. */
  begin(step: Disruption, window: readonly Moment[]): void {
    const { pods = [], effects } = window.at(-1)?.settings?.status?.intent ?? {};
    const isOfIt = pods.some(({ uid }) => uid === step.uid);
    this.#entries.push({
      step,
      effects: new ObservedEffects(step, window),
      declared: isOfIt && effects !== undefined ? effects : null,
    });
  }

  /** A sentence for each effect that a step has and was not declared with. */
  observe(moment: Moment): readonly string[] {
    const running = this.#entries.filter(
      ({ step }) => moment.atMilliseconds - step.atMilliseconds < longestMilliseconds,
    );
    return running.flatMap(({ step: { verb, ordinal, actor }, effects, declared }) => {
      const shown = effects.observe(moment);
      return declared === null
        ? []
        : undeclared(shown, declared).map(
            (effect) => `${verb} ${ordinal} by ${actor}: ${effect}, which was not declared`,
          );
    });
  }

  get effects(): readonly ObservedEffect[] {
    return this.#entries.flatMap(({ effects }) => effects.found);
  }
}
