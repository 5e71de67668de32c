/** A candidate's monotonic clock beside the true one. */
export interface Drift {
  /** How many of its own milliseconds pass in one true millisecond. */
  readonly rate: number;
}

/** Of sums of fractions of milliseconds. */
const roundingMilliseconds = 1e-6;

/**
 * Who may start a write, by the true clock and by what the server has carried out: from the answer to a write of the
 * lease until the renew deadline, counted from that write's sending, has passed by the candidate's own clock; never
 * again once it has been told to end.
 */
export class LeaseModel {
  readonly #drifts: readonly Drift[];
  readonly #renewDeadlineMilliseconds: number;
  readonly #sureUntilMilliseconds: number[];
  readonly #reported: boolean[];

  constructor(drifts: readonly Drift[], renewDeadlineMilliseconds: number) {
    this.#drifts = drifts;
    this.#renewDeadlineMilliseconds = renewDeadlineMilliseconds;
    this.#sureUntilMilliseconds = drifts.map(() => Number.NEGATIVE_INFINITY);
    this.#reported = drifts.map(() => false);
  }

  /** It has read that the server has carried out what it sent at that time. */
  answered(who: number, sentAtMilliseconds: number): void {
    const { rate } = this.#drifts[who] as Drift;
    this.#sureUntilMilliseconds[who] = sentAtMilliseconds + this.#renewDeadlineMilliseconds / rate;
  }

  toldToEnd(who: number): void {
    this.#reported[who] = true;
  }

  mayLead(who: number, nowMilliseconds: number): boolean {
    const until = this.#sureUntilMilliseconds[who] as number;
    return !this.#reported[who] && nowMilliseconds < until + roundingMilliseconds;
  }
}
