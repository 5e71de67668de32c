import { expect } from 'chai';
import type { Decide } from './decisions.ts';
import { progressOf } from './progress.ts';
import { situationCounts } from './situations.ts';
import { changes, tell } from './story.ts';
import { type Measured, measured, summaryOf } from './summary.ts';
import type { World } from './world.ts';

/** The worlds that a test file explores, and what they have reached together. Make one outside of tests. */
export class Explored {
  readonly #decide: Decide | undefined;
  readonly #situations = new Map<string, number>();
  #processorSeconds = 0;

  constructor(decide?: Decide) {
    this.#decide = decide;
    after(() => console.log(`    ${this.#processorSeconds.toFixed(0)} seconds of processor time in all`));
  }

  /** In how many states a situation was reached. */
  reached(situation: string): number {
    return this.#situations.get(situation) ?? 0;
  }

  /** Explores a world as far as so many states; says what it found, and a counterexample as a story. */
  keepsInvariants(world: World, states: number): Measured {
    const result = measured(world, { states }, this.#decide === undefined ? {} : { decide: this.#decide });
    this.#processorSeconds += result.seconds;
    console.log(`      ${summaryOf(world, result)}`);
    for (const [situation, count] of Object.entries(situationCounts(result.exploration))) {
      this.#situations.set(situation, this.reached(situation) + count);
    }
    const { counterexample } = result.findings;
    expect(counterexample === null ? [] : tell(counterexample)).to.deep.equal([]);
    return result;
  }

  /** Explores a world to its end, where it ends or rests. Returns the states in which it rests. */
  advances(world: World): ReadonlyMap<string, number> {
    const { exploration, findings } = this.keepsInvariants(world, Number.POSITIVE_INFINITY);
    expect(findings.finished).to.equal(true);
    const { cycle, stuck, sinks } = progressOf(exploration);
    const path = cycle ?? stuck?.path ?? [];
    expect(path.slice(1).map((cells, at) => changes(path[at] as (typeof path)[number], cells))).to.deep.equal([]);
    return sinks;
  }
}
