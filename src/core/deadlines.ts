/**
 * Compares ages with limits and remembers which limit will be reached first. Every comparison of a decision goes
 * through here, so none can be forgotten when it is asked when to look again.
 */
export class Deadlines {
  #soonestSeconds = Number.POSITIVE_INFINITY;

  /** `ageSeconds` has reached `limitSeconds`. */
  reached(ageSeconds: number, limitSeconds: number): boolean {
    const left = limitSeconds - ageSeconds;
    if (left <= 0) return true;
    if (left < this.#soonestSeconds) this.#soonestSeconds = left;
    return false;
  }

  /** Seconds until the first limit that was asked about and not yet reached; `null` when time alone changes nothing. */
  get soonestSeconds(): number | null {
    return this.#soonestSeconds === Number.POSITIVE_INFINITY ? null : this.#soonestSeconds;
  }
}
