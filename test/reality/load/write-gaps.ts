/** A time in which no write was acknowledged, whichever writer's of a kind. */
export interface WriteGap {
  /** Of the last acknowledgement before it. */
  readonly fromMilliseconds: number;
  readonly milliseconds: number;
}

/** Shorter pauses come from the machine: writers share its processors with the servers. */
export const shortestGapMilliseconds = 250;

/** Collects the times of acknowledgements, of all writers together, and remembers the gaps between them. */
export class WriteGaps {
  readonly #gaps: WriteGap[] = [];
  #latest: number;

  /** Writing begins at that time. */
  constructor(beganMilliseconds: number) {
    this.#latest = beganMilliseconds;
  }

  acknowledged(atMilliseconds: number): void {
    this.#gaps.push(...this.#gapUntil(atMilliseconds));
    this.#latest = Math.max(this.#latest, atMilliseconds);
  }

  /** The gaps up to that time, one that has not ended included. */
  until(atMilliseconds: number): readonly WriteGap[] {
    return [...this.#gaps, ...this.#gapUntil(atMilliseconds)];
  }

  #gapUntil(atMilliseconds: number): readonly WriteGap[] {
    const milliseconds = atMilliseconds - this.#latest;
    return milliseconds > shortestGapMilliseconds ? [{ fromMilliseconds: this.#latest, milliseconds }] : [];
  }
}
