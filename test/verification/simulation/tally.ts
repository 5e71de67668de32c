import { allStrikes, type Fault, faults, type Strike } from './faults.ts';
import type { Outcome } from './run.ts';
import { isFailure } from './shrink.ts';
import { type Situation, situations } from './situations.ts';

/** The results of many runs. */
export class Tally {
  rollouts = 0;
  steps = 0;
  violations = 0;
  stuck = 0;
  races = 0;
  disruptions = 0;
  needless = 0;
  failures = 0;
  longestWindowMilliseconds = 0;
  simulatedMilliseconds = 0;
  /** Histories in which another client took a member while it was held. */
  runsWithLosses = 0;
  lost = 0;
  kept = 0;
  /** Created before the program could act. */
  tooLate = 0;
  restored = 0;
  /** Histories. */
  runs = 0;
  readonly situations: Partial<Record<Situation, number>> = {};
  readonly strikes: Partial<Record<Strike, number>> = {};

  /** `null`: the simulation itself broke. */
  add(outcome: Outcome | null): void {
    this.failures += outcome === null || isFailure(outcome) ? 1 : 0;
    if (outcome === null) return;
    this.runs += 1;
    for (const found of outcome.situations) this.situations[found] = (this.situations[found] ?? 0) + 1;
    this.rollouts += outcome.rollouts;
    this.steps += outcome.steps;
    this.violations += outcome.violations.length;
    this.stuck += outcome.stuck === null ? 0 : 1;
    this.races += outcome.races.length;
    this.disruptions += outcome.measures.disruptions;
    this.needless += outcome.measures.needless;
    this.simulatedMilliseconds += outcome.simulatedMilliseconds;
    this.#addLosses(outcome);
    for (const strike of allStrikes()) {
      this.strikes[strike] = (this.strikes[strike] ?? 0) + (outcome.strikes[strike] ?? 0);
    }
    const windows = outcome.races.map(({ windowMilliseconds }) => windowMilliseconds);
    this.longestWindowMilliseconds = Math.max(this.longestWindowMilliseconds, ...windows);
  }

  #addLosses({ lost, restored }: Outcome): void {
    this.runsWithLosses += lost.length > 0 ? 1 : 0;
    this.lost += lost.length;
    this.kept += lost.filter(({ outcome }) => outcome === 'kept').length;
    this.tooLate += lost.filter(({ outcome }) => outcome === 'late').length;
    this.restored += restored;
  }

  get lossLine(): string {
    return `${this.runsWithLosses} histories in which ${this.lost} members were lost while held: ${this.kept} kept their revision, ${this.tooLate} were created too soon; ${this.restored} were given it back`;
  }

  /** Hours of the simulated clock for each second of this machine's. */
  hoursPerSecond(wallSeconds: number): number {
    return this.simulatedMilliseconds / 3_600_000 / wallSeconds;
  }

  /** Faults that have not struck in any of them. */
  get unstruck(): readonly Fault[] {
    return (Object.keys(faults) as Fault[]).filter((fault) => (this.strikes[fault] ?? 0) === 0);
  }

  /** Situations that none of them contained. */
  get missing(): readonly Situation[] {
    return (Object.keys(situations) as Situation[]).filter((situation) => (this.situations[situation] ?? 0) === 0);
  }

  /** In how many histories each situation was. */
  get situationLines(): readonly string[] {
    const lines = Object.entries(situations).map(
      ([situation, sentence]) => `${String(this.situations[situation as Situation] ?? 0).padStart(6)}  ${sentence}`,
    );
    return [`of ${this.runs} histories so many contain:`, ...lines];
  }

  get closingLine(): string {
    return `${this.rollouts} rollouts, ${this.steps} steps, ${this.violations} violations`;
  }
}
