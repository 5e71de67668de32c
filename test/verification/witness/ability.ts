interface Span {
  readonly from: number;
  readonly until: number;
}

/** A process that leads again has lists to read and an earlier step to settle. */
const beginsWithinMilliseconds = 10_000;

/**
 * When the program could act: one of its processes led, was connected and not frozen, and its watches delivered. Whoever
 * plays it knows that; the objects don't show it.
 */
export class Ability {
  readonly #impediments: Span[] = [];
  /** Nobody leads. */
  #awaySince: number | null = 0;

  /** Something keeps the program from seeing or writing, from a time to another. */
  impede(from: number, until: number): void {
    this.#impediments.push({ from, until });
  }

  /** A process leads and runs from now on, or none does any more. */
  leads(isLeading: boolean, nowMilliseconds: number): void {
    if (!isLeading) this.#awaySince ??= nowMilliseconds;
    else if (this.#awaySince !== null) {
      this.impede(this.#awaySince, nowMilliseconds + beginsWithinMilliseconds);
      this.#awaySince = null;
    }
  }

  /** Whether it could act all the time between the two. */
  isGiven(from: number, until: number): boolean {
    const isAway = this.#awaySince !== null && this.#awaySince < until;
    return !isAway && !this.#impediments.some((one) => one.from < until && one.until > from);
  }
}
